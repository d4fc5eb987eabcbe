"""The names of a workspace's files, for what a person types after ``@``."""

from __future__ import annotations

import os
import time
from pathlib import Path

MOST_FILES = 20_000
FRESH_SECONDS = 5.0
SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".ruff_cache", ".tox"})


class FileNames:
    """Paths below ``folder``, read again when older than a few seconds. Called from one thread at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: tuple[str, ...] = ()
        self._read_at = float("-inf")

    def like(self, text: str, limit: int) -> tuple[str, ...]:
        """Those most like ``text``, best first; shortest first when there is no text."""
        from rapidfuzz import fuzz, process, utils

        names = self._fresh()
        if not text:
            return tuple(sorted(names, key=lambda name: (name.count("/"), name))[:limit])
        starting = [name for name in names if name.startswith(text)][:limit]
        near = process.extract(
            text, names, scorer=fuzz.partial_ratio, processor=utils.default_process, limit=limit, score_cutoff=60
        )
        return tuple(dict.fromkeys((*starting, *(name for name, _, _ in near))))[:limit]

    def _fresh(self) -> tuple[str, ...]:
        if time.monotonic() - self._read_at > FRESH_SECONDS:
            self._names = tuple(_walk(self._folder))
            self._read_at = time.monotonic()
        return self._names


def _walk(folder: Path) -> list[str]:
    """Relative paths, folders with a slash at the end; bounded, links not followed."""
    found: list[str] = []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        below = os.path.relpath(root, folder)
        prefix = "" if below == "." else f"{below}/"
        found += [f"{prefix}{name}/" for name in folders]
        found += [f"{prefix}{name}" for name in sorted(files)]
        if len(found) >= MOST_FILES:
            break
    return [name for name in found[:MOST_FILES] if name.isprintable()]
