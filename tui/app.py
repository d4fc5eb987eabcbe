"""The workbench app: first frame first, then the engine; what it says goes in, what a person says goes out."""

from __future__ import annotations

import asyncio
import difflib
import gc
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.message import Message

import themes
from engine.commands import OpenSession
from engine.settings import SettingError, write_setting
from tui import preferences
from tui.actions import BY_SLASH, bindings
from tui.asking import Asking
from tui.attention import Attention
from tui.bridge import FRAME
from tui.host import Host
from tui.link import Factory, Link
from tui.presenting import Presenter
from tui.screens.workbench import Workbench

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.binding import BindingType
    from textual.command import Provider
    from textual.screen import Screen

    from engine.options import EngineOptions
    from tui.autopilot import Autopilot
    from tui.link import Told
    from tui.session_tabs import Tab


SWITCH = 0.0005
"""Seconds after which the engine's thread lets another run: at Python's own 5 ms a key would wait for them up to three
times, to be read, to be handled and to be painted."""


def _provider() -> type[Provider]:
    from tui.commands import ActionProvider

    return ActionProvider


class Arrived(Message):
    """The engine said something. Posted from its thread."""

    bubble = False


class WorkbenchApp(Host):
    """Runs until the person quits; the result is what to do next: '' or ``demo``.

    ``factory`` makes the engine handle after the first frame was painted, so that nothing it imports can delay it.
    ``task`` starts at once; ``resume`` and ``newest`` name the session to go on with.
    """

    TITLE = "agent-tui"
    CSS_PATH = themes.stylesheet("workbench")
    BINDINGS: ClassVar[list[BindingType]] = bindings("app")
    COMMANDS = {_provider}  # noqa: RUF012
    NOTIFICATION_TIMEOUT = 4

    bench: Workbench

    def __init__(
        self,
        factory: Factory,
        options: EngineOptions,
        task: str = "",
        resume: str = "",
        newest: bool = False,
        autopilot: Autopilot | None = None,
    ) -> None:
        super().__init__(options.theme)
        self.options = options
        self._autopilot = autopilot
        self.link = Link(factory, options, self._wake)
        self.asking = Asking()
        self.mode = options.approve or "ask"
        self._opening = OpenSession(resume, newest, task)
        self.presenter = Presenter(self, self.asking)
        self.leaving = False
        self._hung_up = False
        self.attention = Attention(self._to_terminal, self.ui_settings, os.environ.get("TERM", ""))
        preferences.bind(self, self.ui_settings.keys)
        self.bench = Workbench(self)

    def get_default_screen(self) -> Screen[Any]:
        return self.bench

    # --- start -------------------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.theme_changed_signal.subscribe(self, lambda _: self.bench.dress(self.look))
        self.call_after_refresh(self._begin)

    async def _begin(self) -> None:
        """The first frame is on the screen: now the engine, the branch, the signals."""
        first = not (self.home.settings.exists() or self.home.database.exists())
        await self.bench.fill()
        try:
            self.link.start(self._opening)
        except Exception as error:
            # Without an engine there is still a screen to say so on, and a way to quit.
            self.bench.banners.fail(f"{type(error).__name__}: {error}")
            return
        if not self.is_headless:
            self._settle_in()
        if first and self._opening == OpenSession():
            self.set_up()
        for problem in (*self.theme_problems, *self.keymap.problems):
            self.say(problem, warn=True)
        self.run_worker(self._look_around(), group="start")

    async def _look_around(self) -> None:
        from tui.widgets.header import read_branch

        self.bench.header.show_branch(await asyncio.to_thread(read_branch, self.options.cwd))
        await self.bench.survey()
        await self._ask_for_trust()

    async def _ask_for_trust(self) -> None:
        """Once for a folder whose own files could start something."""
        from engine.trust import decision, project_files_needing_trust

        folder = self.options.cwd
        files = await asyncio.to_thread(project_files_needing_trust, folder)
        if files and await asyncio.to_thread(decision, self.home, folder) is None:
            self.ask_trust([str(path.relative_to(folder)) for path in files])

    def ask_trust(self, files: Sequence[str] = ()) -> None:
        """Ask a person whether the project's own files may be used; None is an answer for another day."""
        from engine.queries import TrustFolder
        from tui.screens.trust import TrustScreen

        def done(trusted: bool | None) -> None:
            if trusted is not None:
                self.run_worker(self.try_ask(TrustFolder(trusted)), group="trust")
                self.say("Trusted from the next session on." if trusted else "Not trusted: they stay unused.")

        self.push_screen(TrustScreen(str(self.options.cwd), files), done)

    def _settle_in(self) -> None:
        """What concerns the whole process: the collector, the theme files and the signals."""
        sys.setswitchinterval(SWITCH)
        # What exists by now lives as long as the app; the collector need not look at it again while someone scrolls.
        gc.freeze()
        gc.enable()
        self.follow_themes()
        self.attention.begin()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._on_signal, number)

    def _on_signal(self, number: signal.Signals) -> None:
        if number == signal.SIGHUP:
            # Nobody reads the terminal any more: what is painted now would only fill the queue of its writer.
            self._begin_batch()
            self._hung_up = True
        self._leave()

    # --- from the engine ---------------------------------------------------------------------------------------------

    def _wake(self) -> None:
        self.post_message(Arrived())

    def on_arrived(self) -> None:
        wait = self.link.bridge.wait()
        if wait > 0:
            self._wake_in(wait)
        else:
            self._pass_on()

    def _wake_in(self, seconds: float) -> None:
        """Not by a timer of Textual's: one so short that it is over before it has begun is never heard of again, and
        nothing would ever be shown after it."""
        asyncio.get_running_loop().call_later(seconds, self._wake)

    def _pass_on(self) -> None:
        batch, more = self.link.take()
        if more:
            self._wake_in(FRAME)
        if not batch:
            return
        self._follow(batch)
        self.bench.feed(batch)
        for screen in self.screen_stack:
            # A screen that shows what the log has says so by having ears.
            if (heard := getattr(screen, "heard", None)) is not None:
                heard()
        self.presenter.present()

    def _follow(self, batch: Sequence[Told]) -> None:
        for tab, event in batch:
            if event.type == "session_opened":
                self.asking.clear(event.session)
                self.asking.feed(event.events)
            elif event.type == "state_changed":
                self.attention.follow({event.session: event.state}, self.link.session, self.app_focus)
            else:
                self.asking.feed((event,))
            if event.type == "handed_off":
                self.attention.forget(event.session)
            elif event.type == "notice":
                self._say_notice(tab, event)
            if self._autopilot:
                self._autopilot.follow(event, self.set_timer, self.tell, self._leave)

    def _say_notice(self, tab: Tab | None, event: Any) -> None:
        """A notice stands in the transcript; what a person would not see there is said as well."""
        elsewhere = tab is not None and tab is not self.link.tabs.shown
        hidden = elsewhere or self.screen is not self.bench
        if event.level == "danger" or (event.level == "warn" and hidden):
            self.say(f"{tab.title}: {event.text}" if tab and elsewhere else event.text, warn=True)

    def closed(self, session: str) -> None:
        """A person closed a session: nothing of it waits any more."""
        self.asking.clear(session)
        self.attention.forget(session)
        self.presenter.present()

    # --- what waits for a person -------------------------------------------------------------------------------------

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, (events.Key, events.Paste)):
            self.presenter.typed()
            if isinstance(event, events.Key) and await preferences.took(self, event.key):
                return
        await super().on_event(event)

    def answer(self) -> None:
        """A person asks for what waits."""
        self.presenter.recall()

    # --- what a person can do anywhere -------------------------------------------------------------------------------

    def _to_terminal(self, sequence: str) -> None:
        """What concerns the terminal and not the screen."""
        if self._driver is not None and not (self.is_headless or self._hung_up):
            self._driver.write(sequence)

    def run_slash(self, command: str, argument: str) -> None:
        """Do what ``/command argument`` says."""
        action = BY_SLASH.get(command)
        if action is None:
            near = difflib.get_close_matches(command, BY_SLASH, n=1, cutoff=0.5)
            hint = f" Did you mean /{near[0]}?" if near else ""
            self.say(f"There is no /{command}.{hint} /help lists all.", warn=True)
            return
        bench = self.bench
        takes: dict[str, Callable[[str], None]] = {
            "approve": bench.set_approve,
            "model": bench.action_change_model,
            "title": bench.action_rename,
            "limits": bench.action_change_limits,
            "compact": bench.action_compact,
            "done": bench.action_done_when,
            "find": bench.action_find,
            "reject": bench.reject_plan,
            "theme": self.choose_theme,
        }
        if argument and command in takes:
            takes[command](argument)
        else:
            self.call_later(self.run_action, action.click)

    def choose_theme(self, name: str) -> None:
        """Put a theme on and remember it."""
        if name not in self.available_themes:
            near = difflib.get_close_matches(name, self.available_themes, n=1)
            self.say(f"There is no theme {name!r}." + (f" Did you mean {near[0]}?" if near else ""), warn=True)
            return
        self.theme = name
        self.run_worker(self._remember(name), group="preferences", exclusive=True)

    async def _remember(self, name: str) -> None:
        try:
            await asyncio.to_thread(write_setting, self.home, "theme", name)
        except (OSError, SettingError) as error:
            self.say(f"The theme is on, but could not be kept for next time: {error}", warn=True)

    def action_change_theme(self) -> None:
        from tui.commands import themes_of

        self.search_commands(themes_of(self), placeholder="Theme")

    def action_help(self) -> None:
        from tui.screens.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen, self.look))

    def action_jump(self) -> None:
        from tui.jump.screen import jump

        jump(self, self.presenter.present)

    def action_help_quit(self) -> None:
        """Ctrl+C, where there is nothing to copy."""
        self.say("Esc interrupts the agent, Ctrl+Q quits.")

    def set_up(self) -> None:
        """The first-run screen."""
        from tui.screens.first_run import FirstRunScreen

        def done(result: str | None) -> None:
            if result == "demo":
                self._leave("demo")
            elif result == "start":
                self.run_worker(self._remember(self.theme), group="preferences", exclusive=True)

        self.push_screen(FirstRunScreen(self), done)

    # --- leave -------------------------------------------------------------------------------------------------------

    async def action_quit(self) -> None:
        """Interrupt and store, then go; asked twice, go at once (the engine still gets its time after the screen)."""
        if self.leaving:
            self.exit("")
        else:
            self._leave()

    def _leave(self, result: str = "") -> None:
        if not self.leaving:
            self.leaving = True
            self.bench.banners.stopping()
            self.bench.keep_draft()
            self.run_worker(self._close_and_exit(result), group="leave")

    async def _close_and_exit(self, result: str) -> None:
        await asyncio.to_thread(self.link.close)
        self.attention.end()
        self.exit(result)
