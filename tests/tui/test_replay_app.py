"""The replay browser by itself, over a real engine and a real log: list, player, list again; or one session and out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.replay_kit import browser, store_demo


async def test_the_list_comes_first_and_again_after_the_player(tmp_path: Path) -> None:
    id = store_demo(tmp_path)
    async with browser(tmp_path) as replay:
        await replay.until(lambda: "Fix the login test" in replay.text(), "the list")
        await replay.press("enter")
        await replay.until(lambda: replay.player and replay.player.projector, "the player")
        await replay.press("escape")
        await replay.until(lambda: replay.player is None, "the list again")
        await replay.press("o")
        await replay.until(lambda: replay.app.return_value is not None, "it ends")
    assert replay.app.return_value == id


@pytest.mark.parametrize(("key", "result"), [("escape", ""), ("o", "ID")])
async def test_one_session_is_played_at_once(tmp_path: Path, key: str, result: str) -> None:
    id = store_demo(tmp_path)
    async with browser(tmp_path, id) as replay:
        await replay.until(lambda: replay.player and replay.player.projector, "the player")
        await replay.press(key)
        await replay.until(lambda: replay.app.return_value is not None, "it ends")
    assert replay.app.return_value == (id if result else "")


async def test_nothing_is_opened_for_writing(tmp_path: Path) -> None:
    id = store_demo(tmp_path)
    before = sorted(path for path in (tmp_path / "home").rglob("*") if "lease" in path.name)
    async with browser(tmp_path, id) as replay:
        await replay.until(lambda: replay.player and replay.player.projector, "the player")
        assert sorted(path for path in (tmp_path / "home").rglob("*") if "lease" in path.name) == before


async def test_jump_mode_works_here_too(tmp_path: Path) -> None:
    store_demo(tmp_path)
    async with browser(tmp_path) as replay:
        await replay.until(lambda: "Fix the login test" in replay.text(), "the list")
        await replay.press("f7")
        await replay.until(lambda: type(replay.app.screen).__name__ == "JumpScreen", "jump mode")
        await replay.press("escape")
        await replay.until(lambda: type(replay.app.screen).__name__ == "SessionsScreen", "the list again")
