"""Looks at a running command several times a second, for the limits that hold for all its processes together.

The kernel counts what it can (`Allotment`); the rest is read from /proc and from the file system. What is over a limit
is told once; the caller stops it. Between two looks a command may go over by what it can use in that time.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sandbox.limits import processes
from sandbox.limits.allotment import Allotment, Counts
from sandbox.limits.controllers import CPU, MEMORY, PIDS
from sandbox.limits.disk import Disk, Held
from sandbox.limits.hits import Hit, Kind
from sandbox.policy import Limits

# Seconds until the first look, and at most between two.
FIRST_LOOK = 0.05
LONGEST_PAUSE = 0.25

# The first process of a sandbox is ours: it is found with the others, and does not count against the limit.
_OWN_PROCESSES = 1


class Meter:
    """Of one command. ``first``: its first process, when there is one. ``folder``: what it may write on disk."""

    def __init__(
        self, limits: Limits, first: Callable[[], int | None], allotment: Allotment | None, folder: Path | None
    ) -> None:
        self._limits, self._first, self._allotment = limits, first, allotment
        self._holds = allotment.holds if allotment is not None else frozenset[str]()
        self._over = False
        self._full = False
        most = Held(limits.written_bytes, limits.files)
        self._disk = Disk(folder, most, lambda: self._over) if folder is not None else None

    def look(self) -> Hit | None:
        """The limit that is exceeded now, if any. May take a while and belongs on a thread; one look at a time."""
        kind = self._counted() or self._found() or self._written()
        return Hit(kind, stopped=True) if kind is not None else None

    def end(self) -> Hit | None:
        """The command has ended: what the kernel refused it or killed it for."""
        self._over = True
        counts = self._allotment.counts() if self._allotment is not None else Counts()
        if counts.killed:
            return Hit(Kind.MEMORY, stopped=True)
        return Hit(Kind.PROCESSES) if counts.refused or self._full else None

    def stop_looking(self) -> None:
        """A look under way ends soon."""
        self._over = True

    def _counted(self) -> Kind | None:
        if self._allotment is None:
            return None
        cpu = self._allotment.counts().cpu
        return Kind.CPU if cpu is not None and cpu > self._limits.cpu_seconds else None

    def _found(self) -> Kind | None:
        """What no cgroup holds, from /proc."""
        if self._holds >= {CPU, MEMORY, PIDS}:
            return None
        pids = self._pids()
        used = processes.usage(pids)
        if CPU not in self._holds and used.cpu > self._limits.cpu_seconds:
            return Kind.CPU
        if PIDS not in self._holds:
            most = self._limits.processes + _OWN_PROCESSES
            self._full = self._full or used.tasks >= most
            if used.tasks > most:
                return Kind.PROCESSES
        room = self._limits.memory_bytes
        if MEMORY not in self._holds and used.resident > room and processes.proportional(pids) > room:
            return Kind.MEMORY
        return None

    def _written(self) -> Kind | None:
        held = self._disk.grown(self._pids) if self._disk is not None else None
        if held is None:
            return None
        return Kind.WRITTEN if held.bytes > self._limits.written_bytes else Kind.FILES

    def _pids(self) -> list[int]:
        first = self._first()
        return processes.tree(first) if first is not None else []
