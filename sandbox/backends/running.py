"""A started process tree: its output as it comes, its end, and ending it. The same for every backend here."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from sandbox.backends import watchdog
from sandbox.backends.base import OnOutput
from sandbox.backends.tree import Group
from sandbox.policy import Limits

_CHUNK = 64 * 1024
_PIPE = 1024 * 1024
_GRACE = 2.0
_SETTLE = 0.5

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a program.

    options: NUL-separated bwrap options (the mounts), read from the descriptor that takes the place of ``{options}`` in
    ``argv``. bwrap waits for them; without any it has an empty root and can start nothing. filter: system call filter.
    files: paths inside with the bytes they get.
    """

    argv: tuple[str, ...]
    cwd: str = "/"
    env: dict[str, str] = field(default_factory=dict)
    options: bytes | None = None
    filter: bytes = b""
    files: tuple[tuple[str, bytes], ...] = ()


class Running:
    """One process tree. ``output`` keeps the head up to the limit, ``total`` counts all of it."""

    def __init__(
        self, process: subprocess.Popen[bytes], group: Group, source: int, keep: int, on_output: OnOutput | None
    ) -> None:
        self.output = bytearray()
        self.total = 0
        self.seconds = 0.0
        self._started = time.monotonic()
        self._process, self._group = process, group
        self._source = source
        self._keep = keep
        self._on_output = on_output
        self._silent = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(source, self._read)
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
                self._group.kill()
            await self._settled()
        finally:
            self._close()
            let_go(self._group)

    async def _settled(self) -> None:
        try:
            await asyncio.wait_for(self._silent.wait(), _SETTLE)
        except TimeoutError:
            pass  # something that left the group (only without a sandbox) still holds the pipe
        await self._group.gone(_SETTLE)

    def _read(self) -> None:
        try:
            data = os.read(self._source, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._close()
            return
        self.total += len(data)
        room = self._keep - len(self.output)
        if room > 0:
            self.output += data[:room]
        if self._on_output is not None:
            self._on_output(data)

    def _close(self) -> None:
        if not self._silent.is_set():
            self._silent.set()
            self._loop.remove_reader(self._source)
            os.close(self._source)


def start(launch: Launch, limits: Limits, on_output: OnOutput | None = None) -> Running:
    """Start a program with stdin from /dev/null, on the running loop. Raises OSError when it cannot be started."""
    source, sink = os.pipe()
    os.set_blocking(source, False)
    try:
        with Starter(launch) as starter:
            process = subprocess.Popen(
                starter.argv,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                cwd=launch.cwd,
                env=launch.env,
                start_new_session=True,
                pass_fds=starter.inherited,
            )
            group = starter.admit(process.pid, limits)
    except BaseException:
        os.close(source)
        raise
    finally:
        os.close(sink)
    return Running(process, group, source, limits.output_bytes, on_output)


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

    Without ``options`` to wait for, limits are set a moment after the start.
    """
    with Starter(launch) as starter:
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
        return Started(process, starter.admit(process.pid, limits))


@dataclass(frozen=True, slots=True)
class Started:
    """A process and the group it leads."""

    process: asyncio.subprocess.Process
    group: Group


class Starter:
    """Pipes between us and bwrap: it waits for its options and filter, so nothing runs before `admit`."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self._feeds: list[tuple[int, bytes]] = []
        self.inherited: tuple[int, ...] = ()
        self._info: int | None = None
        argv = list(launch.argv)
        if launch.options is not None:
            extra = ["--info-fd", str(self._info_pipe())]
            if launch.filter:
                extra += ["--seccomp", str(self._feed(launch.filter))]
            made = [word for path, data in launch.files for word in ("--file", str(self._feed(data)), path)]
            argv[argv.index("{options}")] = str(self._feed(argv_bytes(extra) + launch.options + argv_bytes(made)))
        self.argv = tuple(argv)

    def __enter__(self) -> Starter:
        return self

    def __exit__(self, *_error: object) -> None:
        for fd in (*self.inherited, *(writer for writer, _ in self._feeds)):
            os.close(fd)
        if self._info is not None:
            os.close(self._info)

    def admit(self, pid: int, limits: Limits) -> Group:
        """Let the process go on: it is known to the watchdog and limited from here on."""
        watchdog.shared.add(pid)
        limit(pid, limits)
        for writer, data in self._feeds:
            if os.write(writer, data) != len(data):
                raise OSError(errno.E2BIG, "the command line is too long")
        info, self._info = self._info, None
        return Group(pid, info)

    def _feed(self, data: bytes) -> int:
        """A pipe that ``data`` fits into, so that writing neither blocks nor stops half-way."""
        reader, writer = os.pipe()
        if len(data) > _CHUNK:
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, min(_PIPE, 1 << len(data).bit_length()))
        os.set_blocking(writer, False)
        self._feeds.append((writer, data))
        self.inherited += (reader,)
        return reader

    def _info_pipe(self) -> int:
        self._info, writer = os.pipe()
        os.set_blocking(self._info, False)
        self.inherited += (writer,)
        return writer


def let_go(group: Group) -> None:
    """The group has ended."""
    watchdog.shared.remove(group.leader)
    group.close()


def limit(pid: int, limits: Limits) -> None:
    """Set resource limits on a process that has just been started; never above what we have ourselves. Linux only."""
    if sys.platform != "linux":
        return
    for which, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_DATA, limits.memory_bytes),
    ):
        try:
            hard = resource.prlimit(pid, which)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.prlimit(pid, which, (bound, bound))
        except ProcessLookupError:
            return


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


def argv_bytes(words: Sequence[str]) -> bytes:
    """NUL-terminated words. Raises ValueError when a word holds a NUL."""
    if any("\0" in word for word in words):
        raise ValueError("a NUL cannot be part of a command")
    return b"".join(os.fsencode(word) + b"\0" for word in words)
