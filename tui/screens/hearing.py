"""What the engine says goes to the sheet of its session, and to the panes when that is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tui.screens.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.screen import Screen

    from engine.events import AnyEvent
    from engine.state import TaskState
    from tui.host import Host
    from tui.link import Told
    from tui.session_tabs import Tab
    from tui.widgets.approvals import ApprovalsPane
    from tui.widgets.banners import Banners
    from tui.widgets.header import Header
    from tui.widgets.queue import QueueStrip
    from tui.widgets.session_strip import SessionStrip
    from tui.widgets.tabs import TabStrip
    from tui.widgets.todo import TodoPane
    from tui.widgets.tools import ToolsPane

    Base = Screen[None]
else:
    Base = object


_NEW_STATE = frozenset({"state_changed", "session_opened"})


class Hearing(Base):
    """Mixed into the workbench screen, which provides the widgets."""

    bench: Host
    sheet: Sheet
    sheets: dict[Tab, Sheet]
    tab: str
    tabs: TabStrip
    strip: SessionStrip
    header: Header
    banners: Banners
    queue: QueueStrip
    todo_pane: TodoPane
    approvals_pane: ApprovalsPane
    tools_pane: ToolsPane

    if TYPE_CHECKING:

        @property
        def narrow(self) -> bool: ...
        @property
        def transcript(self) -> Any: ...
        def follow_tabs(self) -> None: ...
        def situate(self) -> None: ...
        def _show(self, state: TaskState) -> None: ...
        def _focus_name(self) -> str: ...
        def _focus_composer(self) -> None: ...

    def feed(self, told: Sequence[Told]) -> None:
        """Take a batch of events; the last state in it is what the panes show."""
        self.follow_tabs()
        parts: dict[Sheet, list[AnyEvent]] = {}
        for tab, event in told:
            if event.type == "log_health":
                self.banners.health(event)
            elif event.type == "engine_failed":
                self.banners.fail(event.error)
            elif (sheet := self.sheets.get(tab) if tab else None) is not None:
                parts.setdefault(sheet, []).append(event)
        for sheet, events in parts.items():
            self._feed(sheet, events)
        self.strip.follow(self.bench.link.tabs)
        if any(sheet is not self.sheet for sheet in parts):
            self.situate()

    def _feed(self, sheet: Sheet, events: list[AnyEvent]) -> None:
        news: list[AnyEvent] = []
        # What is streamed changes no state: then there is nothing to draw but the transcript.
        state = sheet.tab.state if any(event.type in _NEW_STATE for event in events) else None
        for event in events:
            if event.type in ("session_coming", "past_read", "session_opened"):
                self._take_over(sheet, event)
                news = list(event.events) if event.type == "session_opened" else []
            elif event.type == "open_failed":
                sheet.unread = 0
                news.append(_refusal(event.error))
                self.banners.reading(self.sheet.unread)
                shown = self.header.state or self._starting()
                if sheet is self.sheet and shown.stage == "starting":
                    self._show(replace(shown, stage="not open"))
            elif event.type != "state_changed":
                news.append(event)
        if news:
            sheet.tell(news)
        if state is not None:
            sheet.arranging.follow(state)
        if sheet is self.sheet:
            if any(event.type == "tool_progress" for event in news):
                self.tools_pane.stream()
            self.tabs.badge("transcript", self.transcript.unseen if self.tab != "transcript" and self.narrow else 0)
            if state is not None:
                self._show(state)

    def _take_over(self, sheet: Sheet, event: Any) -> None:
        """Another session from here on, at once or, when it is long, from its end on."""
        if event.type == "session_coming":
            sheet.come(event.events, event.rows)
        elif event.type == "past_read":
            sheet.remember(event.events)
        elif sheet.unread:
            sheet.arrive(event.skipped)
        else:
            sheet.begin(event.skipped)
        if sheet is self.sheet:
            self._take_notes()
            if event.type == "session_coming":
                self._show(replace(self._starting(), title=event.title))

    def _take_notes(self) -> None:
        """Have the panes show what is known of the session that is shown."""
        sheet = self.sheet
        self.todo_pane.notes, self.approvals_pane.notes = sheet.todo, sheet.decisions
        self.tools_pane.notes, self.queue.notes = sheet.tools, sheet.deliveries
        self.banners.skipped(sheet.skipped)
        self.banners.reading(sheet.unread)

    def lay(self, sheet: Sheet) -> None:
        before, self.sheet = self.sheet, sheet
        sheet.display(True)
        before.display(False)
        self._take_notes()
        self._show(sheet.tab.state or self._starting())
        self.strip.follow(self.bench.link.tabs)
        self.bench.attention.show(sheet.tab.session)
        if self._focus_name() == "":
            # What had the focus is out of sight.
            self._focus_composer()

    def _starting(self) -> TaskState:
        """What is known of a session before the engine has opened it."""
        from engine.state import TaskState

        options = self.bench.options
        return TaskState(stage="starting", cwd=str(options.cwd), model=options.model, approve=options.approve or "ask")


def _refusal(error: str) -> AnyEvent:
    """That a session could not be opened, as a note in the transcript: long enough to say what to do."""
    from engine.events import Notice

    hint = "Ctrl+N starts a new session, Ctrl+O lists those there are. What you type goes to the next one you open."
    return Notice(level="danger", text=error, hint=hint)
