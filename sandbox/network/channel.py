"""A connected socket with what has been read ahead of need; all I/O on the running loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any

from sandbox.network.splice import AVAILABLE, Pipe

Count = Callable[[int], None]

_READ = 64 * 1024
_COPY = 64 * 1024
_LONG = 512 * 1024
_LINGER_BYTES, _LINGER_SECONDS = 16 * 1024 * 1024, 1.0


class Left:
    """How much is still to be copied. size: None for all there is. more: whether it goes on."""

    def __init__(self, size: int | None, count: Count) -> None:
        self.size = size
        self.more = size != 0
        self._count = count

    def of(self, most: int) -> int:
        """At most so much now."""
        return most if self.size is None else min(most, self.size)

    def take(self, read: int) -> None:
        """So much has been read; nothing is the end."""
        if read:
            self._count(read)
        if self.size is not None:
            self.size -= read
        self.more = read > 0 and self.size != 0


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
        left = Left(size, count)
        while self._ahead and (part := self._take(left.of(len(self._ahead)))):
            left.take(len(part))
            await sink.send(part)
        await self._copy_buffered(sink, left, _LONG if AVAILABLE else None)
        if AVAILABLE and left.more:
            await self._copy_spliced(sink, left)
        if size is not None and left.size:
            raise EOFError

    async def _copy_buffered(self, sink: Channel, left: Left, limit: int | None) -> None:
        """Through a buffer of ours, until ``limit`` bytes have gone."""
        buffer = memoryview(bytearray(left.of(_COPY)))
        while left.more and (limit is None or limit > 0):
            read = await self._loop.sock_recv_into(self._socket, buffer[: left.of(_COPY)])
            left.take(read)
            await self._loop.sock_sendall(sink._socket, buffer[:read])
            await asyncio.sleep(0)  # a fast transfer never waits for a socket, and would let nobody else run
            limit = None if limit is None else limit - read

    async def _copy_spliced(self, sink: Channel, left: Left) -> None:
        pipe = Pipe()
        try:
            while left.more:
                read = await pipe.fill(self._socket.fileno(), left.size)
                left.take(read)
                await pipe.drain(sink._socket.fileno(), read)
                await asyncio.sleep(0)
        finally:
            pipe.close()

    async def linger(self) -> None:
        """Say that nothing more comes, and read on a little: closing on unread bytes would lose the last answer."""
        self.end()
        size = _LINGER_BYTES
        try:
            async with asyncio.timeout(_LINGER_SECONDS):
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
