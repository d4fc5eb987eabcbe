"""The workbench app: first frame first, then the engine; what it says goes in, what a person says goes out."""

from __future__ import annotations

import asyncio
import difflib
import gc
import os
import signal
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.message import Message

import themes
from engine.commands import AnswerQuestion, OpenSession
from engine.settings import SettingError, write_setting
from tui import slots
from tui.actions import ACTIONS, BY_SLASH, CHOSEN, bindings
from tui.asking import TYPING_PAUSE, Asking
from tui.attention import Attention
from tui.bridge import FRAME
from tui.keymap import keymap
from tui.link import Factory, Link
from tui.screens.workbench import Workbench
from tui.theming import Themed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.binding import BindingType
    from textual.command import Provider
    from textual.screen import Screen
    from textual.timer import Timer

    from engine.commands import Command
    from engine.options import EngineOptions
    from engine.queries import Query
    from tui.autopilot import Autopilot


def _provider() -> type[Provider]:
    from tui.commands import ActionProvider

    return ActionProvider


class Arrived(Message):
    """The engine said something. Posted from its thread."""

    bubble = False


class WorkbenchApp(Themed):
    """Runs until the person quits; the result is what to do next: '' or ``demo``.

    ``factory`` makes the engine handle after the first frame was painted, so that nothing it imports can delay it.
    ``task`` starts at once; ``resume`` and ``newest`` name the session to go on with.
    """

    TITLE = "agent-tui"
    CSS_PATH = themes.stylesheet("workbench")
    BINDINGS: ClassVar[list[BindingType]] = bindings("app")
    COMMANDS = {_provider}  # noqa: RUF012
    NOTIFICATION_TIMEOUT = 4

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
        self._typed_at = -TYPING_PAUSE
        self._dialog: tuple[str, Screen[Any]] | None = None
        self._pause: Timer | None = None
        self._leaving = False
        self._hung_up = False
        self.attention = Attention(self._to_terminal, self.ui_settings, os.environ.get("TERM", ""))
        self.keymap = keymap(self.ui_settings.keys, ACTIONS)
        CHOSEN.clear()
        CHOSEN.update(self.keymap.keys)
        self.set_keymap(self.keymap.bound())
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
        self.present()

    def _follow(self, batch: list[Any]) -> None:
        for event in batch:
            if event.type == "session_opened":
                self.asking.clear()
                self.asking.feed(event.events)
            elif event.type == "state_changed":
                self.mode = event.state.approve
                self.attention.follow({event.session: event.state}, self.link.session, self.app_focus)
            else:
                self.asking.feed((event,))
            if event.type == "notice" and self._is_worth_saying(event.level):
                self.say(event.text, warn=True)
            if self._autopilot:
                self._autopilot.follow(event, self.set_timer, self._send, self._leave)

    def _is_worth_saying(self, level: str) -> bool:
        """A notice stands in the transcript; what a person would not see there is said as well."""
        return level == "danger" or (level == "warn" and self.screen is not self.bench)

    def _send(self, command: Command) -> None:
        self.link.send(lambda _session: command)

    async def ask(self, query: Query) -> Any:
        """A question for the engine."""
        return await self.link.query(query)

    async def try_ask(self, query: Query) -> Any:
        """The same, for what the app can do without: None, and a word to the person, when there is no answer."""
        try:
            return await self.link.query(query)
        except Exception as error:
            self.say(f"The engine could not answer: {error or type(error).__name__}", warn=True)
            return None

    # --- what waits for a person -------------------------------------------------------------------------------------

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, (events.Key, events.Paste)):
            self._typed_at = monotonic()
        await super().on_event(event)

    def present(self) -> None:
        """Show the next request, one at a time and never while someone is typing; close one that was settled."""
        if self._dialog:
            id, screen = self._dialog
            if not self.asking.waits(id) and screen.is_active:
                screen.dismiss(None)
            return
        request = self.asking.next()
        if request is None or self._leaving or self._pause is not None:
            return
        rest = self._typed_at + TYPING_PAUSE - monotonic()
        if rest > 0:
            self._pause = self.set_timer(max(rest, FRAME), self._pause_over)
            return
        screen = slots.dialog(request, self.asking.place(request.id), self.ask)
        self._dialog = (request.id, screen)
        self.push_screen(screen, lambda answer: self._answered(request, answer))

    def _pause_over(self) -> None:
        self._pause = None
        self.present()

    def _answered(self, request: Any, answer: Any) -> None:
        self._dialog = None
        if answer is None:
            if self.asking.waits(request.id):
                self.asking.put_aside(request.id)
        else:
            self.asking.settle(request.id)
            if isinstance(answer, str):
                answer = AnswerQuestion(request.session, request.id, answer)
            self._send(answer)
        self.call_later(self.present)

    def answer(self) -> None:
        """A person asks for what waits."""
        self.asking.recall()
        self._typed_at = -TYPING_PAUSE
        if self._pause is not None:
            self._pause.stop()
            self._pause = None
        self.present()

    # --- what a person can do anywhere -------------------------------------------------------------------------------

    def _to_terminal(self, sequence: str) -> None:
        """What concerns the terminal and not the screen."""
        if self._driver is not None and not (self.is_headless or self._hung_up):
            self._driver.write(sequence)

    def say(self, text: str, warn: bool = False) -> None:
        """A passing word to the person."""
        self.notify(text, severity="warning" if warn else "information", markup=False)

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
        if self._leaving:
            self.exit("")
        else:
            self._leave()

    def _leave(self, result: str = "") -> None:
        if not self._leaving:
            self._leaving = True
            self.bench.banners.stopping()
            self.run_worker(self._close_and_exit(result), group="leave")

    async def _close_and_exit(self, result: str) -> None:
        await asyncio.to_thread(self.link.close)
        self.attention.end()
        self.exit(result)
