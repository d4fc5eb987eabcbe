"""What the engine says is always shown, however little time is left until the next frame."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import events as ev
from tests.tui.bench import workbench


@pytest.mark.parametrize("left", [5e-324, 1e-9, 1e-7])
async def test_a_wait_shorter_than_the_clock_can_tell_loses_nothing(left: float, tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        waits = iter([left, left])
        bench.app.link.bridge.wait = lambda: next(waits, 0.0)  # type: ignore[method-assign]
        bench.engine.tell(ev.UserMessage(text="Fix the login test"), ev.RunStarted())
        await bench.settled()
        assert bench.app.link.state is not None
        assert bench.app.link.state.goal == "Fix the login test"
