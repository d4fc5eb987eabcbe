"""The tools pane: what runs and for how long, what ran, and how often each tool was used."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text
from textual.timer import Timer

from tui import format
from tui.look import Look, one_line, spread
from tui.widgets.pane import Pane

if TYPE_CHECKING:
    from engine.events import Event

REMEMBERED = 60
NAMED = 12


@dataclass(frozen=True, slots=True)
class Running:
    name: str
    title: str
    since: float


@dataclass(frozen=True, slots=True)
class Past:
    """A call with its outcome; status as in the tool result."""

    name: str
    title: str
    status: str
    summary: str
    seconds: float


class ToolsLog:
    """What the pane knows of a session, from events."""

    def __init__(self) -> None:
        self.running: dict[str, Running] = {}
        self.past: deque[Past] = deque(maxlen=REMEMBERED)
        self.counts: dict[str, tuple[int, float]] = {}

    def feed(self, events: Iterable[Event]) -> None:
        """Take events that arrive now."""
        now = monotonic()
        for event in events:
            self.take(event, now)

    def take(self, event: Event, now: float) -> None:
        """Take one event that arrived at ``now``, in monotonic time."""
        if event.type == "tool_started":
            self.running[event.call_id] = Running(event.name, event.title, now)
        elif event.type == "tool_result":
            started = self.running.pop(event.call_id, None)
            title = started.title if started else ""
            self.past.append(Past(event.name, title, event.status, event.summary or event.error, event.seconds))
            count, seconds = self.counts.get(event.name, (0, 0.0))
            self.counts[event.name] = (count + 1, seconds + event.seconds)
        elif event.type == "run_finished":
            self.running.clear()


class ToolsPane(Pane):
    """Ticks once a second while a call runs and the pane can be seen; never otherwise. ``notes``: what it knows of
    the session that is shown."""

    TITLE = "TOOLS"

    def __init__(self, look: Look, *, id: str) -> None:
        super().__init__(look, id=id)
        self.notes = ToolsLog()
        self._tick: Timer | None = None

    def head(self, width: int) -> Text:
        calls = self.state.calls if self.state else 0
        return Text(format.plural(calls, "call") if calls else "", style=self.look.roles.muted)

    def body(self, width: int) -> list[Text]:
        return tool_lines(self.notes, monotonic(), width, self.look)

    def redraw(self) -> None:
        super().redraw()
        wanted = bool(self.notes.running) and self.is_on_screen
        if wanted and self._tick is None:
            self._tick = self.set_interval(1.0, self.redraw)
        elif not wanted and self._tick is not None:
            self._tick.stop()
            self._tick = None

    def on_show(self) -> None:
        self.redraw()


STATUS = {
    "ok": ("done", "ok"),
    "error": ("failed", "danger"),
    "denied": ("failed", "warn"),
    "cancelled": ("paused", "warn"),
    "skipped": ("todo", "muted"),
}


def tool_lines(log: ToolsLog, now: float, width: int, look: Look) -> list[Text]:
    """Running calls, then past ones with the newest first, then a count and the time of each tool."""
    lines = [_running(call, now, width, look) for call in log.running.values()]
    lines += [_past(call, width, look) for call in reversed(log.past)]
    if not lines:
        return [Text(" no call yet", style=look.roles.muted)]
    lines += [Text(), Text(" by tool", style=look.roles.muted)]
    for name, (count, seconds) in sorted(log.counts.items(), key=lambda item: (-item[1][0], item[0])):
        left = Text.assemble((f" {one_line(name):<{NAMED}}", look.roles.tool), f"{count:>4}")
        lines.append(spread(left, Text(format.duration(seconds), style=look.roles.muted), width))
    return lines


def _running(call: Running, now: float, width: int, look: Look) -> Text:
    left = Text.assemble((f" {look.signs.running} ", look.roles.tool), _called(call.name, call.title, look))
    return spread(left, Text(_elapsed(now - call.since), style=look.roles.tool), width, look.signs.ellipsis)


def _past(call: Past, width: int, look: Look) -> Text:
    sign, role = STATUS.get(call.status, ("todo", "muted"))
    style: Style = getattr(look.roles, role)
    left = Text.assemble((f" {getattr(look.signs, sign)} ", style), _called(call.name, call.title, look))
    took = format.duration(call.seconds) if call.status in ("ok", "error") else call.status
    return spread(left, Text(took, style=look.roles.muted), width, look.signs.ellipsis)


def _called(name: str, title: str, look: Look) -> Text:
    return Text.assemble(f"{one_line(name):<{NAMED}} ", (one_line(title), look.roles.muted))


def _elapsed(seconds: float) -> str:
    """Whole seconds: a running time that showed tenths would move for no reason."""
    return f"{int(seconds)} s" if seconds < 100 else format.duration(seconds)
