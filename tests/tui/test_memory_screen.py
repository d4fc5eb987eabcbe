"""The screen of what is remembered: every change is a command, and what the log has shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import events as ev
from engine.commands import ChangeMemory
from engine.queries import ListMemories, Memories, MemoryLine
from tests.tui.bench import Bench, workbench
from tests.tui.fake_engine import FakeHandle

PATHS = {"project": "/data/memory/projects/shop-1/MEMORY.md", "user": "/data/memory/MEMORY.md"}
LINES = (
    MemoryLine("project", "Tests run with make check"),
    MemoryLine("project", "[/] hostile \x1b[31m 你好"),
    MemoryLine("user", "Answer in German"),
)


def engine(*lines: MemoryLine) -> FakeHandle:
    handle = FakeHandle()
    handle.answers[ListMemories] = Memories(lines, PATHS)
    return handle


async def opened(bench: Bench) -> None:
    await bench.pilot.press("f5")
    await bench.until(lambda: "later sessions" in bench.screen_text() and "reading" not in bench.screen_text(), "lines")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (30, 8)])
async def test_lines_of_both_and_the_file_they_stand_in(tmp_path: Path, size: tuple[int, int]) -> None:
    async with workbench(tmp_path, size=size, engine=engine(*LINES)) as bench:
        await bench.pilot.press("f5")
        await bench.until(lambda: "Tests run" in bench.screen_text(), "the lines")
        shown = bench.screen_text()
        assert "\x1b" not in shown
        if size[0] >= 80:
            assert "Answer in German" in shown and PATHS["project"] in shown and "你好" in shown


async def test_adding_changing_and_forgetting_are_commands(tmp_path: Path) -> None:
    async with workbench(tmp_path, engine=engine(*LINES)) as bench:
        await opened(bench)
        await bench.pilot.press("a")
        await bench.until(lambda: "Remember of this project" in bench.screen_text(), "a place to type")
        await bench.pilot.press(*"Port 8000", "enter")
        await bench.until(lambda: bench.engine.commands(ChangeMemory), "it is sent")
        assert bench.engine.commands(ChangeMemory) == [ChangeMemory("s1", "project", "Port 8000")]
        await bench.pilot.press("enter")
        await bench.until(lambda: "Change what is remembered" in bench.screen_text(), "a place to type")
        await bench.pilot.press("end", "!", "enter")
        await bench.until(lambda: len(bench.engine.commands(ChangeMemory)) == 2, "it is sent")
        changed = ChangeMemory("s1", "project", "Tests run with make check!", "Tests run with make check")
        assert bench.engine.commands(ChangeMemory)[1] == changed
        await bench.pilot.press("end", "x")
        await bench.until(lambda: "x again forgets: Answer in German" in bench.screen_text(), "it asks")
        await bench.pilot.press("up", "x", "escape", "end", "x")
        await bench.pilot.pause()
        assert len(bench.engine.commands(ChangeMemory)) == 2, "moving on is no second press"
        await bench.pilot.press("x")
        await bench.until(lambda: len(bench.engine.commands(ChangeMemory)) == 3, "it is sent")
        assert bench.engine.commands(ChangeMemory)[2] == ChangeMemory("s1", "user", "", "Answer in German")


async def test_what_the_log_has_shows(tmp_path: Path) -> None:
    async with workbench(tmp_path, engine=engine()) as bench:
        await bench.pilot.press("f5")
        await bench.until(lambda: "Nothing is remembered yet" in bench.screen_text(), "nothing yet")
        bench.engine.answers[ListMemories] = Memories(LINES[:1], PATHS)
        bench.engine.tell(ev.MemoryChanged(action="saved", scope="project", text=LINES[0].text))
        await bench.until(lambda: "make check" in bench.screen_text(), "the new line")
        await bench.pilot.press("escape")
        await bench.until(lambda: bench.app.screen is bench.app.bench, "it is left")


async def test_search_as_you_type(tmp_path: Path) -> None:
    async with workbench(tmp_path, engine=engine(*LINES)) as bench:
        await opened(bench)
        await bench.pilot.press("slash", *"german")
        await bench.until(lambda: "make check" not in bench.screen_text(), "only what has the word")
        assert "Answer in German" in bench.screen_text()
        await bench.pilot.press("enter", "escape")
        await bench.until(lambda: "make check" in bench.screen_text(), "all again")


async def test_a_refusal_is_said_where_the_person_looks(tmp_path: Path) -> None:
    async with workbench(tmp_path, engine=engine(*LINES)) as bench:
        await opened(bench)
        bench.engine.tell(ev.Notice(level="warn", text="the memory was not changed: it looks like a secret"))
        said = lambda: [note.message for note in bench.app._notifications]  # noqa: E731
        await bench.until(lambda: any("looks like a secret" in text for text in said()), "it is said")
