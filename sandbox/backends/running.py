"""A started process tree: its output as it comes, its end, and ending it. The same for every backend here."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sandbox.backends.base import OnOutput
from sandbox.backends.starting import Launch as Launch
from sandbox.backends.starting import Starter as Starter
from sandbox.backends.starting import argv_bytes as argv_bytes
from sandbox.backends.starting import let_go as let_go
from sandbox.backends.tree import Group
from sandbox.limits.hits import Hit, Kind
from sandbox.limits.meter import FIRST_LOOK, LONGEST_PAUSE, Meter
from sandbox.policy import Limits

_CHUNK = 64 * 1024
_GRACE = 2.0
_SETTLE = 0.5

T = TypeVar("T")


class Running:
    """One process tree. ``output`` keeps the head up to the limit, ``total`` counts all of it. ``hit``: the limit it
    reached, if any."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        group: Group,
        source: int,
        limits: Limits,
        on_output: OnOutput | None,
        writes: Path | None,
    ) -> None:
        self.output = bytearray()
        self.total = 0
        self.seconds = 0.0
        self.hit: Hit | None = None
        self._started = time.monotonic()
        self._process, self._group = process, group
        self._source = source
        self._limits = limits
        self._on_output = on_output
        self._silent = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(source, self._read)
        if group.waits and group.info is not None:
            self._loop.add_reader(group.info, self._begin, group.info)
        first = group.first if group.info is not None else lambda: group.leader
        self._meter = Meter(limits, first, group.allotment, writes)
        self._pause = FIRST_LOOK
        self._next: asyncio.TimerHandle = self._loop.call_later(self._pause, self._look)
        self._looking: asyncio.Future[Hit | None] | None = None
        self.ended = self._loop.create_task(self._finish())

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.returncode if self.ended.done() else None

    async def wait(self, timeout: float | None) -> bool:
        """Wait for the end; False when ``timeout`` seconds passed first. Does not end anything."""
        done, _ = await asyncio.wait({self.ended}, timeout=timeout)
        return bool(done)

    async def stop(self, grace: float = _GRACE) -> None:
        """End the tree: SIGTERM to its processes, SIGKILL after ``grace`` seconds. Returns when all are gone."""
        if not self.ended.done():
            self._group.signal(signal.SIGTERM)
            if not await self.wait(grace):
                self._group.kill()
        await asyncio.wait({self.ended})

    async def _finish(self) -> None:
        """The main process ended: end the rest, take what is left of the output, and let go."""
        try:
            try:
                await exit_of(self._process)
            finally:
                self.seconds = time.monotonic() - self._started
                self._next.cancel()
                self._meter.stop_looking()
                self._group.kill()
            await self._settled()
        finally:
            self._close()
            if self._group.waits and self._group.info is not None:
                self._loop.remove_reader(self._group.info)
            let_go(self._group)

    async def _settled(self) -> None:
        try:
            await asyncio.wait_for(self._silent.wait(), _SETTLE)
        except TimeoutError:
            pass  # something that left the group (only without a sandbox) still holds the pipe
        await self._group.gone(_SETTLE)
        if self._looking is not None:
            await asyncio.wait({self._looking})
        self.hit = self.hit or self._meter.end()

    def _begin(self, info: int) -> None:
        """bwrap has made its first process, which waits to be limited."""
        self._loop.remove_reader(info)
        self._group.open_gate(self._limits)

    def _look(self) -> None:
        """Measure on another thread; the next time when that is done."""
        self._looking = self._loop.run_in_executor(None, self._meter.look)
        self._looking.add_done_callback(self._seen)

    def _seen(self, looked: asyncio.Future[Hit | None]) -> None:
        self._looking = None
        if self._process.returncode is not None or self.ended.done() or looked.cancelled():
            return
        hit = looked.result()
        if hit is not None:
            self._stop_for(hit)
            return
        self._pause = min(self._pause * 1.5, LONGEST_PAUSE)
        self._next = self._loop.call_later(self._pause, self._look)

    def _stop_for(self, hit: Hit) -> None:
        if self.hit is None:
            self.hit = hit
            self._group.kill()

    def _read(self) -> None:
        try:
            data = os.read(self._source, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._close()
            return
        self.total += len(data)
        room = self._limits.output_bytes - len(self.output)
        if room > 0:
            self.output += data[:room]
        if self.total > self._limits.printed_bytes:
            self._stop_for(Hit(Kind.OUTPUT, stopped=True))
        if self._on_output is not None:
            self._on_output(data)

    def _close(self) -> None:
        if not self._silent.is_set():
            self._silent.set()
            self._loop.remove_reader(self._source)
            os.close(self._source)


def start(launch: Launch, limits: Limits, on_output: OnOutput | None = None, writes: Path | None = None) -> Running:
    """Start a program with stdin from /dev/null, on the running loop. ``writes``: the folder on disk it may write.

    Raises OSError when it cannot be started.
    """
    source, sink = os.pipe()
    os.set_blocking(source, False)
    try:
        with Starter(launch, limits) as starter:
            process = starter.start(stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)
            group = starter.admit(process.pid)
    except BaseException:
        os.close(source)
        raise
    finally:
        os.close(sink)
    return Running(process, group, source, limits, on_output, writes)


async def exit_of(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process without blocking the loop, on whatever thread the loop runs."""
    loop = asyncio.get_running_loop()
    if sys.platform != "linux":
        return await loop.run_in_executor(None, process.wait)
    ended = asyncio.Event()
    fd = os.pidfd_open(process.pid)
    loop.add_reader(fd, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(fd)
        os.close(fd)
    return process.wait()


async def spawn(launch: Launch, limits: Limits, *, stdin: int, stdout: int, stderr: int) -> Started:
    """Start a process to talk to, in a session of its own; the watchdog and the limits come before it does anything.

    It is our own code: the limits hold for each of its processes. Without ``options`` to wait for, they are set a
    moment after the start.
    """
    with Starter(launch, limits, together=False) as starter:
        process = await asyncio.create_subprocess_exec(
            *starter.argv,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=launch.cwd,
            env=launch.env,
            start_new_session=True,
            pass_fds=starter.inherited,
        )
        return Started(process, starter.admit(process.pid))


@dataclass(frozen=True, slots=True)
class Started:
    """A process and the group it leads."""

    process: asyncio.subprocess.Process
    group: Group


async def uncancelled(work: Awaitable[T]) -> T:
    """Await ``work`` to its end even when the awaiting task is cancelled meanwhile; then raise the cancellation."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            if task.cancelled():
                raise
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return task.result()
