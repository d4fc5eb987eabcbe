"""What lies on the workbench for one session: its transcript, what is being typed, and what the panes know of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tui.arranging import Arranging
from tui.widgets.approvals import Decisions
from tui.widgets.queue import Deliveries
from tui.widgets.todo import TodoNotes
from tui.widgets.tools import ToolsLog

if TYPE_CHECKING:
    from engine.events import AnyEvent
    from tui.link import Link
    from tui.session_tabs import Tab

LATE = 500
"""Events that may wait for a transcript out of sight: so few that to show it takes no time."""


class Sheet:
    """Follows its session, shown or not. Out of sight the transcript is given its events in large portions, which
    costs next to nothing; nothing is laid out.

    ``arranging``: what waits to be said there. ``composer`` and ``transcript`` are widgets of this session alone, so
    that a draft, a place of reading and an undo are where they were left. ``own_runs``: whether a command of the
    person's own is running. ``unread``: rows of a long session that are still to be read. ``say`` passes on a word.
    """

    def __init__(self, tab: Tab, composer: Any, link: Link, say: Callable[..., None]) -> None:
        self.tab = tab
        self.composer = composer
        self.arranging = Arranging(partial(link.send_to, tab))
        self._say = say
        self.transcript: Any = None
        self.own_runs = False
        self.skipped = self.unread = 0
        self.taking_back: dict[str, str] = {}
        self.todo = TodoNotes()
        self._late: list[AnyEvent] = []
        self._forget()
        self.display(True)

    def _forget(self) -> None:
        self.tools, self.decisions, self.deliveries = ToolsLog(), Decisions(), Deliveries()
        self.todo.by = ""

    def begin(self, skipped: int) -> None:
        """Another session from here on; its past follows. What is being typed stays."""
        self._forget()
        self._late.clear()
        self.arranging.clear()
        self.own_runs, self.skipped, self.unread = False, skipped, 0
        if self.transcript is not None:
            self.transcript.clear()

    def come(self, end: Sequence[AnyEvent], rows: int) -> None:
        """Another session is being opened, one of many rows: its end, to look at meanwhile."""
        self.begin(0)
        self.unread = rows
        self._late += end
        if self.shown:
            self.catch_up()

    def remember(self, events: Sequence[Any]) -> None:
        """More of its past, from the beginning on."""
        if self.transcript is not None:
            self.transcript.feed_past(events)
        self._note(events)
        self.unread = max(1, self.unread - len(events))

    def arrive(self, skipped: int) -> None:
        """All of it was read: the session is open."""
        self.skipped, self.unread = skipped, 0
        self.catch_up()
        if self.transcript is not None:
            self.transcript.join_past()

    def tell(self, events: Sequence[AnyEvent]) -> None:
        """Take events in order, those of the past included."""
        self._late += events
        if self.shown or len(self._late) >= LATE:
            self.catch_up()
        # What is streamed and shown once concerns the transcript alone, but for what a call says while it runs.
        self.tools.feed([event for event in events if event.type == "tool_progress"])
        stored: list[Any] = [event for event in events if getattr(event, "seq", 0)]
        self._note(stored)
        for event in events:
            self._follow(event)
        for text in self.arranging.too_late(stored):
            self.give_back(text)
            self._say("It had gone out before your change of it; what you wrote is in the composer.", warn=True)

    def _note(self, stored: Sequence[Any]) -> None:
        for notes in (self.tools, self.decisions, self.deliveries, self.todo):
            notes.feed(stored)

    def _follow(self, event: Any) -> None:
        if event.type == "tool_progress":
            self.own_runs = self.own_runs or bool(event.title)
        elif event.type == "person_ran":
            self.own_runs = False
        elif event.type == "message_withdrawn" and event.id in self.taking_back:
            self.give_back(self.taking_back.pop(event.id))
            if self.shown:
                self.composer.focus()
        elif event.type == "user_message":
            self.taking_back.pop(event.id, None)

    def give_back(self, text: str) -> None:
        """A text of the person's that was not delivered comes before what they have written meanwhile."""
        written = getattr(self.composer, "text", "")
        self.composer.set_text(f"{text}\n{written}" if written.strip() else text)

    def catch_up(self) -> None:
        """Give the transcript what it has not been given."""
        if self.transcript is not None and self._late:
            self.transcript.feed(self._late)
            self._late = []

    def display(self, shown: bool) -> None:
        """Come into sight, or go out of it."""
        self.shown = shown
        self.composer.set_class(shown, "-shown")
        for part in (self.composer, self.transcript):
            if part is not None:
                part.display = shown
        if shown:
            self.catch_up()

    def put_away(self) -> None:
        """The session is closed."""
        for part in (self.composer, self.transcript):
            if part is not None:
                part.remove()
