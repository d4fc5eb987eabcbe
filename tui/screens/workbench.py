"""The workbench: where a task is given, watched and steered. Thin: widgets show, the app talks to the engine."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen

from engine.commands import Compact, EditTodo, RefreshPrompt, SendMessage, TakeBack, UndoCompaction
from tui import slots
from tui.actions import Situation, bindings
from tui.arranging import Arranging
from tui.screens.midrun_actions import MidrunActions
from tui.screens.reading import Reading
from tui.screens.session_actions import SessionActions
from tui.widgets.approvals import ApprovalsPane
from tui.widgets.banners import Banners
from tui.widgets.cache import CachePane
from tui.widgets.header import Header
from tui.widgets.keys import KeysLine
from tui.widgets.queue import QueueStrip
from tui.widgets.tabs import TABS, TabStrip
from tui.widgets.task import TaskPane
from tui.widgets.todo import TodoPane
from tui.widgets.tools import ToolsPane

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from engine.events import AnyEvent
    from engine.state import TaskState
    from tui.app import WorkbenchApp
    from tui.look import Look

SIDE_TABS = ("task", "todo", "cache", "approvals")


class Workbench(SessionActions, MidrunActions, Reading, Screen[None]):
    BINDINGS: ClassVar[list[BindingType]] = bindings("screen")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (160, "-full")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (10, "-low"), (34, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = "#composer-slot *"

    def __init__(self, app: WorkbenchApp) -> None:
        super().__init__(id="workbench", classes=_fitting(shutil.get_terminal_size()))
        look, options = app.look, app.options
        self.header = Header(look, options.cwd, model=options.model, approve=options.approve)
        self.tabs = TabStrip(look)
        self.transcript: Any = None
        self.composer: Any = slots.composer(app.ask)
        self.task_pane, self.cache_pane = TaskPane(look, id="task"), CachePane(look, id="cache")
        self.todo_pane, self.approvals_pane = TodoPane(look, id="todo"), ApprovalsPane(look, id="approvals")
        self.tools_pane = ToolsPane(look, id="tools")
        self.queue, self.banners, self.keys = QueueStrip(look), Banners(look), KeysLine(look)
        self.tab = TABS[0]
        self.arranging = Arranging(app.link.send)
        self._taking_back: dict[str, str] = {}
        self._own_runs = False

    def compose(self) -> ComposeResult:
        yield self.header
        yield self.tabs
        with Horizontal(id="body"):
            yield Vertical(id="transcript-slot")
            with Vertical(id="side"):
                yield self.task_pane
                yield self.todo_pane
                yield self.cache_pane
                yield self.approvals_pane
            yield self.tools_pane
        yield self.banners
        yield self.queue
        with Vertical(id="composer-slot", classes="-focused"):
            yield self.composer
        yield self.keys

    async def fill(self) -> None:
        """After the first frame: the transcript, imported beside the keys being typed."""
        transcript = await asyncio.to_thread(slots.transcript)
        self.transcript = transcript(signs=self.bench.look.signs, id="transcript")
        await self.query_one("#transcript-slot").mount(self.transcript)

    @property
    def bench(self) -> WorkbenchApp:  # type: ignore[override]
        """The app, by its own type."""
        return cast("WorkbenchApp", self.app)

    @property
    def narrow(self) -> bool:
        return self.has_class("-narrow")

    # --- what comes from the engine ----------------------------------------------------------------------------------

    def feed(self, events: Sequence[AnyEvent]) -> None:
        """Take a batch of events; the last state in it is what the panes show."""
        told: list[AnyEvent] = []
        state: TaskState | None = None
        for event in events:
            if event.type == "session_opened":
                self._open(event)
                told, state = list(event.events), event.state
            elif event.type == "state_changed":
                state = event.state
            elif event.type == "log_health":
                self.banners.health(event)
            elif event.type == "engine_failed":
                self.banners.fail(event.error)
            elif event.type == "open_failed":
                told.append(_refusal(event.error))
            else:
                told.append(event)
        if told:
            self._tell(told)
        if state is not None:
            self._show(state)

    def _open(self, event: Any) -> None:
        """Another session from here on; its past follows."""
        self.transcript.clear()
        self.arranging.clear()
        self._own_runs = False
        for pane in (self.todo_pane, self.approvals_pane, self.tools_pane, self.queue):
            pane.clear()
        self.banners.skipped(event.skipped)

    def _tell(self, events: list[AnyEvent]) -> None:
        self.transcript.feed(events)
        for event in events:
            if event.type == "tool_progress" and event.title:
                self._own_runs = True
            elif event.type == "person_ran":
                self._own_runs = False
        # What is streamed and shown once concerns the transcript alone.
        stored: list[Any] = [event for event in events if getattr(event, "seq", 0)]
        if stored:
            for pane in (self.todo_pane, self.approvals_pane, self.tools_pane, self.queue):
                pane.feed(stored)
            self._give_back(stored)
            self._give_back_what_came_too_late(stored)
        self.tabs.badge("transcript", self.transcript.unseen if self.tab != "transcript" and self.narrow else 0)

    def _show(self, state: TaskState) -> None:
        for part in (self.header, self.tabs, self.task_pane, self.todo_pane, self.cache_pane, self.approvals_pane,
                     self.tools_pane, self.queue, self.banners):  # fmt: skip
            part.show(state)
        self.arranging.follow(state)
        self.composer.running = state.running
        self.situate()

    def dress(self, look: Look) -> None:
        """The theme changed."""
        for part in (self.header, self.tabs, self.task_pane, self.todo_pane, self.cache_pane, self.approvals_pane,
                     self.tools_pane, self.queue, self.banners, self.keys):  # fmt: skip
            part.dress(look)

    async def survey(self) -> None:
        """Say so when commands cannot be contained on this machine."""
        from engine.queries import Survey

        found = await self.bench.try_ask(Survey())
        if found is not None:
            self.banners.sandbox(found.sandbox_works, found.sandbox_why)

    # --- where the person is -----------------------------------------------------------------------------------------

    def situate(self) -> None:
        """Tell the last line what can be done now."""
        state = self.bench.link.state
        self.keys.know(
            Situation(
                running=bool(state and state.running),
                focus=self._focus_name(),
                pending=len(state.pending) if state else 0,
                waiting=len(state.waiting) if state else 0,
                narrow=self.narrow,
                editing=self.todo_pane.editing,
                paused=bool(state and state.paused),
                plan=bool(state and state.plan),
            )
        )

    def _focus_name(self) -> str:
        if self.focused is None:
            return ""
        for node in self.focused.ancestors_with_self:
            if node is self.composer:
                return "composer"
            if node.id in TABS:
                return str(node.id)
        return ""

    def on_descendant_focus(self) -> None:
        self.query_one("#composer-slot").set_class(self._focus_name() == "composer", "-focused")
        self.situate()

    def on_descendant_blur(self) -> None:
        self.situate()

    def action_tab(self, name: str) -> None:
        """Show a pane (narrow) and go to it."""
        changed = name != self.tab
        for tab in TABS:
            self.set_class(tab == name, f"-tab-{tab}")
        self.set_class(name in SIDE_TABS, "-side")
        self.tab = name
        self.tabs.activate(name)
        self.tabs.badge("transcript", 0)
        if name == "transcript" and changed and self.narrow:
            self.composer.focus()
        else:
            self.call_after_refresh(self._pane(name).focus)

    def _pane(self, name: str) -> Any:
        panes = {"transcript": self.transcript or self.composer, "task": self.task_pane, "todo": self.todo_pane.list,
                 "cache": self.cache_pane, "approvals": self.approvals_pane, "tools": self.tools_pane}  # fmt: skip
        return panes[name]

    def action_next_pane(self) -> None:
        self.focus_next()

    def action_compose(self) -> None:
        self.composer.focus()

    # --- what the person says ----------------------------------------------------------------------------------------

    def on_composer_submitted(self, message: Any) -> None:
        text, kind = message.text, message.kind
        if self.run_own(text):
            return
        self.bench.link.send(lambda session: SendMessage(session, text, kind))

    def on_composer_take_back(self) -> None:
        self.action_take_back()

    def on_composer_slash(self, message: Any) -> None:
        self.bench.run_slash(message.command, message.argument)

    def on_transcript_wants_artifact(self, message: Any) -> None:
        """Someone unfolded a call whose output is longer than what its event holds."""

        from engine.queries import ReadArtifact

        async def read() -> None:
            page = await self.bench.try_ask(ReadArtifact(message.digest))
            if page is not None:
                message.transcript.show_artifact(message.seq, page.error or page.text)

        self.run_worker(read(), group="artifact")

    def on_todo_pane_changed(self, message: TodoPane.Changed) -> None:
        text = message.text
        self.bench.link.send(lambda session: EditTodo(session, text))

    def on_cache_pane_opened(self) -> None:
        self.action_inspector()

    def on_approvals_pane_answer(self) -> None:
        self.action_answer()

    def action_take_back(self) -> None:
        """Withdraw the newest message that waits; its text comes back once the engine says it was not delivered."""
        waiting = [p for p in self.arranging.items if p.id not in self._taking_back]
        if waiting:
            newest = waiting[-1]
            self._taking_back[newest.id] = newest.text
            self.bench.link.send(lambda session: TakeBack(session, newest.id))

    def _give_back(self, events: list[Any]) -> None:
        for event in events:
            if event.type == "message_withdrawn" and event.id in self._taking_back:
                self.give_back(self._taking_back.pop(event.id))
                self.composer.focus()
            elif event.type == "user_message":
                self._taking_back.pop(event.id, None)

    def action_compact(self, focus: str = "") -> None:
        """Now, with a focus or without; ``auto`` and ``off`` say whether it happens by itself."""
        if focus in ("auto", "off"):
            self.change("compaction", focus)
            return
        self.bench.link.send(lambda session: Compact(session, focus))

    def action_uncompact(self) -> None:
        self.bench.link.send(UndoCompaction)

    def action_refresh_prompt(self) -> None:
        self.bench.link.send(RefreshPrompt)

    async def action_edit_todo(self) -> None:
        self.action_tab("todo")
        await self.todo_pane.action_edit()

    def action_answer(self) -> None:
        self.bench.answer()


def _refusal(error: str) -> AnyEvent:
    """That a session could not be opened, as a note in the transcript: long enough to say what to do."""
    from engine.events import Notice

    hint = "Ctrl+N starts a new session, Ctrl+O lists those there are. What you type goes to the next one you open."
    return Notice(level="danger", text=error, hint=hint)


def _fitting(size: os.terminal_size) -> str:
    """The classes Textual would find by the breakpoints after the first layout, so that there need be no second one."""
    pairs = ((size.columns, Workbench.HORIZONTAL_BREAKPOINTS), (size.lines, Workbench.VERTICAL_BREAKPOINTS))
    return " ".join([name for least, name in points if cells >= least][-1] for cells, points in pairs)
