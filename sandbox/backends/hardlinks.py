"""Files of the workspace that have another name outside it: writing to them would write out there.

A command cannot make such a link (what lies outside is not there to be linked, and every mount is a file system of its
own to link()), so they are looked for once, before the first command, and mounted read-only for every one. File tools
are not concerned: they put a new file in the place of the old one.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from sandbox.backends.mounts import Bind

_MAX_ENTRIES = 100_000
_MAX_FILES = 512
# Objects of a local clone share their files with the other repository by git's design, are named by their own hash,
# and would be many; git notices one that was changed.
_LEFT_OUT = (".git", "objects")


class OldLinks:
    """What there is in one workspace, looked for at the first use: at most the first hundred thousand entries."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace

    def binds(self) -> tuple[Bind, ...]:
        """Read-only mounts for what is still linked now."""
        return tuple(Bind(path, read_only=True) for path in self._found if _linked(path))

    @cached_property
    def _found(self) -> tuple[Path, ...]:
        names: dict[tuple[int, int], list[Path]] = defaultdict(list)
        counts: dict[tuple[int, int], int] = {}
        for entry in _files(self._workspace):
            try:
                facts = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if facts.st_nlink > 1:
                names[facts.st_dev, facts.st_ino].append(Path(entry.path))
                counts[facts.st_dev, facts.st_ino] = facts.st_nlink
        outside = [path for inode, paths in names.items() if len(paths) < counts[inode] for path in paths]
        return tuple(_few(sorted(outside), self._workspace))


def _files(top: Path) -> Iterator[os.DirEntry[str]]:
    """Regular files below ``top``, no link followed, folders near the top first; what cannot be read is left out."""
    waiting, seen = [str(top)], 0
    left_out = str(top.joinpath(*_LEFT_OUT))
    for folder in waiting:
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            seen += 1
            if entry.is_dir(follow_symlinks=False) and entry.path != left_out:
                waiting.append(entry.path)
            elif entry.is_file(follow_symlinks=False):
                yield entry
        if seen > _MAX_ENTRIES:
            return


def _few(paths: list[Path], workspace: Path) -> Iterator[Path]:
    """The paths; where they are too many to mount one by one, the folder at the top of the workspace they share."""
    if len(paths) <= _MAX_FILES:
        yield from paths
        return
    tops: dict[Path, list[str]] = defaultdict(list)
    for path in paths:
        tops[workspace / path.relative_to(workspace).parts[0]].append(str(path))
    for below in tops.values():
        yield Path(os.path.commonpath(below))


def _linked(path: Path) -> bool:
    try:
        facts = path.lstat()
    except OSError:
        return False
    return path.is_dir() or facts.st_nlink > 1
