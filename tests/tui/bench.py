"""Opens the workbench over a fake engine, with stand-ins for the parts that have tests of their own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from textual.pilot import Pilot

from engine.options import EngineOptions
from tests.tui import placeholders
from tests.tui.fake_engine import FakeHandle
from tui import slots
from tui.app import WorkbenchApp


@dataclass
class Bench:
    app: WorkbenchApp
    pilot: Pilot[Any]
    engine: FakeHandle

    async def until(self, holds: Callable[[], Any], what: str = "") -> None:
        """Wait until a condition holds; fail when it does not within a generous time."""
        for _ in range(1500):
            await self.pilot.pause()
            if holds():
                return
            await asyncio.sleep(0.004)
        raise AssertionError(f"never happened: {what}")

    async def settled(self) -> None:
        """Wait until the screen shows what the engine said last."""
        await self.until(lambda: self.app.link.state is self.engine.state, "the newest state on screen")
        await self.pilot.pause()

    def screen_text(self) -> str:
        """What can be read on the screen now."""
        screen = self.app.screen
        lines = screen._compositor.render_strips(self.app.size)
        return "\n".join("".join(segment.text for segment in line).rstrip() for line in lines)


@asynccontextmanager
async def workbench(
    home: Path,
    *,
    size: tuple[int, int] = (120, 40),
    first_run: bool = False,
    engine: FakeHandle | None = None,
    transcript: Any = placeholders.Transcript,
    real: bool = False,
    **how: Any,
) -> AsyncIterator[Bench]:
    """``how`` goes to the app. A settings file is there unless ``first_run``. ``real``: no stand-in for any part."""
    options = how.pop("options", None) or EngineOptions(cwd=home)
    handle = engine or FakeHandle(options)
    with ExitStack() as patched:
        patched.enter_context(patch.dict("os.environ", {"AGENT_TUI_HOME": str(home)}))
        for slot, part in () if real else _stand_ins(transcript):
            patched.enter_context(patch.object(slots, slot, part))
        if not first_run:
            settings = home / "config" / "config.toml"
            settings.parent.mkdir(parents=True, exist_ok=True)
            settings.touch()
        app = WorkbenchApp(lambda _: handle, options, **how)
        async with app.run_test(size=size) as pilot:
            bench = Bench(app, pilot, handle)
            await bench.until(lambda: app.link.session, "a session is open")
            yield bench


def _stand_ins(transcript: Any) -> tuple[tuple[str, Callable[..., Any]], ...]:
    return (
        ("transcript", lambda: transcript),
        ("composer", lambda ask: placeholders.Composer()),
        ("dialog", lambda request, place, ask, whose: placeholders.Dialog(request, place, whose)),
        ("sessions", lambda ask, folder: placeholders.Sessions()),
    )
