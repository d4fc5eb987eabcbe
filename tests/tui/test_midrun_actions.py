"""Keys for a run under way reach the engine: pause, step, go on, one's own command."""

from __future__ import annotations

from pathlib import Path

from engine import events as ev
from engine.commands import GoOn, Pause, RunCommand, SendMessage
from tests.tui.bench import workbench
from tests.tui.placeholders import Composer


async def test_pause_step_and_go_on_by_key(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.engine.tell(ev.SessionStarted(cwd="/s", model="a/b", app_version="0"), ev.UserMessage(text="do it"))
        await bench.settled()
        await bench.pilot.press("f8")
        await bench.until(lambda: bench.engine.commands(Pause), "it is paused")
        bench.engine.tell(ev.RunStarted(), ev.Paused())
        await bench.settled()
        assert "‖ paused" in bench.screen_text()
        assert "F9 step" in bench.screen_text()
        await bench.pilot.press("f9", "f8")
        await bench.until(lambda: len(bench.engine.commands(GoOn)) == 2, "it goes on")
        assert bench.engine.commands(GoOn) == [GoOn("s1", 1), GoOn("s1")]


async def test_a_line_with_an_exclamation_mark_is_a_command(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.app.bench.composer.post_message(Composer.Submitted("!ls -l", "steer"))
        await bench.until(lambda: bench.engine.commands(RunCommand), "it runs")
        assert bench.engine.commands(RunCommand) == [RunCommand("s1", "ls -l")]
        assert not bench.engine.commands(SendMessage)
