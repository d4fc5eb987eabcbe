"""The approvals pane: what waits for a person, and what was decided last."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text
from textual.message import Message

from tui.actions import BY_NAME, key_name
from tui.asking import waits_for_you
from tui.look import Look, one_line, spread
from tui.widgets.pane import Pane

if TYPE_CHECKING:
    from engine.events import Event
    from engine.state import TaskState

REMEMBERED = 4
CHOICES = {"once": "once", "session": "this session", "rule": "always", "deny": "denied", "edit": "edited"}


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a request; ``by`` is person, timeout, interrupt or close."""

    title: str
    choice: str
    by: str


class Decisions:
    """What the pane knows of a session, from events: what was asked, and the last decisions."""

    def __init__(self) -> None:
        self._asked: dict[str, str] = {}
        self.last: deque[Decided] = deque(maxlen=REMEMBERED)

    def feed(self, events: Iterable[Event]) -> None:
        """Note what was asked and decided."""
        for event in events:
            if event.type == "approval_requested":
                self._asked[event.id] = f"{event.tool} {event.subject}"
            elif event.type == "approval_decided":
                self.last.append(Decided(self._asked.pop(event.id, ""), event.choice, event.by))


class ApprovalsPane(Pane):
    """``notes``: what it knows of the session that is shown."""

    TITLE = "APPROVALS"

    class Answer(Message):
        """A person wants to see what waits."""

    def __init__(self, look: Look, *, id: str) -> None:
        super().__init__(look, id=id)
        self.notes = Decisions()

    def head(self, width: int) -> Text:
        waits = waits_for_you(self.state) if self.state else 0
        if not waits:
            return Text()
        return Text(f"{self.look.signs.waits} {waits} {'waits' if waits == 1 else 'wait'}", style=self.look.roles.warn)

    def body(self, width: int) -> list[Text]:
        return approval_lines(self.state, tuple(self.notes.last), width, self.look)

    def action_open(self) -> None:
        self.post_message(self.Answer())


RISKS: dict[str, str] = {"low": "ok", "medium": "warn", "high": "danger"}
BY: dict[str, str] = {"timeout": "no answer", "interrupt": "interrupted", "close": "closed"}


def approval_lines(state: TaskState | None, decided: tuple[Decided, ...], width: int, look: Look) -> list[Text]:
    """A line for each request that waits, the oldest first, then the last decisions, the newest first."""
    waiting = state.waiting if state else ()
    lines = []
    for item in waiting:
        risk: Style = getattr(look.roles, RISKS.get(item.risk, "accent"))
        title = f"{item.tool} {item.title}" if item.tool else f"asks: {item.title}"
        left = Text.assemble((f" {look.signs.waits} ", look.roles.warn), one_line(title))
        mark = f"{look.signs.risk} {item.risk}" if item.risk == "high" else item.risk
        lines.append(spread(left, Text(mark, style=risk), width, look.signs.ellipsis))
    if state is not None and state.plan is not None:
        left = Text.assemble((f" {look.signs.waits} ", look.roles.warn), "a plan to decide about")
        key = key_name(BY_NAME["plan"].shown[0]) if BY_NAME["plan"].shown else ""
        lines.append(spread(left, Text(key, style=look.roles.accent), width, look.signs.ellipsis))
    for past in reversed(decided):
        sign, style = (
            (look.signs.failed, look.roles.warn) if past.choice == "deny" else (look.signs.done, look.roles.ok)
        )
        left = Text.assemble((f" {sign} ", style), (one_line(past.title), look.roles.muted))
        word = BY.get(past.by, CHOICES.get(past.choice, past.choice))
        lines.append(spread(left, Text(word, style=look.roles.muted), width, look.signs.ellipsis))
    return lines or [Text(" nothing waits for you", style=look.roles.muted)]
