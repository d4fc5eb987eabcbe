"""What the engine says is always shown, however little time is left until the next frame."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from engine import events as ev
from tests.tui.bench import Bench, workbench


@pytest.mark.parametrize("left", [5e-324, 1e-9, 1e-7])
async def test_a_wait_shorter_than_the_clock_can_tell_loses_nothing(left: float, tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        waits = iter([left, left])
        bench.app.link.bridge.wait = lambda: next(waits, 0.0)  # type: ignore[method-assign]
        bench.engine.tell(ev.UserMessage(text="Fix the login test"), ev.RunStarted())
        await bench.settled()
        assert bench.app.link.state is not None
        assert bench.app.link.state.goal == "Fix the login test"


def seen(bench: Bench, piece: ev.StreamDelta) -> bool:
    return piece in bench.app.bench.transcript.events


async def test_what_streams_draws_nothing_but_the_transcript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with workbench(tmp_path) as bench:
        bench.engine.tell(ev.UserMessage(text="Fix the login test"), ev.RunStarted(), ev.TurnStarted(turn=1, model="m"))
        await bench.settled()
        shown: list[object] = []
        for part in (bench.app.bench.header, bench.app.bench.task_pane, bench.app.bench.cache_pane):
            monkeypatch.setattr(part, "show", shown.append)
        for number in range(5):
            piece = ev.StreamDelta(session="s1", turn=1, index=0, kind="text", text=f"word {number} ")
            bench.engine.show(piece)
            await bench.until(partial(seen, bench, piece), "it is there")
        assert shown == []
        bench.engine.tell(ev.AssistantMessage(turn=1, model="m", blocks=(ev.TextBlock(text="done"),)))
        await bench.until(lambda: len(shown) == 3, "the state is shown")
