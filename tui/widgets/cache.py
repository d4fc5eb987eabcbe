"""The cache pane: what each turn read from the provider's cache, wrote to it and paid in full."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from rich.text import Text
from textual.message import Message

from tui import format
from tui.look import Look, columns, spread
from tui.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.state import TaskState, TurnUsage

LABEL = 7
NUMBER = 7
STILL_READ = 0.8
"""Share of what was cached that is read while nothing broke; providers round down."""


class CachePane(Pane):
    TITLE = "CACHE"

    class Opened(Message):
        """A person wants to know more."""

    def head(self, width: int) -> Text:
        rate = self.state.hit_rate if self.state else None
        if rate is None:
            return Text()
        return Text(f"hit {rate * 100:.0f} %", style=self.look.roles.ok if rate >= 0.5 else self.look.roles.muted)

    def action_open(self) -> None:
        """What was sent, and why the cache broke."""
        self.post_message(self.Opened())

    def body(self, width: int) -> list[Text]:
        return cache_lines(self.state, width, self.look)


def cache_lines(state: TaskState | None, width: int, look: Look) -> list[Text]:
    """Three rows of bars, one column a turn and one scale for all, a row that marks where the cache broke, then money
    saved and time to the first token."""
    if state is None or not state.turns:
        return [Text(" no answer yet", style=look.roles.muted)]
    turns, room = state.turns, max(0, width - LABEL - NUMBER - 2)
    top = max(max(t.read, t.write, t.new) for t in turns[-room:] or turns[-1:])
    rows = (
        ("read", [t.read for t in turns], look.roles.ok),
        ("write", [t.write for t in turns], look.roles.tool),
        ("new", [t.new for t in turns], look.roles.warn),
    )
    lines = [
        spread(
            Text.assemble((f" {name:<{LABEL}}", look.roles.muted), (columns(values, room, top, look), style)),
            Text(format.count(values[-1])),
            width,
        )
        for name, values, style in rows
    ]
    breaks = marks(turns[-room:] if room else (), look)
    if breaks.plain.strip():
        lines.append(Text.assemble((f" {'broke':<{LABEL}}", look.roles.muted), breaks))
    saved = Text.assemble((" saved  ", look.roles.muted), format.cost(state.saved, state.unpriced))
    first = Text.assemble(("first token ", look.roles.muted), format.duration(turns[-1].first_token))
    return [*lines, spread(saved, first, width)]


def marks(turns: Sequence[TurnUsage], look: Look) -> Text:
    """A sign under each turn that read clearly less than the one before it had in the cache."""
    line = Text(" ")
    for before, now in pairwise(turns):
        held = before.read + before.write
        # Where writing costs nothing it is not reported, so that what was new counts as kept.
        held += 0 if before.write else before.new
        broke = now.read < held * STILL_READ
        line.append(look.signs.failed if broke else " ", look.roles.danger)
    return line
