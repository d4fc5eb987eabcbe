"""Where a path leads: every link followed, compared with the workspace and its protected paths."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from dataclasses import dataclass

HASH_LIMIT = 64 * 1024 * 1024
# Never listed or searched unless asked for: large, generated, or not the project's own.
SKIPPED = frozenset((".git", "node_modules", "__pycache__", ".venv"))


class Refused(Exception):
    """An operation that is not done: ``text`` says why, ``suggestion`` what to do; ``status`` is error or denied."""

    def __init__(self, text: str, suggestion: str = "", status: str = "error") -> None:
        super().__init__(text)
        self.suggestion = suggestion
        self.status = status


@dataclass(frozen=True, slots=True)
class Space:
    """The workspace (a real path) and what in it is never written."""

    root: str
    protected: tuple[str, ...]
    writable: bool

    def real(self, path: str) -> str:
        """``path`` (relative to the workspace, absolute, or from ~) with every link followed."""
        if "\0" in path:
            raise Refused("a path cannot hold a NUL")
        return os.path.realpath(os.path.join(self.root, os.path.expanduser(path)))

    def inside(self, real: str) -> bool:
        """Whether a real path is the workspace or lies in it."""
        return real == self.root or real.startswith(self.root.rstrip("/") + "/")

    def shown(self, real: str) -> str:
        """A real path as answers spell it: relative in the workspace, absolute elsewhere."""
        return os.path.relpath(real, self.root) if self.inside(real) else real

    def protecting(self, real: str) -> str:
        """The protected path that ``real`` is, lies in, or would replace the parent of; else ""."""
        for name in self.protected:
            plain = os.path.join(self.root, name)
            for target in {plain, os.path.realpath(plain)}:
                if real == target or real.startswith(target + "/"):
                    return name
                if (
                    target.startswith(real + "/")
                    and not os.path.isdir(real)
                    and self.inside(real)
                    and real != self.root
                ):
                    return name
        return ""


def kind_of(mode: int) -> str:
    """file, dir, link or other."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "dir"
    return "link" if stat.S_ISLNK(mode) else "other"


def special(mode: int) -> str:
    """A word for what is neither file nor folder."""
    words = ((stat.S_ISFIFO, "a named pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISDIR, "a folder"))
    return next((word for test, word in words if test(mode)), "a device")


def open_file(real: str, shown: str) -> int:
    """Open a regular file for reading, never waiting and never opening anything else. Raises Refused."""
    try:
        fd = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise refusal(error, shown) from error
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        os.close(fd)
        hint = "list it instead" if stat.S_ISDIR(mode) else "only regular files can be read"
        raise Refused(f"{shown} is {special(mode)}, not a file", hint)
    return fd


def refusal(error: OSError, shown: str) -> Refused:
    """An OSError in words."""
    known = {
        errno.ENOENT: ("does not exist (or is not visible in the sandbox)", "list the folder to see what there is"),
        errno.EACCES: ("may not be opened: permission denied", ""),
        errno.EPERM: ("may not be changed: not permitted", ""),
        errno.EROFS: ("is read-only in the sandbox", "write into the workspace"),
        errno.ENOTDIR: ("has a file where a folder is needed", "check the path"),
        errno.EISDIR: ("is a folder", "name a file in it"),
        errno.ELOOP: ("leads through a loop of links, or changed while it was opened", "name the real path"),
        errno.ENAMETOOLONG: ("is too long a name", "use a shorter one"),
        errno.ENOSPC: ("cannot be written: the disk is full", "free some space"),
        errno.EFBIG: ("would be larger than the limit for a file", ""),
        errno.ENXIO: ("is a socket or pipe, not a file", "only regular files can be read"),
    }
    text, hint = known.get(error.errno or 0, (f"cannot be used: {error.strerror or error}", ""))
    return Refused(f"{shown} {text}", hint)


def digest_of(fd: int, size: int) -> str:
    """SHA-256 of an open file, "" when it is larger than 64 MiB. Leaves the offset at the start."""
    if size > HASH_LIMIT:
        return ""
    found = hashlib.sha256()
    while chunk := os.read(fd, 1024 * 1024):
        found.update(chunk)
    os.lseek(fd, 0, os.SEEK_SET)
    return found.hexdigest()
