"""Background commands of a session: started, read on from, stopped; all ended when the session closes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from sandbox.backends.base import Process
from sandbox.operations import Outcome, PollBackground, Status

_MOST = 32


@dataclass(slots=True)
class _Background:
    process: Process
    ended: Callable[[Outcome], object]
    watch: asyncio.Task[None] | None = None
    overdue: bool = False


class Backgrounds:
    """At most 32 of them run at once. ``wall``: seconds after which one is stopped."""

    def __init__(self, wall: float) -> None:
        self._wall = wall
        self._all: dict[str, _Background] = {}

    def full(self) -> Outcome | None:
        """Why no more can be started now, if so."""
        running = [handle for handle, one in self._all.items() if one.process.exit_code is None]
        if len(running) < _MOST:
            return None
        return Outcome(
            Status.ERROR,
            error=f"{_MOST} commands run in the background already",
            suggestion=f"stop some first, for example {running[0]}",
        )

    def add(self, process: Process, ended: Callable[[Outcome], object]) -> Outcome:
        """Take over a started command; the outcome carries its handle. ``ended`` is told once how it ended."""
        handle = f"bg-{len(self._all) + 1}"
        background = _Background(process, ended)
        background.watch = asyncio.create_task(self._watch(background))
        self._all[handle] = background
        return Outcome(Status.OK, handle=handle)

    async def poll(self, op: PollBackground) -> Outcome:
        """Output from an offset on. The outcome has the handle while it runs and the exit code when it has ended."""
        background = self._all.get(op.handle)
        if background is None:
            known = ", ".join(self._all) or "there are none"
            return Outcome(Status.ERROR, error=f"no background command {op.handle!r}", suggestion=f"known: {known}")
        process = background.process
        if op.stop:
            await process.stop()
        elif op.wait > 0:
            await process.wait(op.wait)
        ended = process.exit_code is not None and await process.wait(None)
        seen = process.outcome()
        if background.overdue:
            seen = replace(seen, status=Status.TIMED_OUT, error=f"it ran for {self._wall:g} s and was stopped")
        elif op.stop:
            seen = replace(seen, status=Status.OK, error="")
        return replace(seen, data=seen.data[max(0, op.offset) :], handle="" if ended else op.handle)

    async def close(self) -> None:
        """End them all."""
        for background in self._all.values():
            await background.process.stop(0.25)
            if background.watch is not None:
                await background.watch
        self._all.clear()

    async def _watch(self, background: _Background) -> None:
        """Wait for the end in any case, so that what it did is looked at; stop it when its time is over."""
        if not await background.process.wait(self._wall):
            background.overdue = True
            await background.process.stop()
        background.ended(background.process.outcome())
