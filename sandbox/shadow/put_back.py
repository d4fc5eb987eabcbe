"""Putting one file back into a workspace, folder by folder, never through a link."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from sandbox.shadow.scan import Entry

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def put_back(workspace: Path, path: str, entry: Entry, data: bytes) -> None:
    """Make ``path`` what ``entry`` says; ``data`` are the bytes of a file. Raises OSError, with nothing half done."""
    with _folder_of(workspace, path, make=True) as (folder, name):
        _clear_the_way(name, folder)
        beside = f".{name}.{os.getpid()}.back"
        if entry.kind == "link":
            os.symlink(entry.content, beside, dir_fd=folder)
        else:
            with os.fdopen(os.open(beside, _NEW, 0o600, dir_fd=folder), "wb") as file:
                file.write(data)
                os.fchmod(file.fileno(), entry.mode)
        os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)


def take_away(workspace: Path, path: str) -> None:
    """Remove a file that was not there, and the folders that this leaves empty. Raises OSError."""
    with _folder_of(workspace, path) as (folder, name):
        os.unlink(name, dir_fd=folder)
    for parent in list(PurePosixPath(path).parents)[:-1]:
        try:
            with _folder_of(workspace, str(parent)) as (folder, name):
                os.rmdir(name, dir_fd=folder)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                return
            raise


@contextmanager
def _folder_of(workspace: Path, path: str, make: bool = False) -> Iterator[tuple[int, str]]:
    """(descriptor of the folder ``path`` lies in, its name there)."""
    *folders, name = path.split("/")
    if name in ("", ".", "..") or any(part in ("", ".", "..") for part in folders):
        raise OSError(errno.EINVAL, f"not a path in the workspace: {path}")
    held = os.open(workspace, _FOLDER)
    try:
        for part in folders:
            inner = _enter(part, held, make)
            os.close(held)
            held = inner
        yield held, name
    finally:
        os.close(held)


def _enter(part: str, folder: int, make: bool) -> int:
    try:
        return os.open(part, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    os.mkdir(part, 0o755, dir_fd=folder)
    return os.open(part, _FOLDER, dir_fd=folder)


def _clear_the_way(name: str, folder: int) -> None:
    """An empty folder in the place of a file goes; one with something in it stays, and the error says so."""
    try:
        about = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISDIR(about.st_mode):
        os.rmdir(name, dir_fd=folder)
