"""The processes of a command as /proc shows them, for what no cgroup counts: how many, their CPU time, their memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Usage:
    """tasks: processes and threads. cpu: seconds, ended children included. resident: bytes, shared pages many times."""

    tasks: int = 0
    cpu: float = 0.0
    resident: int = 0


def tree(first: int, most: int = 100_000) -> list[int]:
    """``first`` and everything that descends from it, at most ``most``. Children of every thread count."""
    found = [first]
    for pid in found:
        if len(found) >= most:
            break
        found.extend(_children(pid))
    return found[:most]


def usage(pids: Iterable[int]) -> Usage:
    """Of processes together; those that have ended meanwhile count nothing."""
    tasks, ticks, pages = 0, 0, 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        tasks += int(fields[17])
        ticks += sum(map(int, fields[11:15]))
        pages += int(fields[21])
    return Usage(tasks, ticks / _TICKS, pages * _PAGE)


def proportional(pids: Iterable[int]) -> int:
    """Bytes of memory, each shared page counted once in all. Slower than `usage`, and exact.

    A process that cannot be looked at counts nothing.
    """
    return 1024 * sum(_proportional(pid) for pid in pids)


def unlinked(pids: Iterable[int]) -> Iterator[tuple[int, int, int]]:
    """Files without a name that processes hold open: device, inode, bytes on disk. The same file may come twice."""
    for pid in pids:
        try:
            entries = list(os.scandir(f"/proc/{pid}/fd"))
        except OSError:
            continue
        for entry in entries:
            try:
                found = entry.stat()
            except OSError:
                continue
            if found.st_nlink == 0:
                yield found.st_dev, found.st_ino, found.st_blocks * 512


def _proportional(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except OSError:
        pass  # it has ended, or is not ours to look at
    return 0


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        threads = [entry.name for entry in os.scandir(f"/proc/{pid}/task")]
    except OSError:
        return found
    for thread in threads:
        try:
            found += [int(word) for word in Path(f"/proc/{pid}/task/{thread}/children").read_text().split()]
        except OSError:
            continue
    return found
