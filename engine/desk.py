"""A person's own desk: their clipboard and their editor. What they ask for there concerns no agent."""

from __future__ import annotations

import os
import re
from pathlib import Path

from engine.paths import Home
from sandbox.clipboard import copy
from sandbox.editor import NoEditorError as NoEditorError
from sandbox.editor import open_editor

MOST_PLACES = 30
_LOOKED_AT = 20_000
# A path with or without a line, as tools and compilers write them.
_PLACE = re.compile(r"(?P<path>(?:~|\.{1,2})?[\w./@+-]*[\w-]\.?[\w-]+)(?::(?P<line>\d{1,7}))?")


def keep(text: str, home: Home) -> tuple[str, Path | None]:
    """Put ``text`` on the clipboard and into a file beside it: the program that took it ('' for none), and the file
    (None when it could not be written)."""
    path: Path | None = home.cache / "copied.txt"
    assert path is not None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError:
        path = None
    return copy(text), path


def places(text: str, folder: Path) -> tuple[tuple[Path, int], ...]:
    """Files named in ``text`` that exist, with the first line named beside them (0: none), in order, each once."""
    found: dict[Path, int] = {}
    for match in _PLACE.finditer(text[:_LOOKED_AT]):
        path = Path(match["path"]).expanduser()
        path = path if path.is_absolute() else folder / path
        if path in found:
            found[path] = found[path] or int(match["line"] or 0)
        elif len(found) < MOST_PLACES and _is_file(path):
            found[path] = int(match["line"] or 0)
    return tuple(found.items())


def edit(path: Path, line: int = 0) -> int:
    """Open ``path`` in the person's editor at ``line`` and wait; its exit code. Raises NoEditorError."""
    return open_editor(path, line=line)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
