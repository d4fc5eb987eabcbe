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
from tui.keeping import Keeping
from tui.screens.hearing import Hearing
from tui.screens.midrun_actions import MidrunActions
from tui.screens.pane_actions import PaneActions
from tui.screens.reading import Reading
from tui.screens.said_actions import SaidActions
from tui.screens.session_actions import SessionActions
from tui.screens.sheet import Sheet
from tui.screens.tab_actions import TabActions
from tui.widgets.approvals import ApprovalsPane
from tui.widgets.banners import Banners
from tui.widgets.cache import CachePane
from tui.widgets.header import Header
from tui.widgets.keys import KeysLine
from tui.widgets.queue import QueueStrip
from tui.widgets.session_strip import SessionStrip
from tui.widgets.tabs import TABS, TabStrip
from tui.widgets.task import TaskPane
from tui.widgets.todo import TodoPane
from tui.widgets.tools import ToolsPane

if TYPE_CHECKING:
    import os

    from textual.app import ComposeResult
    from textual.widget import AwaitMount

    from engine.state import TaskState
    from tui.host import Host
    from tui.look import Look
    from tui.session_tabs import Tab

SIDE_TABS = ("task", "todo", "cache", "approvals")


class Workbench(SessionActions, Hearing, TabActions, MidrunActions, PaneActions, SaidActions, Reading, Screen[None]):
    BINDINGS: ClassVar[list[BindingType]] = bindings("screen")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (160, "-full")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (10, "-low"), (34, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = "#composer-slot > .-shown, #composer-slot > .-shown *"

    def __init__(self, app: Host) -> None:
        super().__init__(id="workbench", classes=_fitting(shutil.get_terminal_size()))
        look, options = app.look, app.options
        self.header = Header(look, options.cwd, model=options.model, approve=options.approve)
        self.tabs, self.strip = TabStrip(look), SessionStrip(look)
        self.sheet = Sheet(app.link.tabs.shown, slots.composer(app.ask), app.link, app.say)
        self.sheets = {self.sheet.tab: self.sheet}
        self.task_pane, self.cache_pane = TaskPane(look, id="task"), CachePane(look, id="cache")
        self.todo_pane, self.approvals_pane = TodoPane(look, id="todo"), ApprovalsPane(look, id="approvals")
        self.tools_pane = ToolsPane(look, id="tools")
        self.queue, self.banners, self.keys = QueueStrip(look), Banners(look), KeysLine(look)
        self.tab = TABS[0]
        self._transcript: type[Any] | None = None
        self.keeping = Keeping(lambda why: app.say(why, warn=True))
        self.recall_panes(app.home)

    def compose(self) -> ComposeResult:
        yield self.header
        yield self.strip
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
        self._transcript = await asyncio.to_thread(slots.transcript)
        for sheet in self.sheets.values():
            await self._mount_transcript(sheet)
        self.run_worker(self.recall_said(), group="said")

    def sheet_for(self, tab: Tab) -> AwaitMount:
        sheet = self.sheets[tab] = Sheet(tab, slots.composer(self.bench.ask), self.bench.link, self.bench.say)
        self.give_past(sheet.composer)
        sheet.display(False)
        if self._transcript is not None:
            self._mount_transcript(sheet)
        return self.query_one("#composer-slot").mount(sheet.composer)

    def _mount_transcript(self, sheet: Sheet) -> AwaitMount:
        assert self._transcript is not None
        sheet.transcript = self._transcript(signs=self.bench.look.signs, classes="transcript")
        sheet.display(sheet.shown)
        return self.query_one("#transcript-slot").mount(sheet.transcript)

    @property
    def composer(self) -> Any:
        """Where a person types to the session that is shown."""
        return self.sheet.composer

    @property
    def transcript(self) -> Any:
        """That of the session that is shown; None until after the first frame."""
        return self.sheet.transcript

    @property
    def bench(self) -> Host:  # type: ignore[override]
        """The app, by its own type."""
        return cast("Host", self.app)

    @property
    def narrow(self) -> bool:
        return self.has_class("-narrow")

    # --- what is seen ------------------------------------------------------------------------------------------------

    def _show(self, state: TaskState) -> None:
        self.bench.mode = state.approve
        for part in (self.header, self.tabs, self.task_pane, self.todo_pane, self.cache_pane, self.approvals_pane,
                     self.tools_pane, self.queue, self.banners):  # fmt: skip
            part.show(state)
        self.composer.running = state.running
        self.situate()

    def _focus_composer(self) -> None:
        """At once: the next key is meant for it."""
        composer = self.composer
        self.set_focus(next((node for node in composer.walk_children(with_self=True) if node.focusable), None))

    def dress(self, look: Look) -> None:
        """The theme changed."""
        for part in (self.header, self.tabs, self.task_pane, self.todo_pane, self.cache_pane, self.approvals_pane,
                     self.tools_pane, self.queue, self.banners, self.keys, self.strip):  # fmt: skip
            part.dress(look)

    async def survey(self) -> None:
        """Say so when commands cannot be contained on this machine."""
        from engine.queries import Survey

        found = await self.bench.try_ask(Survey())
        if found is not None:
            self.banners.sandbox(found.sandbox_works, found.sandbox_why)

    # --- where the person is -----------------------------------------------------------------------------------------

    def on_screen_suspend(self) -> None:
        """A dialog says its own keys: those of the workbench do nothing below it."""
        self.keys.visible = False

    def on_screen_resume(self) -> None:
        self.keys.visible = True

    def situate(self) -> None:
        """Tell the last line what can be done now."""
        tabs, state = self.bench.link.tabs, self.bench.link.state
        self.keys.know(
            Situation(
                running=bool(state and state.running),
                focus=self._focus_name(),
                pending=len(state.pending) if state else 0,
                waiting=len(state.waiting) if state else 0,
                elsewhere=sum(t.waiting for t in tabs.all if t is not tabs.shown),
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
            if node is self.transcript:
                return "transcript"
            if node.id in TABS:
                return str(node.id)
        return ""

    def on_descendant_focus(self) -> None:
        self.query_one("#composer-slot").set_class(self._focus_name() == "composer", "-focused")
        self.situate()

    def on_descendant_blur(self) -> None:
        self.situate()
        self.call_after_refresh(self._never_nowhere)

    def _never_nowhere(self) -> None:
        """A pane that went out of sight took the focus with it: what is typed next is a message, not a row of keys."""
        if self.focused is None and self.is_current and self.app.app_focus:
            self._focus_composer()

    def action_tab(self, name: str) -> None:
        """Show a pane (narrow) and go to it."""
        changed = name != self.tab
        self.bring_back(name)
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
                message.transcript.show_artifact(message.call, page.error or page.text)

        self.run_worker(read(), group="artifact")

    def on_transcript_wants_picture(self, message: Any) -> None:
        """Someone unfolded a call that read a picture."""
        self.run_worker(self.show_picture(message), group="picture")

    def on_todo_pane_changed(self, message: TodoPane.Changed) -> None:
        text = message.text
        self.bench.link.send(lambda session: EditTodo(session, text))

    def on_cache_pane_opened(self) -> None:
        self.action_inspector()

    def on_approvals_pane_answer(self) -> None:
        self.action_answer()

    def action_take_back(self) -> None:
        """Withdraw the newest message that waits; its text comes back once the engine says it was not delivered."""
        back, waiting = self.sheet.taking_back, self.sheet.arranging.items
        waiting = tuple(item for item in waiting if item.id not in back)
        if waiting:
            newest = waiting[-1]
            back[newest.id] = newest.text
            self.bench.link.send(lambda session: TakeBack(session, newest.id))

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


def _fitting(size: os.terminal_size) -> str:
    """The classes Textual would find by the breakpoints after the first layout, so that there need be no second one."""
    pairs = ((size.columns, Workbench.HORIZONTAL_BREAKPOINTS), (size.lines, Workbench.VERTICAL_BREAKPOINTS))
    return " ".join([name for least, name in points if cells >= least][-1] for cells, points in pairs)
