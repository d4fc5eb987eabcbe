"""What is in a workspace now: its files and links, by way of folder descriptors, so that no link is followed."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

# Large, made by tools, or not for the agent to change in the first place.
SKIPPED = frozenset({
    ".git", ".hg", ".svn", ".agent-tui", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox",
    ".mypy_cache", ".ruff_cache", ".pytest_cache", "target",
})  # fmt: skip
MOST_FILES = 20_000
MOST_BYTES = 4 * 1024 * 1024
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY

Put = Callable[[bytes], str]
Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Entry:
    """A file by the SHA-256 of its bytes, or a link by its target; left: there, and not looked into, so that nobody may
    conclude anything about it. mode: permission bits."""

    kind: Literal["file", "link", "left"]
    content: str
    mode: int = 0o644


LEFT = Entry("left", "")
REST = ""


@dataclass(frozen=True, slots=True)
class Scan:
    """Every file and link by its path in the workspace. left_out: what was too large, too many or unreadable, in
    words; when there were too many, the entry `REST` stands for the others."""

    entries: dict[str, Entry]
    left_out: tuple[str, ...] = ()


class Scanner:
    """Scans one workspace again and again; a file whose stamp is unchanged is not read again."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._known: dict[str, tuple[Stamp, str]] = {}
        self._stop = threading.Event()

    def stop(self) -> None:
        """End a scan that is under way, and let there be no other: it fails with an OSError."""
        self._stop.set()

    def scan(self, put: Put) -> Scan:
        """The workspace now. put: stores the bytes of a file and returns their digest. Raises OSError when the
        workspace itself cannot be read."""
        entries: dict[str, Entry] = {}
        left_out: list[str] = []
        for path, name, folder in self._names():
            if self._stop.is_set():
                raise InterruptedError("the app is being closed")
            if len(entries) >= MOST_FILES:
                left_out.append(f"more than {MOST_FILES:,} files")
                entries[REST] = LEFT
                break
            try:
                found = self._entry(path, name, folder, put)
            except OSError as error:
                found = f"{path}: {error.strerror or error}"
            if isinstance(found, str):
                left_out.append(found)
                entries[path] = LEFT
            elif found is not None:
                entries[path] = found
        self._known = {path: known for path, known in self._known.items() if path in entries}
        return Scan(entries, tuple(left_out))

    def _names(self) -> Iterator[tuple[str, str, int]]:
        """(path, name, descriptor of its folder) of all that is not a folder to go into."""
        top = os.fspath(self._workspace)
        self._workspace.stat()
        for root, folders, files, descriptor in os.fwalk(top, follow_symlinks=False):
            folders[:] = sorted(name for name in folders if name not in SKIPPED)
            prefix = os.path.relpath(root, top)
            for name in sorted((*files, *folders)):
                yield (name if prefix == "." else f"{prefix}/{name}"), name, descriptor

    def _entry(self, path: str, name: str, folder: int, put: Put) -> Entry | str | None:
        """The entry, why it is left out, or None for a folder, a socket and the like."""
        about = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(about.st_mode):
            return Entry("link", os.readlink(name, dir_fd=folder))
        if not stat.S_ISREG(about.st_mode):
            return None
        if about.st_size > MOST_BYTES:
            return f"{path}: larger than {MOST_BYTES // 1024 // 1024} MB"
        stamp = (about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino)
        known = self._known.get(path)
        if known is None or known[0] != stamp:
            self._known[path] = known = (stamp, put(_bytes(name, folder)))
        return Entry("file", known[1], stat.S_IMODE(about.st_mode))


def digest(data: bytes) -> str:
    """The name under which ``data`` is kept."""
    return hashlib.sha256(data).hexdigest()


def _bytes(name: str, folder: int) -> bytes:
    with os.fdopen(os.open(name, _OPEN, dir_fd=folder), "rb") as file:
        return file.read(MOST_BYTES + 1)
