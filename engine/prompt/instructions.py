"""The project's instruction files: AGENTS.md and CLAUDE.md at the root of the folder."""

from __future__ import annotations

from pathlib import Path

from engine.text import clean

NAMES = ("AGENTS.md", "CLAUDE.md")
MAX_BYTES = 64 * 1024


def read_instructions(folder: Path) -> tuple[tuple[str, str], ...]:
    """(name, text) of each instruction file; a file that is a link to the other is read once.

    At most 64 KB of each; one that cannot be read is left out, as if it were not there.
    """
    found: dict[Path, tuple[str, str]] = {}
    for name in NAMES:
        path = folder / name
        try:
            with path.open("rb") as file:
                text = clean(file.read(MAX_BYTES).decode("utf-8", "replace"))
        except OSError:
            continue
        if text.strip():
            found.setdefault(path.resolve(), (name, text))
    return tuple(found.values())
