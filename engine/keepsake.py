"""Small files that remember how a person left things: read whole or not at all, written at once or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LARGEST = 4_000_000
"""Bytes; a longer file is not one of ours."""


def recall(path: Path) -> dict[str, Any]:
    """What `keep` wrote to ``path``; nothing when it is not there, cannot be read or was damaged."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def keep(path: Path, values: Mapping[str, Any]) -> None:
    """Write ``values`` for their owner alone. Raises OSError; the file that was there is whole then."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".new")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(values, file)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
