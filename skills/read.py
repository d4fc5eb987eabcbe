"""Reading the files of offered skills by name, wherever their folders are, and nothing outside them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path

from skills.model import Skill
from skills.scan import FILE_NAME

MAX_BYTES = 16 * 1024 * 1024
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW


def reader(skills: Iterable[Skill]) -> Callable[[str], bytes | None]:
    """A function from ``NAME/path`` to the bytes of that file of an offered skill, or None.

    ``NAME`` alone is its SKILL.md; a folder gives the list of its entries. The first skill of a name counts.
    """
    folders: dict[str, Skill] = {}
    for skill in skills:
        if skill.offered:
            folders.setdefault(skill.name, skill)

    def read(path: str) -> bytes | None:
        name, slash, inner = path.strip().partition("/")
        skill = folders.get(name)
        if skill is None:
            return None
        wanted = [part for part in inner.split("/") if part not in ("", ".")]
        if not slash or wanted in ([FILE_NAME], [skill.path.name]):
            return _read(skill.file)
        return None if ".." in wanted else _read(skill.folder.joinpath(*wanted))

    return read


def _read(path: Path) -> bytes | None:
    """Walk down from the root one component at a time: a link anywhere, also one that was put there since the folder
    was found, leads nowhere."""
    try:
        with ExitStack() as opened:
            here = os.open("/", _FLAGS | os.O_DIRECTORY)
            opened.callback(os.close, here)
            for part in path.parts[1:]:
                here = os.open(part, _FLAGS, dir_fd=here)
                opened.callback(os.close, here)
            return _content(here)
    except (OSError, ValueError):
        return None


def _content(handle: int) -> bytes | None:
    status = os.fstat(handle)
    if stat.S_ISDIR(status.st_mode):
        return "\n".join(sorted(os.listdir(handle))).encode("utf-8", "replace")
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
        return None
    with os.fdopen(os.dup(handle), "rb") as file:
        return file.read(MAX_BYTES)
