"""Finding SKILL.md files below a folder: bounded, each real folder once, links followed without running in circles."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from skills.model import Problem

FILE_NAME = "SKILL.md"
SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache"})
MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a scan goes. nested: whether skills inside a skill's folder count too."""

    depth: int = 5
    entries: int = 20_000
    skills: int = 500
    nested: bool = False


@dataclass(slots=True)
class Scan:
    """What a scan found. ``seen`` holds real folders already visited and may be shared between scans; ``links`` are
    linked folders and their depth, still to be visited: a real folder goes before the links that lead to it."""

    files: list[Path] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    links: deque[tuple[Path, int]] = field(default_factory=deque)
    entries: int = 0


def scan(root: Path, bounds: Bounds = Bounds(), seen: set[str] | None = None) -> Scan:
    """Every SKILL.md below ``root`` (``root`` itself may be a skill), sorted; a missing root is an empty scan."""
    found = Scan(seen=seen if seen is not None else set())
    # A link to nothing is worth a word, a folder that is simply not there is not.
    if reason := unreachable(root):
        if os.path.lexists(root):
            found.problems.append(Problem(root, reason))
    else:
        _visit(root, 0, bounds, found)
    while found.links:
        _visit(*found.links.popleft(), bounds, found)
    found.files.sort()
    return found


def unreachable(path: Path) -> str:
    """Why ``path`` leads to nothing; empty when it leads to something."""
    try:
        path.stat()
    except FileNotFoundError:
        return "a link to something that is not there" if os.path.lexists(path) else "there is nothing there"
    except (OSError, ValueError) as error:
        return f"cannot be reached: {_reason(error)}"
    return ""


def read_bounded(path: Path) -> bytes | str:
    """The bytes of a SKILL.md, or why they cannot be read. Never waits on a pipe or a device."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        return f"cannot be opened: {_reason(error)}"
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return "is not a regular file"
        if status.st_size > MAX_BYTES:
            return f"is too large ({status.st_size:,} bytes; at most {MAX_BYTES:,} are read)"
        with os.fdopen(os.dup(handle), "rb") as file:
            return file.read(MAX_BYTES)
    except OSError as error:
        return f"cannot be read: {_reason(error)}"
    finally:
        os.close(handle)


def _visit(folder: Path, depth: int, bounds: Bounds, found: Scan) -> None:
    real = os.path.realpath(folder)
    if real in found.seen:
        return
    found.seen.add(real)
    entries = _entries(folder, bounds, found)
    own = next((e for e in entries if e.name == FILE_NAME), None) or next(
        (e for e in entries if e.name.lower() == FILE_NAME.lower()), None
    )
    if own is not None and not _is_folder(own):
        if len(found.files) >= bounds.skills:
            _complain_once(found, folder, f"more than {bounds.skills} skills: the rest is left out")
            return
        found.files.append(Path(own.path))
        if not bounds.nested:
            return
    for entry in entries:
        _enter(entry, depth, bounds, found)


def _enter(entry: os.DirEntry[str], depth: int, bounds: Bounds, found: Scan) -> None:
    if entry.name in SKIPPED:
        return
    path = Path(entry.path)
    if entry.is_symlink() and (reason := unreachable(path)):
        found.problems.append(Problem(path, reason))
    elif _is_folder(entry):
        if depth >= bounds.depth:
            _complain_once(found, path, f"more than {bounds.depth} folders deep: not looked into")
        elif entry.is_symlink():
            found.links.append((path, depth + 1))
        else:
            _visit(path, depth + 1, bounds, found)


def _entries(folder: Path, bounds: Bounds, found: Scan) -> list[os.DirEntry[str]]:
    """The entries of a folder, sorted, as far as the bound on all of them allows."""
    taken: list[os.DirEntry[str]] = []
    try:
        with os.scandir(folder) as listing:
            for entry in _up_to(listing, bounds.entries - found.entries):
                taken.append(entry)
    except OSError as error:
        found.problems.append(Problem(folder, f"cannot be listed: {_reason(error)}"))
    found.entries += len(taken)
    if found.entries >= bounds.entries:
        _complain_once(found, folder, f"more than {bounds.entries:,} files to look through: the rest is left out")
    return sorted(taken, key=lambda entry: entry.name)


def _up_to(listing: Iterator[os.DirEntry[str]], most: int) -> Iterator[os.DirEntry[str]]:
    for _ in range(max(0, most)):
        entry = next(listing, None)
        if entry is None:
            return
        yield entry


def _complain_once(found: Scan, path: Path, message: str) -> None:
    """A bound is reported where it was met first."""
    if all(problem.message != message for problem in found.problems):
        found.problems.append(Problem(path, message, "warn"))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error)
