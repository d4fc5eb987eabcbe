"""Pausing a run: it stands still before its next turn until a person lets it go on, for some turns or without end.

What is in force is in the log and so in the task state, which alone decides: it survives a restart, and a pause that
comes while a run is being let go on is a pause.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from engine import events as ev
from engine.limits import WorkClock
from engine.session import Session


class Pausing:
    """The pause of one session. ``clock``: that of the present run; it stands still while the run does."""

    def __init__(self, session: Session, clock: Callable[[], WorkClock]) -> None:
        self._session = session
        self._clock = clock
        self._moved = asyncio.Event()

    def pause(self) -> None:
        """Stand still before the next turn, whenever that would come."""
        if not self._session.state.paused:
            self._session.append(ev.Paused())

    def go_on(self, turns: int) -> None:
        """Let so many turns happen and stand still again; 0 or less: go on without end."""
        state = self._session.state
        turns = max(0, turns)
        if state.paused or state.steps != turns:
            self._session.append(ev.Resumed(turns=turns))
            self._moved.set()

    async def passed(self) -> None:
        """Return at once, or when a person lets the run go on. Raises CancelledError when it is interrupted."""
        if not self._session.state.paused:
            return
        with self._clock().paused():
            while self._session.state.paused:
                self._moved.clear()
                await self._moved.wait()
