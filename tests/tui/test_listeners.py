"""What has been on the screen and is gone takes no memory any more."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Static

from tests.tui.bench import Bench, workbench
from tests.tui.replay_kit import browser, long_session, store
from tui.screens.player import PlayerScreen
from tui.theming import Themed


class Listens(Screen[None]):
    """A screen as ours are: it follows the theme, and whether the terminal has the focus."""

    heard = 0

    def compose(self) -> ComposeResult:
        yield Static("here")

    def on_mount(self) -> None:
        self.watch(self.app, "app_focus", self._on_focus, init=False)
        self.app.theme_changed_signal.subscribe(self, lambda _: self._hear())

    def _on_focus(self, focused: bool) -> None:
        self._hear()

    def _hear(self) -> None:
        self.heard += 1


async def opened_and_closed(bench: Bench) -> weakref.ref[Listens]:
    screen = Listens()
    bench.app.push_screen(screen)
    await bench.until(lambda: screen.is_running and bench.app.screen is screen, "it is open")
    screen.dismiss()
    await bench.until(lambda: not screen.is_running, "it is closed")
    return weakref.ref(screen)


async def test_dialogs_of_the_day_are_not_kept(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await bench.settled()
        screens = [await opened_and_closed(bench) for _ in range(4)]
        gc.collect()
        # The last one is let go by the next.
        assert [screen() for screen in screens[:-1]] == [None] * 3


async def test_a_screen_that_is_open_still_hears_of_the_theme(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await bench.settled()
        below = Listens()
        bench.app.push_screen(below)
        await bench.until(lambda: below.is_running, "it is open")
        await opened_and_closed(bench)
        assert isinstance(bench.app, Themed)
        bench.app.theme = next(name for name in bench.app.theme_names() if name != bench.app.theme)
        await bench.until(lambda: below.heard == 1, "the theme has changed")


async def test_a_session_that_was_played_is_let_go_though_nothing_is_collected(tmp_path: Path) -> None:
    async with browser(tmp_path, store(tmp_path, long_session(20))) as replay:
        player = await replay.playing()
        again = PlayerScreen(player._ask, player._session)
        again._id = None  # two with the same id cannot be open at once
        replay.app.push_screen(again)
        await replay.until(lambda: again.projector and again._facts, "another player")
        assert again.projector is not None
        film = weakref.ref(again.projector.film)
        again.dismiss()
        await replay.until(lambda: not again.is_running, "it is closed")
        await replay.until(lambda: film() is None, "the session is gone")
