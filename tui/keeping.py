"""What the screen remembers is written beside it, one thing after another, so that the newest word is the last one."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Keeping:
    """One thread, made with the first thing to write; it has no work while nobody changes anything. What was asked
    for is done before the process ends. ``say`` hears once, in the caller's loop, why something could not be kept."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._thread: ThreadPoolExecutor | None = None
        self._complained = False

    def do(self, write: Callable[[], object]) -> None:
        """Have ``write`` called, after all that was asked for before."""
        loop = asyncio.get_running_loop()
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "keeping")
        self._thread.submit(write).add_done_callback(lambda done: self._done(done, loop))

    async def settled(self) -> None:
        """Wait until all that was asked for is done."""
        if self._thread is not None:
            await asyncio.wrap_future(self._thread.submit(lambda: None))

    def _done(self, done: Future[object], loop: asyncio.AbstractEventLoop) -> None:
        error = done.exception()
        if error is not None and not self._complained and not loop.is_closed():
            self._complained = True
            loop.call_soon_threadsafe(self._say, f"Not kept for next time: {error or type(error).__name__}")
