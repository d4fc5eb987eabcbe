"""The tools pane: what runs and for how long, what ran, and how often each tool was used."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from rich.style import Style
from rich.text import Text
from textual.timer import Timer

from tui import format
from tui.look import Look, clip, one_line, spread
from tui.widgets.pane import Pane

if TYPE_CHECKING:
    from engine.events import AnyEvent, AssistantMessage

REMEMBERED = 60
NAMED = 12
TAIL_LINES = 3
TAIL_KEPT = 4_000
"""Characters of a running call's output that are kept for its last lines."""
REST = 0.25
"""Seconds between two drawings of what streams."""
OWN = "you"
"""Who runs a command that is a person's own."""


@dataclass(frozen=True, slots=True)
class Running:
    """``since``: when it began or went on. ``asks``: the id of the request it waits for. ``tail``: its last output."""

    name: str
    title: str
    since: float
    asks: str = ""
    tail: str = ""


@dataclass(frozen=True, slots=True)
class Past:
    """A call with its outcome; status as in the tool result."""

    name: str
    title: str
    status: str
    seconds: float


class ToolsLog:
    """What the pane knows of a session, from events. ``queue``: calls the model made that have not begun, in order."""

    def __init__(self) -> None:
        self.queue: dict[str, tuple[str, str]] = {}
        self.running: dict[str, Running] = {}
        self.past: deque[Past] = deque(maxlen=REMEMBERED)
        self.counts: dict[str, tuple[int, float]] = {}

    def feed(self, events: Iterable[AnyEvent]) -> None:
        """Take events that arrive now."""
        now = monotonic()
        for event in events:
            self.take(event, now)

    def take(self, event: AnyEvent, now: float) -> None:
        """Take one event that arrived at ``now``, in monotonic time."""
        if event.type == "assistant_message":
            self._queue(event)
        elif event.type == "tool_started":
            self.queue.pop(event.call_id, None)
            self.running[event.call_id] = Running(event.name, event.title, now)
        elif event.type == "tool_progress":
            self._progress(event.call_id, event.text, event.title, now)
        elif event.type in ("approval_requested", "question_asked"):
            self._ask(event.call_id, event.id, now)
        elif event.type in ("approval_decided", "question_answered"):
            for id in [id for id, call in self.running.items() if call.asks == event.id]:
                self._change(id, asks="", since=now)
        elif event.type == "tool_result":
            _, title = self.queue.pop(event.call_id, ("", ""))
            started = self.running.pop(event.call_id, None)
            title = started.title if started else title
            self._end(Past(event.name, title, event.status, event.seconds))
        elif event.type == "person_ran":
            self.running = {id: call for id, call in self.running.items() if call.name != OWN}
            self._end(Past(OWN, event.command, event.status, event.seconds))
        elif event.type in ("run_started", "run_finished"):
            self.queue.clear()
            self.running.clear()

    def _queue(self, message: AssistantMessage) -> None:
        # The first frame has no call to name.
        from tui.transcript.kinds import title_of

        self.queue.update({b.id: (b.name, title_of(b.input)) for b in message.blocks if b.kind == "tool_call"})

    def _ask(self, id: str, request: str, now: float) -> None:
        """A call waits for a person, begun or not."""
        if id in self.queue:
            self.running[id] = Running(*self.queue.pop(id), now)
        self._change(id, asks=request)

    def _progress(self, id: str, text: str, title: str, now: float) -> None:
        if id not in self.running and title:
            # A person's own command: no stored event says that it began.
            self.running[id] = Running(OWN, title, now)
        if id in self.running:
            self._change(id, tail=(self.running[id].tail + text)[-TAIL_KEPT:])

    def _change(self, id: str, **what: Any) -> None:
        if id in self.running:
            self.running[id] = replace(self.running[id], **what)

    def _end(self, past: Past) -> None:
        self.past.append(past)
        count, seconds = self.counts.get(past.name, (0, 0.0))
        self.counts[past.name] = (count + 1, seconds + past.seconds)


class ToolsPane(Pane):
    """Ticks once a second while a call runs and the pane can be seen; never otherwise. ``notes``: what it knows of
    the session that is shown."""

    TITLE = "TOOLS"

    def __init__(self, look: Look, *, id: str) -> None:
        super().__init__(look, id=id)
        self.notes = ToolsLog()
        self._tick: Timer | None = None
        self._soon: Timer | None = None
        self._drawn_at = 0.0

    def head(self, width: int) -> Text:
        calls = self.state.calls if self.state else 0
        return Text(format.plural(calls, "call") if calls else "", style=self.look.roles.muted)

    def body(self, width: int) -> list[Text]:
        return tool_lines(self.notes, monotonic(), width, self.look)

    def stream(self) -> None:
        """A running call has said something: drawn a few times a second."""
        if self._soon is None and self.is_on_screen:
            self._soon = self.set_timer(max(0.01, self._drawn_at + REST - monotonic()), self._stream)

    def _stream(self) -> None:
        self._soon = None
        self.redraw()

    def redraw(self) -> None:
        super().redraw()
        self._drawn_at = monotonic()
        wanted = any(not call.asks for call in self.notes.running.values()) and self.is_on_screen
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
    """Running calls with the end of what they say, those that come after them, then past ones with the newest first,
    then a count and the time of each tool."""
    lines = [line for call in log.running.values() for line in _running(call, now, width, look)]
    lines += [_queued(name, title, width, look) for name, title in log.queue.values()]
    lines += [_past(call, width, look) for call in reversed(log.past)]
    if not lines:
        return [Text(" no call yet", style=look.roles.muted)]
    if log.counts:
        lines += [Text(), Text(" by tool", style=look.roles.muted)]
    for name, (count, seconds) in sorted(log.counts.items(), key=lambda item: (-item[1][0], item[0])):
        left = Text.assemble((f" {one_line(name):<{NAMED}}", look.roles.tool), f"{count:>4}")
        lines.append(spread(left, Text(format.duration(seconds), style=look.roles.muted), width))
    return lines


def _running(call: Running, now: float, width: int, look: Look) -> list[Text]:
    sign, style = (look.signs.waits, look.roles.warn) if call.asks else (look.signs.running, look.roles.tool)
    left = Text.assemble((f" {sign} ", style), _called(call.name, call.title, look))
    right = Text("waits for you" if call.asks else _elapsed(now - call.since), style=style)
    return [spread(left, right, width, look.signs.ellipsis), *_tail(call.tail, width, look)]


def _tail(text: str, width: int, look: Look) -> list[Text]:
    """The last lines of what a call says, without what only a terminal understands."""
    if not text:
        return []
    from tui.transcript.neutral import plain_lines

    said = [line for line in plain_lines(text) if line.strip()][-TAIL_LINES:]
    return [clip(Text(f"   {one_line(line)}", style=look.roles.muted), width, look.signs.ellipsis) for line in said]


def _queued(name: str, title: str, width: int, look: Look) -> Text:
    left = Text.assemble((f" {look.signs.todo} ", look.roles.muted), _called(name, title, look))
    return spread(left, Text("comes next", style=look.roles.muted), width, look.signs.ellipsis)


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
