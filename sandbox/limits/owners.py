"""Folders of cgroups carry the name of the app that made them, so that what a killed app left can be told and swept."""

from __future__ import annotations

import os
import re
import signal
import time
from contextlib import suppress
from pathlib import Path

_NAME = re.compile(r"agent-tui-(\d+)-(\d+)-(\d+)")
_SECONDS = 1.0


def own_name() -> str:
    """PID namespace, process number and start time: together they never come twice."""
    return f"agent-tui-{_namespace()}-{os.getpid()}-{_start_of(os.getpid())}"


def sweep(base: Path) -> None:
    """Remove the folders of apps that are gone, and end what still runs in them."""
    for folder in _folders(base):
        found = _NAME.fullmatch(folder.name)
        # Process numbers of another namespace say nothing here: such a folder is left alone.
        if found and int(found[1]) == _namespace() and _start_of(int(found[2])) != int(found[3]):
            remove(folder)


def remove(folder: Path) -> bool:
    """Kill everything in a folder of cgroups and remove it. Whether it is gone."""
    end = time.monotonic() + _SECONDS
    while True:
        for below in (*_folders(folder), folder):
            kill_all(below)
            with suppress(OSError):
                below.rmdir()
        if not folder.exists():
            return True
        if time.monotonic() > end:
            return False
        time.sleep(0.01)


def kill_all(group: Path) -> bool:
    """SIGKILL to every process in one cgroup; whether there was any."""
    try:
        members = [int(word) for word in (group / "cgroup.procs").read_text().split()]
    except OSError:
        return False
    for pid in members:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return bool(members)


def _folders(base: Path) -> list[Path]:
    try:
        return [Path(entry.path) for entry in os.scandir(base) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _namespace() -> int:
    return Path("/proc/self/ns/pid").stat().st_ino


def _start_of(pid: int) -> int:
    """When a process started, in ticks since boot; 0 when there is none."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[19])
    except (OSError, IndexError):
        return 0
