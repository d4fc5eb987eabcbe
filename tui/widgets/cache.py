"""The cache pane: what each turn read from the provider's cache, wrote to it and paid in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tui import format
from tui.look import Look, columns, spread
from tui.widgets.pane import Pane

if TYPE_CHECKING:
    from engine.state import TaskState

LABEL = 7
NUMBER = 7


class CachePane(Pane):
    TITLE = "CACHE"

    def head(self, width: int) -> Text:
        rate = self.state.hit_rate if self.state else None
        if rate is None:
            return Text()
        return Text(f"hit {rate * 100:.0f} %", style=self.look.roles.ok if rate >= 0.5 else self.look.roles.muted)

    def body(self, width: int) -> list[Text]:
        return cache_lines(self.state, width, self.look)


def cache_lines(state: TaskState | None, width: int, look: Look) -> list[Text]:
    """Three rows of bars, one column a turn and one scale for all, then money saved and time to the first token."""
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
    saved = Text.assemble((" saved  ", look.roles.muted), format.cost(state.saved, state.unpriced))
    first = Text.assemble(("first token ", look.roles.muted), format.duration(turns[-1].first_token))
    return [*lines, spread(saved, first, width)]
