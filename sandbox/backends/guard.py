"""Protected paths of the workspace: what mounts can protect, and what has to be looked at after each command.

A path that exists is mounted over itself read-only, and its parents over themselves, so that none of them can be
renamed away (a mount point cannot be renamed or removed). A path that does not exist cannot be mounted over without
creating it on the host; the same goes for a symbolic link. Those are *watched*: their state is noted before a command,
and whatever a command made of them is renamed to ``NAME.blocked`` when it ends. Harmless new ones (what ``git init``
makes) stay and are protected by mounts from then on.

What remains: while a command still runs, a path it created is there for programs outside; and when the app itself is
killed with -9 nobody is left to look. Repositories in folders below the workspace are not protected.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from sandbox.backends.mounts import Bind

_MAX_CONFIG = 64 * 1024
_NOFOLLOW = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK

# Settings a new .git/config may hold: what `git init`, `git clone` and `git branch` write. None of them runs anything.
_HARMLESS_SETTING = re.compile(
    r"core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf)"
    r"|extensions\.objectformat|init\.defaultbranch|user\.(name|email)|remote\.(url|fetch)|branch\.(remote|merge)"
)


@dataclass(frozen=True, slots=True)
class Watched:
    """A protected path that mounts do not cover. ``at`` is the first component that is missing or a link;
    ``target`` what the link points to, None when it was missing."""

    path: PurePosixPath
    at: PurePosixPath
    target: str | None


@dataclass(frozen=True, slots=True)
class Protection:
    """What to mount (parents first) and what to watch."""

    binds: tuple[Bind, ...] = ()
    watched: tuple[Watched, ...] = ()


@dataclass(frozen=True, slots=True)
class Violation:
    """A protected path a command touched: ``path`` relative to the workspace, ``moved_to`` its new name."""

    path: str
    moved_to: str


@dataclass(slots=True)
class _Walk:
    binds: dict[Path, bool] = field(default_factory=dict)
    watched: list[Watched] = field(default_factory=list)

    def bind(self, path: Path, read_only: bool) -> None:
        self.binds[path] = self.binds.get(path, False) or read_only


def survey(workspace: Path, protected: Iterable[str]) -> Protection:
    """Look at the protected paths as they are now. ``workspace`` is a real path."""
    walk = _Walk()
    for name in protected:
        _follow(walk, workspace, PurePosixPath(name))
    ordered = sorted(walk.binds.items(), key=lambda item: len(item[0].parts))
    return Protection(tuple(Bind(path, read_only) for path, read_only in ordered), tuple(walk.watched))


def _follow(walk: _Walk, workspace: Path, rel: PurePosixPath) -> None:
    """Walk down ``rel``: bind what is there, watch from the first thing that is missing or a link."""
    here = workspace
    for index, part in enumerate(rel.parts):
        here = here / part
        at = PurePosixPath(*rel.parts[: index + 1])
        try:
            mode = here.lstat().st_mode
        except OSError:
            walk.watched.append(Watched(rel, at, None))
            return
        if stat.S_ISLNK(mode):
            walk.watched.append(Watched(rel, at, str(here.readlink())))
            _follow_link(walk, workspace, here.resolve(), rel.parts[index + 1 :])
            return
        last = index == len(rel.parts) - 1
        walk.bind(here, last or not stat.S_ISDIR(mode))
        if not stat.S_ISDIR(mode):
            return


def _follow_link(walk: _Walk, workspace: Path, target: Path, rest: tuple[str, ...]) -> None:
    """Go on at a link's target when that lies in the workspace; outside it is out of reach anyway."""
    if target != workspace and target.is_relative_to(workspace):
        _follow(walk, workspace, PurePosixPath(target.relative_to(workspace), *rest))


def sweep(workspace: Path, watched: Iterable[Watched]) -> tuple[Violation, ...]:
    """Undo what happened to watched paths since they were noted, and say what it was."""
    found: dict[str, Violation] = {}
    for entry in watched:
        bad = _offence(workspace, entry)
        if bad is not None and str(bad) not in found:
            found[str(bad)] = Violation(str(bad), _move_away(workspace, bad, entry))
    return tuple(found.values())


def _offence(workspace: Path, entry: Watched) -> PurePosixPath | None:
    """The path that is not as it may be, or None."""
    for index in range(len(entry.at.parts) - 1, len(entry.path.parts)):
        here = PurePosixPath(*entry.path.parts[: index + 1])
        with _parent(workspace, here) as parent:
            if parent is None:
                return None
            try:
                mode = os.stat(here.name, dir_fd=parent, follow_symlinks=False).st_mode
            except OSError:
                return here if here == entry.at and entry.target is not None else None
            if here == entry.at and entry.target is not None:
                same = stat.S_ISLNK(mode) and os.readlink(here.name, dir_fd=parent) == entry.target
                return None if same else here
            if here == entry.path:
                return None if _harmless(parent, here, mode) else here
            if not stat.S_ISDIR(mode):
                return here
    return None


def _harmless(parent: int, path: PurePosixPath, mode: int) -> bool:
    """Whether a newly made protected path can stay: an empty folder, sample hooks, a config of plain settings."""
    if stat.S_ISDIR(mode):
        folder = os.open(path.name, os.O_RDONLY | os.O_DIRECTORY | _NOFOLLOW, dir_fd=parent)
        try:
            with os.scandir(folder) as entries:
                samples = path.name == "hooks" and path.parts[0] == ".git"
                return all(samples and e.name.endswith(".sample") and not e.is_symlink() for e in entries)
        finally:
            os.close(folder)
    return stat.S_ISREG(mode) and path == PurePosixPath(".git/config") and _plain_config(parent, path.name)


def _plain_config(parent: int, name: str) -> bool:
    config = os.open(name, os.O_RDONLY | _NOFOLLOW, dir_fd=parent)
    try:
        if os.fstat(config).st_nlink > 1:
            return False
        text = os.read(config, _MAX_CONFIG + 1)
    finally:
        os.close(config)
    return len(text) <= _MAX_CONFIG and all(
        _HARMLESS_SETTING.fullmatch(key) for key in _settings(text.decode("utf-8", "replace"))
    )


def _settings(text: str) -> list[str]:
    """``section.key`` of every setting, subsections left out; an unreadable line counts as a setting of its own."""
    section, keys = "", []
    for line in map(str.strip, text.splitlines()):
        if not line or line[0] in "#;":
            continue
        head = re.fullmatch(r'\[([A-Za-z0-9-]+)(?:\s+"[^"\\\n]*")?\]', line)
        if head:
            section = head[1].lower()
            continue
        key = re.match(r"([A-Za-z][A-Za-z0-9-]*)\s*(=|$)", line)
        keys.append(f"{section}.{key[1].lower()}" if key and not line.endswith("\\") else line)
    return keys


def _move_away(workspace: Path, path: PurePosixPath, entry: Watched) -> str:
    """Rename ``path`` to a free ``NAME.blocked``; put back the link that was there. Never follows a link."""
    with _parent(workspace, path) as parent:
        if parent is None:
            return ""
        names = {entry.name for entry in os.scandir(parent)}
        moved = next(n for n in (f"{path.name}.blocked{i or ''}" for i in range(len(names) + 1)) if n not in names)
        try:
            os.rename(path.name, moved, src_dir_fd=parent, dst_dir_fd=parent)
        except FileNotFoundError:
            moved = ""
        if entry.target is not None and path == entry.at:
            os.symlink(entry.target, path.name, dir_fd=parent)
    return str(path.with_name(moved)) if moved else ""


@contextmanager
def _parent(workspace: Path, path: PurePosixPath) -> Iterator[int | None]:
    """A descriptor of the folder ``path`` lies in, or None when it is not there or a link is in the way."""
    fd = _open_parent(workspace, path)
    try:
        yield fd
    finally:
        if fd is not None:
            os.close(fd)


def _open_parent(workspace: Path, path: PurePosixPath) -> int | None:
    fd = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in path.parts[:-1]:
        try:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | _NOFOLLOW, dir_fd=fd)
        except OSError:
            return None
        finally:
            os.close(fd)
        fd = below
    return fd
