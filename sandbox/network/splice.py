"""Moving bytes from socket to socket inside the kernel, for long transfers: about twice as fast, and the app's threads
are not held up by it. Linux only."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable

AVAILABLE = hasattr(os, "splice")

_SIZE = 256 * 1024
_FLAGS = getattr(os, "SPLICE_F_MOVE", 0) | getattr(os, "SPLICE_F_NONBLOCK", 0)


class Pipe:
    """The pipe that spliced bytes go through. Raises OSError when there are no descriptors left."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._out, self._in = os.pipe()
        try:
            fcntl.fcntl(self._in, fcntl.F_SETPIPE_SZ, _SIZE)
        except OSError:
            return  # this user has large pipes enough already: it stays small, and slower

    async def fill(self, source: int, limit: int | None) -> int:
        """Take at most ``limit`` bytes from a socket; 0 at its end."""
        size = _SIZE if limit is None else min(limit, _SIZE)
        while True:
            try:
                return os.splice(source, self._in, size, flags=_FLAGS)
            except BlockingIOError:
                await self._ready(source, self._loop.add_reader, self._loop.remove_reader)

    async def drain(self, sink: int, size: int) -> None:
        """Give ``size`` bytes, which are in the pipe, to a socket."""
        while size:
            try:
                size -= os.splice(self._out, sink, size, flags=_FLAGS)
            except BlockingIOError:
                await self._ready(sink, self._loop.add_writer, self._loop.remove_writer)

    def close(self) -> None:
        """Let go of the descriptors."""
        os.close(self._out)
        os.close(self._in)

    async def _ready(
        self, fd: int, add: Callable[[int, Callable[[], None]], None], remove: Callable[[int], bool]
    ) -> None:
        ready = asyncio.Event()
        add(fd, ready.set)
        try:
            await ready.wait()
        finally:
            remove(fd)
