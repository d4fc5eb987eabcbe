"""Starting a program: bwrap waits for its options, so the watchdog and every limit come before it does anything."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from sandbox.backends import watchdog
from sandbox.backends.tree import Group
from sandbox.limits import rlimits
from sandbox.limits.allotment import Allotments
from sandbox.limits.controllers import PIDS
from sandbox.policy import Limits

_CHUNK = 64 * 1024
_PIPE = 1024 * 1024

allotments = Allotments(watch=watchdog.shared.remove_at_the_end)


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


class Starter:
    """Pipes between us and bwrap, and the limits. ``together``: they hold for all processes of the command, not only
    for each: then start it with `start`."""

    def __init__(self, launch: Launch, limits: Limits, *, together: bool = True) -> None:
        self.launch = launch
        self._limits = limits
        self._feeds: list[tuple[int, bytes]] = []
        self.inherited: tuple[int, ...] = ()
        self._info: int | None = None
        self._gate: int | None = None
        self._allotment = allotments.take(limits) if together else None
        argv = list(launch.argv)
        if launch.options is not None:
            extra = ["--info-fd", str(self._info_pipe())]
            if (
                together
                and rlimits.holds_processes()
                and PIDS not in (self._allotment.holds if self._allotment else ())
            ):
                extra += ["--block-fd", str(self._gate_pipe())]
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
        for kept in (self._info, self._gate):
            if kept is not None:
                os.close(kept)
        if self._allotment is not None:
            allotments.give_back(self._allotment)

    def start(
        self, stdin: int | None = None, stdout: int | None = None, stderr: int | None = None
    ) -> subprocess.Popen[bytes]:
        """Start the process in a session of its own, where its cgroups are. Raises OSError."""

        def begin() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                self.argv,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=self.launch.cwd,
                env=self.launch.env,
                start_new_session=True,
                pass_fds=self.inherited,
            )

        return self._allotment.start(begin) if self._allotment is not None else begin()

    def admit(self, pid: int) -> Group:
        """Let the process go on: it is known to the watchdog and limited from here on."""
        watchdog.shared.add(pid)
        rlimits.limit(pid, self._limits)
        if self._allotment is not None:
            self._allotment.admit(pid)
        for writer, data in self._feeds:
            # A bwrap that is gone already has said why.
            with suppress(BrokenPipeError):
                if os.write(writer, data) != len(data):
                    raise OSError(errno.E2BIG, "the command line is too long")
        group = Group(pid, self._info, self._gate, self._allotment)
        self._info, self._gate, self._allotment = None, None, None
        return group

    def _counts_itself(self) -> bool:
        """Whether the sandbox's own user namespace has to hold the number of processes, for want of a cgroup."""
        held = self._allotment.holds if self._allotment is not None else frozenset[str]()
        return PIDS not in held and rlimits.holds_processes()

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

    def _gate_pipe(self) -> int:
        reader, self._gate = os.pipe()
        self.inherited += (reader,)
        return reader


def let_go(group: Group) -> None:
    """The group has ended."""
    watchdog.shared.remove(group.leader)
    if group.allotment is not None:
        allotments.give_back(group.allotment)
    group.close()


def argv_bytes(words: Sequence[str]) -> bytes:
    """NUL-terminated words. Raises ValueError when a word holds a NUL."""
    if any("\0" in word for word in words):
        raise ValueError("a NUL cannot be part of a command")
    return b"".join(os.fsencode(word) + b"\0" for word in words)
