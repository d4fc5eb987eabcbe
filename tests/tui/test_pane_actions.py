"""Panes are put away, brought back and resized by key, and are found as they were left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tui.bench import Bench, workbench
from tests.tui.test_app_session import begin
from tui import panes
from tui.panes import Arrangement, read, widths


async def go(bench: Bench, number: int, *keys: str) -> None:
    await bench.pilot.press(f"alt+{number}")
    await bench.until(lambda: bench.app.bench._focus_name() == panes.PANES[number - 2], "in the pane")
    await bench.pilot.press(*keys)
    await bench.pilot.pause()


def side(bench: Bench) -> int:
    """Columns of the side column, 0 when it does not show."""
    column = bench.app.bench.query_one("#side")
    return int(column.outer_size.width) if column.display else 0


async def test_a_pane_is_put_away_and_its_number_brings_it_back(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        await bench.settled()
        await go(bench, 4, "h")
        await bench.until(lambda: "CACHE" not in bench.screen_text(), "away")
        assert "TODO" in bench.screen_text()
        assert bench.app.bench.composer.has_focus
        assert not bench.app.bench.cache_pane.is_on_screen
        await go(bench, 4)
        assert "▌CACHE" in bench.screen_text()


async def test_everything_beside_the_transcript_goes_and_comes_back(tmp_path: Path) -> None:
    async with workbench(tmp_path, size=(200, 60)) as bench:
        begin(bench.engine)
        await bench.settled()
        await go(bench, 2, "h")
        await bench.pilot.press("alt+0")
        await bench.until(lambda: "TODO" not in bench.screen_text(), "all away")
        assert "TOOLS" not in bench.screen_text()
        assert bench.app.bench.query_one("#transcript-slot").size.width == 200
        await bench.pilot.press("alt+0")
        await bench.until(lambda: "TODO" in bench.screen_text() and "TOOLS" in bench.screen_text(), "back")
        assert "▌TASK" not in bench.screen_text() and " TASK " not in bench.screen_text()


async def test_the_column_goes_when_its_last_pane_does(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        for number in (2, 3, 4, 5):
            await go(bench, number, "h")
        await bench.until(lambda: side(bench) == 0, "no empty column")
        await bench.pilot.press("alt+0")
        await bench.until(lambda: "CACHE" in bench.screen_text(), "all of them again")


@pytest.mark.parametrize("size", [(100, 30), (120, 40), (159, 40), (160, 40), (200, 60)])
async def test_the_transcript_keeps_its_columns_however_wide_the_panes(tmp_path: Path, size: tuple[int, int]) -> None:
    async with workbench(tmp_path, size=size) as bench:
        await go(bench, 6, *["less_than_sign"] * 40)
        await go(bench, 3, *["less_than_sign"] * 40)
        assert bench.app.bench.query_one("#transcript-slot").size.width >= panes.TRANSCRIPT
        widest = side(bench)
        await bench.pilot.press(*["greater_than_sign"] * 60)
        await bench.until(lambda: side(bench) == panes.NARROWEST, "as narrow as it gets")
        assert widest > side(bench)


async def test_a_pane_is_lowered_and_the_todo_list_takes_the_lines(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        await bench.settled()
        bench_ = bench.app.bench
        await go(bench, 2)
        task, todo = bench_.task_pane.size.height, bench_.todo_pane.size.height
        await bench.pilot.press("minus", "minus")
        await bench.until(lambda: bench_.task_pane.size.height == task - 2, "lower")
        assert bench_.todo_pane.size.height == todo + 2
        await bench.until(lambda: "1 / 20  " not in bench.screen_text() and "1 / 20" in bench.screen_text(), "numbers")
        await bench.pilot.press("plus", "plus", "plus", "plus")
        await bench.until(lambda: bench_.task_pane.size.height == task, "as high as what it holds")


async def test_panes_are_found_as_they_were_left_and_can_be_reset(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await go(bench, 4, "h")
        await go(bench, 3, "less_than_sign")
        wide = side(bench)
        await bench.app.bench.keeping.settled()
    async with workbench(tmp_path) as bench:
        assert side(bench) == wide == 44
        assert "CACHE" not in bench.screen_text()
        await bench.app.bench.run_action("reset_panes")
        await bench.until(lambda: "CACHE" in bench.screen_text() and side(bench) == 40, "as at first")
        await bench.app.bench.keeping.settled()
    async with workbench(tmp_path) as bench:
        assert side(bench) == 40


@pytest.mark.parametrize("size", [(80, 24), (20, 5)])
async def test_one_at_a_time_every_pane_can_still_be_gone_to(tmp_path: Path, size: tuple[int, int]) -> None:
    kept = tmp_path / "data" / "state" / "panes.json"
    kept.parent.mkdir(parents=True)
    kept.write_text(json.dumps({"beside": False, "hidden": list(panes.PANES), "side": 60, "heights": {"task": 2}}))
    async with workbench(tmp_path, size=size) as bench:
        for number in range(2, 7):
            await go(bench, number, "h", "less_than_sign", "plus", "0")
            assert bench.app.bench._pane_named(panes.PANES[number - 2]).size.width > size[0] - 4
        assert bench.app.bench.arrangement == read(json.loads(kept.read_text()))
        await bench.pilot.resize_terminal(120, 40)
        await bench.until(lambda: not bench.app.bench.has_class("-narrow"), "side by side")
        assert side(bench) == 0


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"side": "wide", "hidden": 3, "heights": [1]}', "\x00" * 99])
async def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, text: str) -> None:
    kept = tmp_path / "data" / "state" / "panes.json"
    kept.parent.mkdir(parents=True)
    kept.write_text(text)
    async with workbench(tmp_path) as bench:
        assert bench.app.bench.arrangement == Arrangement()
        await go(bench, 4, "h")
        await bench.app.bench.keeping.settled()
        assert json.loads(kept.read_text())["hidden"] == ["cache"]


async def test_a_place_that_cannot_be_written_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "state").write_text("in the way")
    async with workbench(tmp_path) as bench:
        await go(bench, 4, "h")
        await go(bench, 3, "h")
        await bench.app.bench.keeping.settled()
        await bench.until(lambda: len(bench.app._notifications) == 1, "one word about it")


def test_what_is_written_is_what_is_read() -> None:
    kept = Arrangement(frozenset({"todo", "tools"}), False, 52, 30, {"cache": 3})
    assert read(json.loads(json.dumps(kept.as_data()))) == kept
    assert read({"side": True, "tools": -4, "heights": {"todo": 9, "task": 5}}) == Arrangement(heights={"task": 5})


def test_columns_share_what_the_transcript_leaves() -> None:
    wish = Arrangement(side=90, tools=90)
    assert widths(wish, 160, True, (44, 46)) == (94 - 4, 30)
    assert widths(wish, 120, False, (40, 46)) == (80, 80)
    assert widths(wish.without("tools"), 160, True, (44, 46))[0] == 90
