"""One cgroup per command and controller, limited before anything runs in it. Kept open, and used again.

Moving a process from outside costs the kernel some 10 ms (it waits until no thread anywhere forks). With version 1 a
thread may move *itself* at no such price, and what it starts is born where it stands: so one thread enters, starts the
command and leaves. Only that thread moves; memory is charged to the process it belongs to, never to the command.
Version 2 has no such door; there the process is moved from outside while bwrap waits for its options.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TypeVar

from sandbox.limits import controllers, owners
from sandbox.limits.controllers import CPU, MEMORY, PIDS, Controller
from sandbox.policy import Limits

T = TypeVar("T")

_IDLE = 4
# bwrap's own two processes and the thread that enters count as well.
_OWN_PROCESSES = 3

# By version: the files that take the limit, first to last; those that a kernel lacks are left out.
_MEMORY_FILES = {1: ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"), 2: ("memory.max",)}
_COUNTS = {
    (MEMORY, 1): "memory.oom_control",
    (MEMORY, 2): "memory.events",
    (PIDS, 1): "pids.events",
    (PIDS, 2): "pids.events",
    (CPU, 1): "cpuacct.usage",
    (CPU, 2): "cpu.stat",
}


@dataclass(frozen=True, slots=True)
class Counts:
    """Since the command began: processes killed for memory, forks refused, CPU seconds. None: not counted here."""

    killed: int | None = None
    refused: int | None = None
    cpu: float | None = None


@dataclass(slots=True)
class _Cgroup:
    controller: Controller
    folder: Path
    enter: int
    counts: int
    before: float = 0.0

    def count(self) -> float:
        """Its counter as the kernel has it, since the cgroup was made."""
        text = os.pread(self.counts, 4096, 0).decode()
        if self.controller.name == CPU:
            return int(text) / 1e9 if self.controller.version == 1 else _field(text, "usage_usec") / 1e6
        return _field(text, "oom_kill" if self.controller.name == MEMORY else "max")


def _field(text: str, name: str) -> int:
    return next((int(line.split()[1]) for line in text.splitlines() if line.split()[:1] == [name]), 0)


class Allotment:
    """The cgroups of one command. Give it back with `Allotments.give_back` when the command has ended."""

    def __init__(self, cgroups: tuple[_Cgroup, ...], homes: tuple[int, ...], key: tuple[int, int]) -> None:
        self.key = key
        self._cgroups = cgroups
        self._homes = homes
        self._v1 = tuple(one for one in cgroups if one.controller.version == 1)
        self._v2 = tuple({one.folder: one for one in cgroups if one.controller.version == 2}.values())
        self.holds = frozenset(one.controller.name for one in cgroups)

    def start(self, work: Callable[[], T]) -> T:
        """Run ``work``, on a thread of its own, so that the process it starts is born inside."""
        return _doorkeeper().submit(self._inside, work).result() if self._v1 else work()

    def admit(self, pid: int) -> None:
        """Take in a process that has been started and still waits (version 2). Raises OSError."""
        for one in self._v2:
            os.write(one.enter, str(pid).encode())

    def counts(self) -> Counts:
        """What has been counted since the command began."""
        found = {one.controller.name: one.count() - one.before for one in self._cgroups}
        killed, refused = found.get(MEMORY), found.get(PIDS)
        return Counts(
            None if killed is None else int(killed), None if refused is None else int(refused), found.get(CPU)
        )

    def begin(self) -> None:
        """Count from here on."""
        for one in self._cgroups:
            one.before = one.count()

    def clear(self) -> bool:
        """End whatever is still inside; whether nothing was. Every controller has the same processes in it."""
        return not owners.kill_all(self._cgroups[0].folder)

    def close(self) -> list[Path]:
        """Let go of the descriptors; the folders to remove."""
        for one in self._cgroups:
            os.close(one.counts)
            os.close(one.enter)
        return [one.folder for one in (*self._v1, *self._v2)]

    def _inside(self, work: Callable[[], T]) -> T:
        try:
            for one in self._v1:
                os.write(one.enter, b"0")
            return work()
        finally:
            for home in self._homes:
                os.write(home, b"0")


@cache
def _doorkeeper() -> ThreadPoolExecutor:
    """One thread for the life of the app: what bwrap ties its own life to is the thread that started it."""
    return ThreadPoolExecutor(1, thread_name_prefix="sandbox-start")


@dataclass
class Allotments:
    """All of this app. Thread-safe. ``watch`` is told each folder that must be gone when the app is."""

    watch: Callable[[Path], None]
    detect: Callable[[], tuple[Controller, ...]] = controllers.detect
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _idle: list[Allotment] = field(default_factory=list)
    _found: tuple[Controller, ...] | None = None
    _homes: tuple[int, ...] = ()
    _made: int = 0
    _left: list[Path] = field(default_factory=list)

    def found(self) -> tuple[Controller, ...]:
        """The controllers in use here, looked for once; folders a killed app left are swept on the way."""
        with self._lock:
            return self._look()

    def take(self, limits: Limits) -> Allotment | None:
        """Cgroups for a command with these limits; None where there are none to be had."""
        key = limits.memory_bytes, limits.processes
        with self._lock:
            if not self._look():
                return None
            kept = next((one for one in self._idle if one.key == key), None)
            if kept is not None:
                self._idle.remove(kept)
            try:
                allotment = kept or self._make(key)
            except OSError:
                # A controller that was there and is not any more: the other layers hold.
                self._found = ()
                return None
        allotment.begin()
        return allotment

    def give_back(self, allotment: Allotment) -> None:
        """The command has ended. The cgroups serve the next one, unless something is left in them."""
        empty = allotment.clear()
        with self._lock:
            if empty:
                self._idle.append(allotment)
            else:
                self._left += allotment.close()
            while len(self._idle) > _IDLE:
                self._left += self._idle.pop(0).close()
            self._left = [folder for folder in self._left if not _removed(folder)]

    def _look(self) -> tuple[Controller, ...]:
        if self._found is None:
            self._found = self.detect()
            for base in {one.base for one in self._found}:
                owners.sweep(base)
                self.watch(base / owners.own_name())
            try:
                self._homes = tuple(os.open(one.home / "tasks", os.O_WRONLY) for one in self._found if one.version == 1)
            except OSError:
                self._found = ()
        return self._found

    def _make(self, key: tuple[int, int]) -> Allotment:
        self._made += 1
        made: list[_Cgroup] = []
        try:
            for controller in self._look():
                made.append(_cgroup(controller, str(self._made), key))
        except OSError:
            Allotment(tuple(made), (), key).close()
            raise
        return Allotment(tuple(made), self._homes, key)


def _cgroup(controller: Controller, name: str, key: tuple[int, int]) -> _Cgroup:
    """Make one and limit it. Raises OSError."""
    top = controller.base / owners.own_name()
    folder = top / name
    top.mkdir(exist_ok=True)
    if controller.version == 2:
        (top / "cgroup.subtree_control").write_text(f"+{controller.name}")
    folder.mkdir(exist_ok=True)
    _limit(controller, folder, *key)
    enter = os.open(folder / ("tasks" if controller.version == 1 else "cgroup.procs"), os.O_WRONLY)
    try:
        counts = os.open(folder / _COUNTS[controller.name, controller.version], os.O_RDONLY)
    except OSError:
        os.close(enter)
        raise
    return _Cgroup(controller, folder, enter, counts)


def _limit(controller: Controller, folder: Path, memory: int, processes: int) -> None:
    if controller.name == PIDS:
        (folder / "pids.max").write_text(str(processes + _OWN_PROCESSES))
    if controller.name == MEMORY:
        for file in _MEMORY_FILES[controller.version]:
            if (folder / file).exists():
                (folder / file).write_text(str(memory))
        if controller.version == 2 and (folder / "memory.swap.max").exists():
            (folder / "memory.swap.max").write_text("0")


def _removed(folder: Path) -> bool:
    with suppress(OSError):
        folder.rmdir()
    return not folder.exists()
