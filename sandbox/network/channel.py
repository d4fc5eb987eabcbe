"""A connected socket with what has been read ahead of need; all I/O on the running loop, bytes copied once."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any

Count = Callable[[int], None]

_READ = 64 * 1024
_COPY = 256 * 1024


class Channel:
    """Owns its socket. Reading past the end raises EOFError; the other side going away raises OSError."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._socket = sock
        self._ahead = bytearray()
        self._loop = asyncio.get_running_loop()

    async def first(self) -> int:
        """The next byte, which stays to be read."""
        while not self._ahead:
            await self._fill()
        return self._ahead[0]

    async def exactly(self, size: int) -> bytes:
        """The next ``size`` bytes."""
        while len(self._ahead) < size:
            await self._fill()
        return self._take(size)

    async def until(self, end: bytes, limit: int, check: Callable[[bytes], None] | None = None) -> bytes:
        """Bytes up to and with ``end``. Raises OverflowError after ``limit`` bytes without it.

        check: sees what there is after each read, so that a message that can never be right is not waited for.
        """
        while (at := self._ahead.find(end)) < 0:
            if check is not None:
                check(bytes(self._ahead[: limit + len(end)]))
            if len(self._ahead) > limit:
                raise OverflowError
            await self._fill()
        if at + len(end) > limit:
            raise OverflowError
        return self._take(at + len(end))

    async def send(self, data: bytes) -> None:
        """All of it."""
        await self._loop.sock_sendall(self._socket, data)

    async def copy(self, sink: Channel, count: Count, size: int | None = None) -> None:
        """Move ``size`` bytes to ``sink``, or all there is to the end. ``count`` is told before each part goes.

        Raises EOFError when the end comes before ``size`` bytes.
        """
        left = size
        while self._ahead and left != 0:
            part = self._take(len(self._ahead) if left is None else min(left, len(self._ahead)))
            count(len(part))
            await sink.send(part)
            left = None if left is None else left - len(part)
        if left == 0:
            return
        buffer = memoryview(bytearray(_COPY if left is None else min(left, _COPY)))
        while left != 0:
            room = buffer if left is None else buffer[: min(left, len(buffer))]
            read = await self._loop.sock_recv_into(self._socket, room)
            if not read:
                break
            count(read)
            await self._loop.sock_sendall(sink._socket, buffer[:read])
            await asyncio.sleep(0)  # a fast transfer never waits for a socket, and would let nobody else run
            left = None if left is None else left - read
        if left:
            raise EOFError

    async def linger(self, size: int, seconds: float) -> None:
        """Say that nothing more comes, and read on a little: closing on unread bytes would lose the last answer."""
        self.end()
        try:
            async with asyncio.timeout(seconds):
                while size > 0 and (data := await self._loop.sock_recv(self._socket, _READ)):
                    size -= len(data)
        except (TimeoutError, OSError):
            return

    def end(self) -> None:
        """Nothing more will be sent."""
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            return  # the other side has gone already

    def close(self) -> None:
        """Let go of the socket; nobody may be waiting on it."""
        self._socket.close()

    def _take(self, size: int) -> bytes:
        part = bytes(self._ahead[:size])
        del self._ahead[:size]
        return part

    async def _fill(self) -> None:
        data = await self._loop.sock_recv(self._socket, _READ)
        if not data:
            raise EOFError
        self._ahead += data


async def together(*work: Coroutine[Any, Any, None]) -> None:
    """Run all to their end; the first that fails ends the others, and its error is raised."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
