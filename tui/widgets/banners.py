"""Lines a person must not miss, above the composer: nothing is saved, nothing is contained, no real model, a retry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Literal

from rich.text import Text
from textual.timer import Timer
from textual.widget import Widget

from tui import format
from tui.look import Look, clip, one_line

if TYPE_CHECKING:
    from engine.events import LogHealth
    from engine.state import Retry, TaskState

OFFLINE = "script/offline"
Level = Literal["info", "warn", "danger"]
ORDER: dict[str, int] = {"danger": 0, "warn": 1, "info": 2}


@dataclass(frozen=True, slots=True)
class Facts:
    """What the banners are made of. ``retry_at``: monotonic time of the next try. ``stopping``: quitting under way.
    ``unread``: events of a session that is being opened, still to be read."""

    saving: bool = True
    save_error: str = ""
    skipped: int = 0
    sandbox_works: bool = True
    sandbox_why: str = ""
    offline: bool = False
    failed: str = ""
    retry: Retry | None = None
    retry_at: float = 0.0
    stopping: bool = False
    unread: int = 0


def banner_lines(facts: Facts, now: float) -> list[tuple[Level, str]]:
    """What to say, the worst first."""
    lines: list[tuple[Level, str]] = []
    if facts.failed:
        lines.append(("danger", f"The engine stopped: {facts.failed}. Ctrl+Q, then agent-tui --continue."))
    if not facts.saving:
        lines.append(("danger", f"Nothing is being saved: {facts.save_error or 'the log cannot be written'}."))
    if not facts.sandbox_works:
        why = f" ({facts.sandbox_why})" if facts.sandbox_why else ""
        lines.append(("warn", f"No sandbox here{why}: every command asks first."))
    if facts.retry:
        left = max(0, round(facts.retry_at - now))
        lines.append(("warn", f"{facts.retry.error}. Try {facts.retry.attempt + 1} in {left} s."))
    if facts.skipped:
        lines.append(("warn", f"{format.plural(facts.skipped, 'stored row')} could not be read and was skipped."))
    if facts.unread:
        count = format.plural(facts.unread, "more event")
        lines.append(("info", f"Reading {count} of this session. What you type is sent when it is open."))
    if facts.offline:
        lines.append(("info", "No model is connected: an offline script answers. /setup shows how to connect one."))
    if facts.stopping:
        lines.append(("info", "Stopping safely. Ctrl+Q again leaves at once."))
    return sorted(lines, key=lambda line: ORDER[line[0]])


class Banners(Widget):
    """A timer runs only while a retry is being waited for."""

    def __init__(self, look: Look, *, id: str = "banners") -> None:
        super().__init__(id=id)
        self.look = look
        self.facts = Facts()
        self._tick: Timer | None = None

    def show(self, state: TaskState) -> None:
        """Take the newest task state."""
        retry = state.retry
        at = monotonic() + retry.wait if retry and retry != self.facts.retry else self.facts.retry_at
        self.know(replace(self.facts, retry=retry, retry_at=at, offline=state.model == OFFLINE))

    def health(self, event: LogHealth) -> None:
        """The log can or cannot be written."""
        skipped = event.skipped or self.facts.skipped
        self.know(replace(self.facts, saving=event.saving, save_error=one_line(event.error), skipped=skipped))

    def skipped(self, count: int) -> None:
        """Another session was opened; ``count`` of its rows could not be read."""
        self.know(replace(self.facts, skipped=count))

    def reading(self, unread: int) -> None:
        """A long session is being opened; ``unread`` of its events are still to come."""
        self.know(replace(self.facts, unread=unread))

    def stopping(self) -> None:
        """A person is leaving; the engine is being closed."""
        self.know(replace(self.facts, stopping=True))

    def sandbox(self, works: bool, why: str) -> None:
        """What the machine can enforce."""
        self.know(replace(self.facts, sandbox_works=works, sandbox_why=one_line(why).rstrip(".")))

    def fail(self, error: str) -> None:
        """The engine is gone."""
        self.know(replace(self.facts, failed=one_line(error).rstrip(".")))

    def know(self, facts: Facts) -> None:
        """Take other facts; drawn only when they differ."""
        if facts == self.facts:
            return
        self.facts = facts
        self._draw()
        if facts.retry and self._tick is None:
            self._tick = self.set_interval(1.0, self._draw)
        elif not facts.retry and self._tick is not None:
            self._tick.stop()
            self._tick = None

    def dress(self, look: Look) -> None:
        self.look = look
        self.refresh()

    def _draw(self) -> None:
        self.set_class(bool(banner_lines(self.facts, monotonic())), "-some")
        self.refresh(layout=True)

    def render(self) -> Text:
        width, roles, signs = self.size.width, self.look.roles, self.look.signs
        styles = {"danger": roles.danger, "warn": roles.warn, "info": roles.muted}
        marks = {"danger": signs.failed, "warn": signs.risk, "info": signs.todo}
        rows = [
            clip(Text(f" {marks[level]} {one_line(text)}", style=styles[level]), width, signs.ellipsis)
            for level, text in banner_lines(self.facts, monotonic())
        ]
        return Text("\n", no_wrap=True).join(rows)
