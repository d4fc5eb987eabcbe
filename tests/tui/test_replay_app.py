"""The replay browser by itself: list, player, list again; or one session and out."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Static

from engine.commands import OpenSession
from engine.options import EngineOptions
from tests.tui.bench import Bench
from tests.tui.fake_engine import FakeHandle
from tests.tui.placeholders import Sessions
from tui import slots
from tui.replay_app import ReplayApp


class Player(Screen[Any]):
    """Enter goes on with a session, q goes back."""

    def compose(self) -> ComposeResult:
        yield Static("player")

    def key_enter(self) -> None:
        self.dismiss("fork")

    def key_q(self) -> None:
        self.dismiss(None)


@pytest.mark.parametrize(
    ("session", "keys", "result"),
    [
        ("", ["Sessions", "enter", "Player", "q", "Sessions", "enter", "Player", "enter"], "fork"),
        ("one", ["Player", "q"], ""),
        ("one", ["Player", "enter"], "fork"),
    ],
)
async def test_from_list_to_player_and_on(tmp_path: Path, session: str, keys: list[str], result: str) -> None:
    handle = FakeHandle(EngineOptions(cwd=tmp_path))
    with (
        patch.dict("os.environ", {"AGENT_TUI_HOME": str(tmp_path)}),
        patch.object(slots, "sessions", lambda ask: Sessions()),
        patch.object(slots, "player", lambda ask, session: Player()),
    ):
        app = ReplayApp(lambda _: handle, handle.options, session)
        async with app.run_test() as pilot:
            bench: Any = Bench(app, pilot, handle)  # type: ignore[arg-type]
            for screen, key in zip(keys[::2], keys[1::2], strict=True):
                await bench.until(lambda screen=screen: type(app.screen).__name__ == screen, screen)
                await pilot.press(key)
            await bench.until(lambda: app.return_value is not None, "it ends")
        assert app.return_value == result
    assert not handle.commands(OpenSession)
