"""How the ledger is written: lists under headings, bounded, saying what was left out."""

from __future__ import annotations

from collections.abc import Sequence


def section(heading: str, entries: Sequence[str], most: int, length: int) -> str:
    """A heading and its newest ``most`` entries, each at most ``length`` characters; empty without entries."""
    if not entries:
        return ""
    left_out = max(0, len(entries) - most)
    lines = [f"## {heading}"]
    if left_out:
        lines.append(f"({left_out} older left out)")
    lines += [_entry(bounded(entry.strip(), length)) for entry in entries[left_out:]]
    return "\n".join(lines)


def bounded(text: str, length: int) -> str:
    """``text`` verbatim; a longer one keeps its beginning and its end and says how much is missing between them."""
    if len(text) <= length:
        return text
    head, tail = length * 2 // 3, length // 3
    return f"{text[:head]} … [{len(text) - head - tail:,} characters left out] … {text[len(text) - tail :]}"


def _entry(text: str) -> str:
    return "- " + text.replace("\n", "\n  ")
