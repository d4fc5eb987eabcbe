"""The strip above the composer: steers and follow-ups that wait, and the steer that has just been delivered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text
from textual.widget import Widget

from tui.actions import BY_NAME, key_name
from tui.format import plural
from tui.look import Look, one_line, spread

if TYPE_CHECKING:
    from engine.events import Event
    from engine.hands import Pending
    from engine.state import TaskState

MOST = 4
ROOMY = 100


@dataclass(frozen=True, slots=True)
class Delivered:
    """A steer that entered the conversation and goes out with ``turn``."""

    text: str
    turn: int


class Deliveries:
    """What the strip knows of a session, from events: a steer is shown until the turn it was sent with was answered."""

    def __init__(self) -> None:
        self.delivered: tuple[Delivered, ...] = ()
        self._turn = 0

    def feed(self, events: Iterable[Event]) -> None:
        """Follow what was delivered."""
        for event in events:
            if event.type == "turn_started":
                self._turn = event.turn
            elif event.type == "user_message" and event.kind == "steer":
                self.delivered += (Delivered(event.text, self._turn + 1),)
            elif event.type == "assistant_message":
                self.delivered = tuple(d for d in self.delivered if d.turn > event.turn)
            elif event.type == "run_finished":
                self.delivered = ()


class QueueStrip(Widget):
    """Takes no line while nothing waits. ``notes``: what it knows of the session that is shown."""

    def __init__(self, look: Look, *, id: str = "queue") -> None:
        super().__init__(id=id)
        self.look = look
        self.state: TaskState | None = None
        self.notes = Deliveries()

    def show(self, state: TaskState) -> None:
        """Take the newest task state."""
        before = self._lines()
        self.state = state
        after = self._lines()
        self.set_class(bool(after), "-some")
        if before or after:
            self.refresh(layout=len(before) != len(after))

    def dress(self, look: Look) -> None:
        self.look = look
        self.refresh()

    async def on_click(self) -> None:
        """To where it can be edited."""
        await self.run_action(BY_NAME["queue"].click)

    def _lines(self) -> list[Text]:
        return queue_lines(self.state, self.notes.delivered, self.size.width or 80, self.look)

    def render(self) -> Text:
        return Text("\n", no_wrap=True).join(self._lines())


def _counts(pending: tuple[Pending, ...]) -> str:
    """How many wait of each kind."""
    steers = sum(item.kind == "steer" for item in pending)
    counts = ((steers, "steer"), (len(pending) - steers, "follow-up"))
    return f"{' and '.join(plural(n, word) for n, word in counts if n)} wait"


def _keys(width: int) -> str:
    """What can be done with what waits, in the words there is room for."""
    back, queue = (key_name(BY_NAME[name].shown[0]) for name in ("take_back", "queue"))
    return f"{back} takes it back  {queue} shows all" if width >= ROOMY else f"{back} back  {queue} all"


def queue_lines(state: TaskState | None, delivered: tuple[Delivered, ...], width: int, look: Look) -> list[Text]:
    """A line each, at most four; what does not fit is counted."""
    roles = look.roles
    rows = [(f"{'steer:':<7}", d.text, f"{look.signs.done} sent at turn {d.turn}") for d in delivered]
    pending = state.pending if state else ()
    for item in pending:
        steer = item.kind == "steer"
        when = "after this tool" if steer else "after this run"
        last = f"  {_keys(width)}" if item is pending[-1] else ""
        rows.append((f"{'steer:' if steer else 'next:':<7}", item.text, when + last))
    if len(rows) > MOST:
        rows = [("", _counts(pending), ""), *rows[-(MOST - 1) :]]
    return [
        spread(
            Text.assemble((f" {label}", roles.you), one_line(text)),
            Text(f"{note} " if note else "", style=roles.muted),
            width,
            look.signs.ellipsis,
        )
        for label, text, note in rows
    ]
