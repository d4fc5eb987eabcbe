"""Limits the kernel holds for every single process, whoever runs us. Inherited by all that a command starts."""

from __future__ import annotations

import os
import resource
import sys

from sandbox.policy import Limits

_AFTER_SIGNAL = 5


def limit(pid: int, limits: Limits) -> None:
    """Set them on a process that has just been started; never above what we have ourselves. Linux only."""
    if sys.platform != "linux":
        return
    cpu = max(1, int(limits.cpu_seconds))
    for which, soft, hard in (
        # One byte, not none: with none the kernel still hands the dump to a program of the host that collects them.
        (resource.RLIMIT_CORE, 1, 1),
        (resource.RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files, limits.open_files),
        (resource.RLIMIT_DATA, limits.memory_bytes, limits.memory_bytes),
        (resource.RLIMIT_CPU, cpu, cpu + _AFTER_SIGNAL),
    ):
        _set(pid, which, soft, hard)


def limit_processes(first: int, limits: Limits) -> None:
    """Bound how many processes and threads a sandbox holds, by its first process, in its own user namespace.

    Set before that namespace exists, the limit would count everything this user runs on the machine. The kernel
    exempts root from it.
    """
    if sys.platform == "linux":
        most = limits.processes + 1  # the first process is ours
        _set(first, resource.RLIMIT_NPROC, most, most)


def holds_processes() -> bool:
    """Whether the kernel holds the number of processes for this user."""
    return os.geteuid() != 0


def _set(pid: int, which: int, soft: int, hard: int) -> None:
    try:
        ours = resource.prlimit(pid, which)[1]
        if ours != resource.RLIM_INFINITY:
            soft, hard = min(soft, ours), min(hard, ours)
        resource.prlimit(pid, which, (soft, hard))
    except ProcessLookupError:
        return
