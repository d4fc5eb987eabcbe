"""Waiting that an impatient person cannot cut short."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any


async def ended(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Wait until all have ended, through further interrupts: a second Esc must not lose a result."""
    waiting = set(tasks)
    while any(not task.done() for task in waiting):
        try:
            await asyncio.wait(waiting)
        except asyncio.CancelledError:
            continue
