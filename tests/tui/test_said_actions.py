"""What was said before is found by Up and by searching, in the next app too; a draft not sent survives quitting."""

from __future__ import annotations

from pathlib import Path

from engine.commands import SendMessage
from engine.options import EngineOptions
from engine.said import Said
from tests.tui.bench import Bench, workbench


async def ready(bench: Bench) -> None:
    await bench.until(lambda: bench.app.bench.transcript and not list(bench.app.workers), "all is filled in")


async def say(bench: Bench, *texts: str) -> None:
    for text in texts:
        bench.app.bench.composer.set_text(text)
        await bench.pilot.press("enter")
        await bench.until(lambda: bench.app.bench.composer.text == "", "sent")
        await bench.pilot.pause()
    await bench.app.bench.keeping.settled()


async def test_the_next_app_knows_what_was_said_in_this_folder(tmp_path: Path) -> None:
    async with workbench(tmp_path, real=True) as bench:
        await ready(bench)
        await say(bench, "first\nof two lines", "/title Shop", "second")
    async with workbench(tmp_path, real=True) as bench:
        await ready(bench)
        composer = bench.app.bench.composer
        assert composer.text == ""
        await bench.pilot.press("up")
        assert composer.text == "second"
        await bench.pilot.press("up", "up")
        assert composer.text == "first\nof two lines"
    async with workbench(tmp_path, real=True, options=EngineOptions(cwd=tmp_path / "elsewhere")) as bench:
        await ready(bench)
        await bench.pilot.press("up")
        assert bench.app.bench.composer.text == ""


async def test_a_long_paste_comes_back_as_a_chip_and_goes_out_in_full(tmp_path: Path) -> None:
    long = "\n".join(f"line {number}" for number in range(60))
    async with workbench(tmp_path, real=True) as bench:
        await ready(bench)
        await say(bench, f"look: {long}")
    async with workbench(tmp_path, real=True) as bench:
        await ready(bench)
        await bench.pilot.press("up")
        assert bench.app.bench.composer.text == f"look: {long}"
        assert "[pasted" in bench.screen_text()


async def test_searching_finds_by_words_and_gives_the_draft_back(tmp_path: Path) -> None:
    state = tmp_path / "data" / "state"
    for text in ("fix the login test", "write the [b]changelog[/]", "fix the logout"):
        Said(state, tmp_path).add(text)
    Said(state, Path("/src/other")).add("fix the login page there")
    async with workbench(tmp_path, real=True, size=(80, 24)) as bench:
        await ready(bench)
        composer = bench.app.bench.composer
        await bench.pilot.press(*"fix")
        await bench.pilot.press("ctrl+r")
        await bench.until(lambda: "fix the logout" in bench.screen_text(), "the newest")
        assert "changelog" not in bench.screen_text()
        await bench.pilot.press(*" login")
        await bench.until(lambda: "logout" not in bench.screen_text(), "fewer")
        shown = bench.screen_text()
        assert shown.index("login test") < shown.index("login page there")
        await bench.pilot.press("escape")
        await bench.until(lambda: composer.text == "fix", "the draft again")
        assert "login" not in bench.screen_text()
        await bench.pilot.press("ctrl+r", "ctrl+r", "enter")
        await bench.until(lambda: composer.text == "fix the login test", "the second one found")
        assert not bench.engine.commands(SendMessage)
        await bench.pilot.press("enter")
        await bench.until(lambda: composer.text == "", "sent as any other")
        await bench.until(lambda: bench.engine.commands(SendMessage), "sent")


async def test_a_search_without_a_find_says_so_and_leaves_the_words(tmp_path: Path) -> None:
    async with workbench(tmp_path, real=True) as bench:
        await ready(bench)
        await bench.pilot.press(*"zebra")
        await bench.pilot.press("ctrl+r")
        await bench.until(lambda: "Nothing said before" in bench.screen_text(), "said")
        await bench.pilot.press("enter")
        await bench.until(lambda: "Nothing said before" not in bench.screen_text(), "over")
        assert bench.app.bench.composer.text == "zebra"


async def test_a_draft_not_sent_survives_quitting_once(tmp_path: Path) -> None:
    async with workbench(tmp_path, real=True) as bench:
        await ready(bench)
        await bench.pilot.press(*"half a", "shift+enter", *"thought")
        await bench.pilot.press("ctrl+q")
        await bench.until(lambda: not bench.app.is_running, "gone")
        await bench.app.bench.keeping.settled()
    async with workbench(tmp_path, real=True) as bench:
        await bench.until(lambda: bench.app.bench.composer.text == "half a\nthought", "the draft")
        await bench.pilot.press("ctrl+c")
        await bench.until(lambda: bench.app.bench.composer.text == "", "cleared")
        await bench.pilot.press("ctrl+q")
        await bench.until(lambda: not bench.app.is_running, "gone")
        await bench.app.bench.keeping.settled()
    async with workbench(tmp_path, real=True) as bench:
        await ready(bench)
        assert bench.app.bench.composer.text == ""


async def test_a_draft_is_kept_once_typing_pauses_and_no_timer_stays(tmp_path: Path) -> None:
    async with workbench(tmp_path, real=True) as bench:
        await ready(bench)
        await bench.pilot.press(*"half a", "shift+enter", *"thought")
        kept = Said(tmp_path / "data" / "state", tmp_path)
        await bench.until(lambda: kept.load().draft == "half a\nthought", "kept")
        assert bench.app.bench.composer._pause is None
        await bench.pilot.press("enter")
        await bench.until(lambda: kept.load().draft == "", "sent, and no draft any more")


async def test_what_is_searched_for_is_no_draft(tmp_path: Path) -> None:
    async with workbench(tmp_path, real=True) as bench:
        await ready(bench)
        await bench.pilot.press(*"mine")
        await bench.pilot.press("ctrl+r", *" and words")
        await bench.until(lambda: bench.app.bench.composer._pause is None, "a pause")
        await bench.app.bench.keeping.settled()
        kept = Said(tmp_path / "data" / "state", tmp_path)
        assert kept.load().draft == ""
        await bench.pilot.press("escape")
        await bench.until(lambda: kept.load().draft == "mine", "kept")


async def test_what_is_being_typed_is_not_replaced_by_an_old_draft(tmp_path: Path) -> None:
    Said(tmp_path / "data" / "state", tmp_path).keep_draft("old")
    async with workbench(tmp_path, real=True) as bench:
        composer = bench.app.bench.composer
        await bench.until(lambda: composer.text == "old", "the draft")
        composer.set_text("new")
        await bench.app.bench.recall_said()
        assert composer.text == "new"
        await bench.pilot.press("up")
        assert composer.text == "old"


async def test_nothing_is_kept_for_who_does_not_want_it(tmp_path: Path) -> None:
    config = tmp_path / "config" / "config.toml"
    config.parent.mkdir()
    config.write_text("[ui]\nhistory = false\n")
    Said(tmp_path / "data" / "state", tmp_path).keep_draft("old")
    async with workbench(tmp_path, real=True) as bench:
        await ready(bench)
        assert bench.app.bench.composer.text == ""
        await say(bench, "between us")
        await bench.pilot.press("up")
        assert bench.app.bench.composer.text == "between us"
        await bench.pilot.press("ctrl+q")
        await bench.until(lambda: not bench.app.is_running, "gone")
    assert not (tmp_path / "data" / "state" / "said.jsonl").exists()
    assert Said(tmp_path / "data" / "state", tmp_path).load().draft == "old"
