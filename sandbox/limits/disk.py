"""How much more the disk holds because of a command: bytes and files of the workspace.

No kernel counts this per command without quotas, so it is measured in two steps. What the file system itself says
(one call) shows whether anything grew at all; only then the workspace is walked, counting what changed since the
command began, and files it deleted but still holds open. Other programs that fill the same disk cost a walk, and
never a wrong stop. What two commands write into one workspace at a time counts for both.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.limits import processes

# A walk may take this part of the time at most.
_SHARE = 20
# Change times come from a clock that is a tick behind.
_TICK = 0.05
_LITTLE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes on disk and number of files."""

    bytes: int = 0
    files: int = 0


def full(folder: Path) -> bool:
    """Whether the file system a folder lies on has no room left."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize < _LITTLE


class Disk:
    """Looks after one folder from now on. ``enough`` tells a walk that nobody waits for it any more."""

    def __init__(self, folder: Path, most: Held, enough: Callable[[], bool] = lambda: False) -> None:
        self._folder, self._most, self._enough = folder, most, enough
        self._since = time.time() - _TICK
        self._before = self._file_system()
        self._not_before = 0.0

    def grown(self, pids: Callable[[], Iterable[int]]) -> Held | None:
        """What the command holds when that is more than it may, else None. ``pids``: its processes now."""
        if not self._suspect() or time.monotonic() < self._not_before:
            return None
        started = time.monotonic()
        held = self._walk(pids)
        self._not_before = time.monotonic() + _SHARE * (time.monotonic() - started)
        return held if held.bytes > self._most.bytes or held.files > self._most.files else None

    def _suspect(self) -> bool:
        now = self._file_system()
        if now is None or self._before is None:
            return False
        # Some file systems (btrfs) do not say how many files they hold.
        return (
            now.bytes - self._before.bytes > self._most.bytes
            or now.files - self._before.files > self._most.files
            or now.files == 0
        )

    def _file_system(self) -> Held | None:
        try:
            found = os.statvfs(self._folder)
        except OSError:
            return None
        return Held((found.f_blocks - found.f_bfree) * found.f_frsize, found.f_files - found.f_ffree)

    def _walk(self, pids: Callable[[], Iterable[int]]) -> Held:
        total, files = 0, 0
        for entry in self._entries():
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if found.st_ctime >= self._since:
                files += 1
                total += found.st_blocks * 512
            if total > self._most.bytes or files > self._most.files:
                return Held(total, files)
        gone = {(device, inode): size for device, inode, size in processes.unlinked(pids())}
        device = self._folder.stat().st_dev
        total += sum(size for (dev, _), size in gone.items() if dev == device)
        return Held(total, files)

    def _entries(self) -> Iterator[os.DirEntry[str]]:
        """Everything below the folder, links not followed, other file systems left out."""
        waiting = [os.fspath(self._folder)]
        while waiting and not self._enough():
            try:
                with os.scandir(waiting.pop()) as entries:
                    for entry in entries:
                        yield entry
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
            except OSError:
                continue
