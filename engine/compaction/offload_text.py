"""The pointer that takes the place of a large old result."""

from __future__ import annotations

from engine.events import ToolResult
from engine.tools.registry import is_read_only


def pointer_text(result: ToolResult) -> str:
    """What the model reads instead of ``result.text``: what it was and the way back to it. Depends on nothing else."""
    what = f"{result.name}: {result.summary}" if result.summary else result.name
    return f"[Moved out of the conversation to save room ({what}, {len(result.text):,} characters). {way_back(result)}]"


def has_way_back(result: ToolResult) -> bool:
    """Whether what the text says can be had again without side effects."""
    return bool(result.artifact) or is_read_only(result.name)


def way_back(result: ToolResult) -> str:
    """A sentence that says how to have ``result`` again."""
    if result.artifact:
        return f"Read it with fs_read, path artifact:{result.artifact}."
    if result.files_read:
        return f"Read {result.files_read[0]} again with fs_read if you need it; it may have changed since."
    if is_read_only(result.name):
        return "Make the same call again if you need it."
    return "It was not kept."
