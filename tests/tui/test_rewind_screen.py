"""The screen for going back: it shows what would change, and only what was shown is done."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine import events as ev
from engine.commands import Rewind
from engine.queries import RewindChoices, RewindFiles, RewindPoint, RewindPoints, RewindPreview
from tests.tui.bench import Bench, workbench
from tests.tui.fake_engine import FakeHandle

AT = datetime(2026, 11, 30, 10, 2, tzinfo=UTC)
POINTS = (
    RewindPoint(40, "turn 2", "I edit [/] it → fs_edit", AT, True),
    RewindPoint(30, "you", "and now the \x1b[31mcolours 你好", AT, True),
    RewindPoint(3, "you", "Fix the login test", AT, False),
)


def engine(choices: RewindChoices, files: RewindFiles) -> FakeHandle:
    handle = FakeHandle()
    handle.answers |= {RewindPoints: choices, RewindPreview: files}
    return handle


async def opened(bench: Bench) -> None:
    await bench.pilot.press("f4")
    await bench.until(lambda: "go back to before" in bench.screen_text(), "the screen")
    await bench.until(lambda: "looking at" not in bench.screen_text(), "the files")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (40, 10)])
async def test_points_and_files_are_shown(tmp_path: Path, size: tuple[int, int]) -> None:
    files = RewindFiles((("a.py", "changed"), ("b [/].py", "created"), ("c.py", "deleted")))
    async with workbench(tmp_path, size=size, engine=engine(RewindChoices(POINTS), files)) as bench:
        await opened(bench)
        shown = bench.screen_text()
        assert "Fix the login" in shown and "\x1b" not in shown
        assert "3 files would change" in shown
        if size[0] >= 80:
            assert "[/] it" in shown and "你好" in shown
            assert "b [/].py  created since, will be removed" in shown
        assert "undo" not in shown.splitlines()[-1]


@pytest.mark.parametrize(
    ("key", "conversation", "files"), [("enter", True, True), ("c", True, False), ("f", False, True)]
)
async def test_each_key_goes_back_with_what_it_says(tmp_path: Path, key: str, conversation: bool, files: bool) -> None:
    handle = engine(RewindChoices(POINTS), RewindFiles((("a.py", "changed"),)))
    async with workbench(tmp_path, engine=handle) as bench:
        await opened(bench)
        await bench.pilot.press("down")
        await bench.until(lambda: "looking at" not in bench.screen_text(), "the files of that place")
        await bench.pilot.press(key)
        await bench.until(lambda: handle.commands(Rewind), "it is asked for")
        assert handle.commands(Rewind) == [Rewind("s1", 30, conversation, files)]
        assert handle.asked[-1] == RewindPreview("s1", 30)
        assert bench.app.screen is bench.app.bench


async def test_the_last_going_back_can_be_taken_back(tmp_path: Path) -> None:
    handle = engine(RewindChoices(POINTS, undoable=55), RewindFiles(()))
    async with workbench(tmp_path, engine=handle) as bench:
        await opened(bench)
        assert "undo" in bench.screen_text().splitlines()[-1]
        await bench.pilot.press("f")
        await bench.pilot.pause()
        assert not handle.commands(Rewind), "no file differs"
        await bench.pilot.press("u")
        await bench.until(lambda: handle.commands(Rewind), "it is asked for")
        assert handle.commands(Rewind) == [Rewind("s1", undoes=55)]


async def test_nowhere_to_go_and_files_that_cannot_be_read(tmp_path: Path) -> None:
    async with workbench(tmp_path, engine=engine(RewindChoices(()), RewindFiles(()))) as bench:
        await bench.pilot.press("f4")
        await bench.until(lambda: "nowhere to go back to" in bench.screen_text(), "that is said")
        await bench.pilot.press("enter", "c", "f", "u", "escape")
        await bench.until(lambda: bench.app.screen is bench.app.bench, "it is left")
        assert not bench.engine.commands(Rewind)
    torn = engine(RewindChoices(POINTS), RewindFiles((), "the snapshot 12ab is damaged"))
    async with workbench(tmp_path, engine=torn) as bench:
        await opened(bench)
        assert "the snapshot 12ab is damaged" in bench.screen_text()


async def test_not_while_the_agent_works(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.engine.tell(ev.SessionStarted(cwd="/w", model="m/m", app_version="0"), ev.RunStarted())
        await bench.settled()
        await bench.pilot.press("f4")
        await bench.pilot.pause()
        assert bench.app.screen is bench.app.bench
