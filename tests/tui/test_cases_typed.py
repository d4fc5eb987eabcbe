"""Whatever is typed, pasted or remembered in any line or box of the workbench: text, never a command to the terminal,
and nobody waits for it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.events import Paste

from engine import events as ev
from engine import settings_view
from engine.paths import Home
from engine.queries import ListSessions, ShowSettings
from engine.said import Said
from tests.tui.bench import Bench, workbench
from tests.tui.hostile import CONTROLS, HOSTILE, MARKUP, WIDE, harmless
from tests.tui.test_app_approvals import question, request
from tests.tui.test_app_session import begin
from tui.dialogs.entry import Entry
from tui.widgets.shown_area import LONGEST
from tui.widgets.text_line import LONGEST as LONGEST_LINE
from tui.widgets.text_line import TextLine

Opened = Callable[[Bench], Awaitable[Any]]


async def sessions(bench: Bench) -> None:
    bench.engine.answers[ListSessions] = ()
    await bench.pilot.press("ctrl+o", "slash")


async def memory(bench: Bench) -> None:
    await bench.pilot.press("f5")
    await bench.until(lambda: type(bench.app.screen).__name__ == "MemoryScreen", "the memory")
    await bench.pilot.press("slash")


async def settings(bench: Bench) -> None:
    root = bench.app.options.cwd
    home = Home(root / "data", root / "config", root / "cache")
    bench.engine.answers[ShowSettings] = settings_view.shown(home, root, {}, bench.app.options)
    await bench.pilot.press("f6")
    await bench.until(lambda: type(bench.app.screen).__name__ == "SettingsScreen", "the settings")
    await bench.pilot.press("slash")


async def title(bench: Bench) -> None:
    begin(bench.engine)
    bench.engine.tell(ev.SettingChanged(name="title", value=HOSTILE))
    await bench.settled()
    bench.app.run_slash("title", "")


async def heard_by(bench: Bench, dialog: str) -> None:
    """Wait for a dialog, and until keys count in it."""
    await bench.until(lambda: type(bench.app.screen).__name__ == dialog, dialog)
    shown = bench.app.screen
    await bench.until(lambda: not shown.grace.left, "keys count")


async def asked(bench: Bench) -> None:
    begin(bench.engine)
    bench.engine.tell(question("q"))
    await heard_by(bench, "QuestionDialog")
    await bench.pilot.press("tab")


async def queued(bench: Bench) -> None:
    begin(bench.engine)
    bench.engine.tell(ev.MessageQueued(id="m", kind="steer", text=HOSTILE))
    await bench.settled()
    await bench.pilot.press("f12")
    await bench.until(lambda: type(bench.app.screen).__name__ == "QueueScreen", "the queue")
    await bench.pilot.press("e")


async def planned(bench: Bench) -> None:
    begin(bench.engine)
    bench.engine.tell(ev.PlanProposed(id="p", text=HOSTILE), ev.RunFinished(reason="finished"))
    await heard_by(bench, "PlanDialog")
    await bench.pilot.press("e")


async def edited(bench: Bench) -> None:
    begin(bench.engine)
    asked_for = request("a").model_copy(update={"kind": "command", "subject": HOSTILE})
    bench.engine.tell(asked_for)
    await heard_by(bench, "ApprovalDialog")
    await bench.pilot.press("e")


async def todo(bench: Bench) -> None:
    begin(bench.engine)
    bench.engine.tell(ev.TodoChanged(text=HOSTILE, items=()))
    await bench.settled()
    await bench.app.bench.action_edit_todo()


LINES: dict[str, Opened] = {"sessions": sessions, "memory": memory, "settings": settings, "title": title}
BOXES: dict[str, Opened] = {"queue": queued, "plan": planned, "command": edited, "todo": todo}


async def typing(bench: Bench, kind: type) -> Any:
    await bench.until(lambda: isinstance(bench.app.focused, kind), "a place to type")
    harmless(bench, "as it was opened")
    return bench.app.focused


def refused(bench: Bench) -> bool:
    return any("nothing was put in" in note.message for note in bench.app._notifications)


@pytest.mark.parametrize("where", list(LINES))
async def test_what_is_pasted_into_a_line_is_text_on_one_line_or_is_refused(tmp_path: Path, where: str) -> None:
    async with workbench(tmp_path, real=True) as bench:
        await LINES[where](bench)
        line = await typing(bench, TextLine)
        line.value = ""
        line.post_message(Paste(f"one\r\ntwo\t{CONTROLS}{MARKUP}"))
        await bench.until(lambda: line.value, "it is there")
        harmless(bench, "pasted")
        assert line.value.startswith("one two ␛[?1049h") and line.value.endswith(MARKUP)
        assert line.cursor_position == len(line.value), "one types on behind it"
        line.post_message(Paste("x" * (LONGEST_LINE + 1)))
        await bench.until(lambda: refused(bench), "it is said")
        assert len(line.value) < LONGEST_LINE
        line.value = HOSTILE
        await bench.pilot.press("z", "home", "y")
        harmless(bench, "typed")


@pytest.mark.parametrize("where", list(BOXES))
async def test_what_is_pasted_into_a_box_is_text_or_is_refused(tmp_path: Path, where: str) -> None:
    async with workbench(tmp_path, real=True) as bench:
        await BOXES[where](bench)
        from tui.widgets.shown_area import ShownArea

        box = await typing(bench, ShownArea)
        before = box.text
        assert "␛[2J" in before and MARKUP in before, "what is edited is what is seen"
        box.post_message(Paste(f"one\r\ntwo{CONTROLS}"))
        await bench.until(lambda: box.text != before, "it is there")
        assert "one\ntwo␛[?1049h" in box.text
        harmless(bench, "pasted")
        before = box.text
        box.post_message(Paste("y" * LONGEST))
        await bench.until(lambda: refused(bench), "it is said")
        assert box.text == before
        await bench.pilot.press("z")
        await bench.pilot.pause()
        harmless(bench, "typed")


async def test_a_huge_answer_to_a_question_is_refused_whole(tmp_path: Path) -> None:
    async with workbench(tmp_path, real=True) as bench:
        await asked(bench)
        entry = await typing(bench, Entry)
        entry.post_message(Paste("z" * 1_000_000))
        await bench.until(lambda: refused(bench), "it is said")
        assert entry.text == ""


KEPT = {
    "a megabyte": "x" * 1_000_000,
    "hostile": HOSTILE,
    "a lone surrogate": "half \ud800 of it",
    "NUL": "a\0b\0",
    "many wide lines": f"{WIDE}\n" * 2_000,
}


@pytest.mark.parametrize("size", [(120, 40), (20, 5)])
@pytest.mark.parametrize("what", list(KEPT))
async def test_what_was_said_before_is_text_whatever_the_file_holds(
    tmp_path: Path, what: str, size: tuple[int, int]
) -> None:
    state = tmp_path / "data" / "state"
    state.mkdir(parents=True)
    kept, line = f"needle {KEPT[what]}", {"folder": str(tmp_path), "text": f"needle {KEPT[what]}"}
    (state / "said.jsonl").write_bytes(b"\0\0\0\n" + json.dumps(line).encode() + b"\n\xff\n")
    (state / "drafts.json").write_text(json.dumps({str(tmp_path): f"draft {kept}"}))
    async with workbench(tmp_path, real=True, size=size) as bench:
        await bench.until(lambda: bench.app.bench.composer.text.startswith("draft needle"), "the draft")
        harmless(bench, "the draft")
        # The draft that was cleared comes first, then the same as it was kept, then what was said.
        await bench.pilot.press("ctrl+c")
        for _ in range(12):
            await bench.pilot.press("up")
            harmless(bench, "on the way")
        assert "needle" in bench.app.bench.composer.text
        for keys in (("down", "ctrl+c"), ("ctrl+r", *"needle"), ("enter",), ("enter",)):
            await bench.pilot.press(*keys)
            await bench.pilot.pause()
            harmless(bench, str(keys))
        await bench.pilot.press("x", "ctrl+q")
        await bench.until(lambda: not bench.app.is_running, "gone")
        await bench.app.bench.keeping.settled()
    assert Said(state, tmp_path).load().draft.endswith("x")
