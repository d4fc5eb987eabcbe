"""Which cgroup controllers this process may use, found out per controller: version 1, version 2, or none.

A controller is used only after a folder could really be made and limited in it. Nothing here starts or moves a process.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MEMORY, PIDS, CPU = "memory", "pids", "cpu"
_V1_NAMES = {MEMORY: "memory", PIDS: "pids", CPU: "cpuacct"}


@dataclass(frozen=True, slots=True)
class Controller:
    """``home``: the cgroup this process is in. ``base``: the folder below which ours are made."""

    name: str
    version: int
    home: Path
    base: Path


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted cgroup hierarchy: ``root`` is the cgroup that shows at ``point``; ``names`` are its controllers."""

    version: int
    point: Path
    root: str
    names: frozenset[str]


def detect(proc: Path = Path("/proc/self")) -> tuple[Controller, ...]:
    """The usable controllers, at most one for each name; none on another system or without the rights."""
    if sys.platform != "linux":
        return ()
    try:
        mounts = tuple(_mounts((proc / "mountinfo").read_text()))
        places = dict(_places((proc / "cgroup").read_text()))
    except OSError:
        return ()
    found = (_version_2(name, mounts, places) or _version_1(name, mounts, places) for name in (MEMORY, PIDS, CPU))
    return tuple(controller for controller in found if controller is not None)


def _mounts(mountinfo: str) -> Iterator[Mount]:
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.partition(" ")
        if kind not in ("cgroup", "cgroup2"):
            continue
        root, point = before.split(" ")[3:5]
        names = frozenset(options.rpartition(" ")[2].split(","))
        yield Mount(2 if kind == "cgroup2" else 1, Path(_unescaped(point)), _unescaped(root), names)


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)


def _places(cgroup: str) -> Iterator[tuple[str, str]]:
    """Controller name (empty for version 2) and the path of our cgroup in it."""
    for line in cgroup.splitlines():
        _, names, path = line.split(":", 2)
        for name in names.split(","):
            yield name, path


def _folder(mount: Mount, path: str) -> Path:
    return mount.point / os.path.relpath(path, mount.root)


def _version_1(name: str, mounts: tuple[Mount, ...], places: dict[str, str]) -> Controller | None:
    called = _V1_NAMES[name]
    for mount in mounts:
        if mount.version == 1 and called in mount.names and called in places:
            home = _folder(mount, places[called])
            if _can_make(home):
                return Controller(name, 1, home, home)
    return None


def _version_2(name: str, mounts: tuple[Mount, ...], places: dict[str, str]) -> Controller | None:
    """Ours must lie beside our own cgroup (or below, at the root): one that holds processes has no limited children."""
    for mount in mounts:
        if mount.version != 2 or "" not in places:
            continue
        home = _folder(mount, places[""])
        for base in (home.parent, home) if home != mount.point else (home,):
            handed_down = name in _words(base / "cgroup.subtree_control")
            if handed_down and os.access(base / "cgroup.procs", os.W_OK) and _can_make(base):
                return Controller(name, 2, home, base)
    return None


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []


def _can_make(base: Path) -> bool:
    """Whether a folder can be made here; what was tried is taken away again."""
    tried = base / f"agent-tui-try-{os.getpid()}"
    try:
        tried.mkdir(exist_ok=True)
    except OSError:
        return False
    with suppress(OSError):
        tried.rmdir()
    return True
