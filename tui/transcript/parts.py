"""What of a block a person may want to take along, each part with a word for it."""

from __future__ import annotations

from tui.transcript.kinds import Block, Tool, source_text


def parts_of(block: Block, whole: str = "") -> tuple[tuple[str, str], ...]:
    """(what, text) of each part of ``block``, the likeliest first. ``whole``: all its output, when that is known."""
    if not isinstance(block, Tool):
        text = source_text(block)
        return (("text", text),) if text else ()
    found = (
        ("diff", block.diff),
        ("command", block.command),
        ("output", whole or block.text),
        ("path", block.title if not block.command and "/" in block.title else ""),
        ("call and result", source_text(block)),
    )
    return tuple((what, text) for what, text in found if text.strip())
