"""The first frame waits for nothing: what is slow comes after it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from rich.text import Text

from engine import events as ev
from engine.handle import EngineHandle
from engine.options import EngineOptions
from tests.tui import placeholders
from tests.tui.bench import Bench, workbench
from tests.tui.fake_engine import FakeHandle
from tests.tui.test_app_session import begin
from tui import slots
from tui.app import WorkbenchApp
from tui.widgets.task import TaskPane

HEAVY = ("pydantic", "sqlite3", "sqlite_utils", "httpx", "anthropic", "openai", "tree_sitter", "markdown_it", "tomlkit")


def test_importing_the_app_loads_nothing_heavy() -> None:
    code = f"import sys, tui.app, tui.screens.workbench; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


async def test_the_engine_is_made_after_the_first_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    painted: list[str] = []
    made: list[FakeHandle] = []

    def factory(options: EngineOptions) -> EngineHandle:
        painted.append(Bench(app, pilot, FakeHandle()).screen_text())
        made.append(FakeHandle(options))
        return made[0]

    with (
        patch.object(slots, "transcript", lambda: placeholders.Transcript),
        patch.object(slots, "composer", lambda ask: placeholders.Composer()),
    ):
        app = WorkbenchApp(factory, EngineOptions(cwd=tmp_path), task="x")
        async with app.run_test(size=(120, 40)) as pilot:
            await Bench(app, pilot, FakeHandle()).until(lambda: app.link.session, "a session")
    (frame,) = painted
    for words in ("starting", "TASK", "TODO", "CACHE", "APPROVALS", "F1 help"):
        assert words in frame
    assert made[0].started


async def test_an_engine_that_cannot_be_made_is_said_on_the_screen(tmp_path: Path) -> None:
    def factory(_: EngineOptions) -> EngineHandle:
        raise OSError("no [/] room")

    with (
        patch.dict("os.environ", {"AGENT_TUI_HOME": str(tmp_path)}),
        patch.object(slots, "transcript", lambda: placeholders.Transcript),
        patch.object(slots, "composer", lambda ask: placeholders.Composer()),
    ):
        app = WorkbenchApp(factory, EngineOptions(cwd=tmp_path), task="x")
        async with app.run_test(size=(120, 40)) as pilot:
            bench = Bench(app, pilot, FakeHandle())
            await bench.until(lambda: "no [/] room" in bench.screen_text(), "the banner")
            assert app.is_running


async def test_a_pane_out_of_sight_draws_nothing(tmp_path: Path) -> None:
    drawn: list[int] = []
    body = TaskPane.body

    def counted(self: TaskPane, width: int) -> list[Text]:
        drawn.append(width)
        return body(self, width)

    async with workbench(tmp_path, size=(80, 24)) as bench:
        with patch.object(TaskPane, "body", counted):
            begin(bench.engine)
            await bench.settled()
            assert not drawn
            await bench.pilot.press("alt+2")
            await bench.until(lambda: "0 / 20" in bench.screen_text() or "1 / 20" in bench.screen_text(), "the task")
            assert drawn


async def test_a_burst_of_events_is_shown_in_few_batches(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        await bench.settled()
        batches: list[int] = []
        feed = bench.app.bench.feed

        def counted(events: Any) -> None:
            batches.append(len(events))
            feed(events)

        bench.app.bench.feed = counted  # type: ignore[method-assign]
        for n in range(5000):
            bench.engine.show(ev.StreamDelta(session="s1", turn=1, index=0, kind="text", text=f"{n} "))
        bench.engine.tell(ev.Notice(level="info", text="end"))
        await bench.settled()
        assert sum(batches) <= 4 * len(batches)
        assert len(batches) <= 3
