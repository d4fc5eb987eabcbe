"""Taking things out of the transcript: honest copying, and files in the person's own editor."""

from __future__ import annotations

import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from engine import events as ev
from engine.desk import places
from engine.options import EngineOptions
from sandbox.clipboard import copy
from sandbox.editor import open_editor
from tests.tui.bench import Bench, workbench
from tui.editor import open_file
from tui.transcript.kinds import Note, Said, Tool
from tui.transcript.parts import parts_of
from tui.transcript.view import Transcript

HOSTILE = "[/] [bold ünï\n\x1b[31mred"


def program(folder: Path, name: str, body: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@asynccontextmanager
async def reading(home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bench]:
    """The workbench with its real transcript and one call in it, on a desk with no clipboard of its own."""
    for name in ("WAYLAND_DISPLAY", "DISPLAY", "TMUX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(home / "bin"))
    (home / "bin").mkdir()
    (home / "a.py").write_text("x = 1\n")
    (home / "b.py").write_text("y = 1\n")
    async with workbench(home, options=EngineOptions(cwd=home), transcript=Transcript) as bench:
        bench.engine.tell(
            ev.SessionStarted(cwd=str(home), model="m/m", app_version="0"),
            ev.UserMessage(text=HOSTILE),
            ev.AssistantMessage(
                turn=1,
                model="m/m",
                blocks=(ev.ToolCall(id="c1", name="shell_run", input={"command": "grep -n x\\\n  a.py"}),),
            ),
            ev.ToolStarted(call_id="c1", turn=1, name="shell_run", title="grep -n x a.py"),
            ev.ToolResult(call_id="c1", turn=1, name="shell_run", status="ok", text="a.py:12: x\nb.py:3: y"),
        )
        await bench.settled()
        yield bench


def said(bench: Bench) -> str:
    return " | ".join(note.message for note in bench.app._notifications)


async def test_copied_is_said_only_when_a_program_took_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with reading(tmp_path, monkeypatch) as bench:
        bench.app.bench.action_copy()
        await bench.until(lambda: said(bench), "a word about it")
        assert "Offered" in said(bench) and "Copied" not in said(bench)
        kept = tmp_path / "cache" / "copied.txt"
        assert str(kept) in said(bench)
        assert kept.read_text() == "grep -n x\\\n  a.py"
        assert kept.stat().st_mode & 0o077 == 0
        program(tmp_path / "bin", "xclip", f"/bin/cat > {tmp_path}/taken")
        monkeypatch.setenv("DISPLAY", ":0")
        bench.app.clear_notifications()
        bench.app.bench.action_copy()
        await bench.until(lambda: "Copied the command" in said(bench), "it was taken")
        assert (tmp_path / "taken").read_text() == "grep -n x\\\n  a.py"


async def test_parts_are_offered_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with reading(tmp_path, monkeypatch) as bench:
        bench.app.bench.action_copy_part()
        await bench.until(lambda: "output (" in bench.screen_text(), "the parts are listed")
        assert "command (" in bench.screen_text()


async def test_a_file_named_in_the_block_opens_at_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with reading(tmp_path, monkeypatch) as bench:
        monkeypatch.setenv("EDITOR", str(program(tmp_path / "bin", "vim", f'echo "$@" > {tmp_path}/opened')))
        bench.app.bench.action_open_place()
        await bench.until(lambda: "b.py:3" in bench.screen_text(), "the files are listed")
        assert "a.py:12" in bench.screen_text()
        assert not open_file(bench.app, tmp_path / "a.py", 12)
        # Without a terminal of its own the app cannot step aside, and says so instead of failing.
        await bench.until(lambda: said(bench), "what came of it is said")


def test_a_clipboard_program_that_fails_took_nothing(tmp_path: Path) -> None:
    program(tmp_path, "xclip", "exit 1")
    assert copy("text", {"PATH": str(tmp_path), "DISPLAY": ":0"}) == ""
    program(tmp_path, "xsel", f"/bin/cat > {tmp_path}/taken")
    assert copy(HOSTILE, {"PATH": str(tmp_path), "DISPLAY": ":0"}) == "xsel"
    assert (tmp_path / "taken").read_text() == HOSTILE
    assert copy("text", {"PATH": str(tmp_path)}) == ""


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("vim", ["+7", "F"]), ("nano", ["+7", "F"]), ("code", ["--goto", "F:7"]), ("hx", ["F:7"]), ("mine", ["F"])],
)
def test_each_editor_is_told_the_line_its_own_way(tmp_path: Path, name: str, arguments: list[str]) -> None:
    editor = program(tmp_path, name, f'for one in "$@"; do echo "$one"; done > {tmp_path}/said')
    file = tmp_path / "file name.py"
    assert open_editor(file, {"EDITOR": str(editor)}, line=7) == 0
    assert (tmp_path / "said").read_text().splitlines() == [word.replace("F", str(file)) for word in arguments]


def test_only_files_that_exist_are_places(tmp_path: Path) -> None:
    for name in ("a.py", "src/b-c.rs", "Makefile"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    text = f"a.py:3:7: error in ./src/b-c.rs, see (Makefile) and {tmp_path}/a.py:9 or gone.py:1 http://a.py/x \x00/\x00"
    assert places(text, tmp_path) == (
        (tmp_path / "a.py", 3),
        (tmp_path / "src/b-c.rs", 0),
        (tmp_path / "Makefile", 0),
    )
    assert places("/" * 30_000 + "a.py", tmp_path) == ()


def test_parts_of_blocks() -> None:
    assert parts_of(Said(1, "agent", "hello")) == (("text", "hello"),)
    edit = Tool(1, "c", 1, "fs_edit", "src/a.py", text="ok", diff="-a\n+b")
    assert [what for what, _ in parts_of(edit)] == ["diff", "output", "path", "call and result"]
    assert ("output", "all of it") in parts_of(edit, "all of it")
    assert parts_of(Note(1, "notice", "info", "")) == ()
