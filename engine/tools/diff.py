"""Unified diffs for people, fast also for large files: what is equal at both ends is set aside first."""

from __future__ import annotations

import re
from difflib import unified_diff

CONTEXT = 12
"""Unchanged lines on each side of a change: more than is shown at first, for who unfolds it."""
MOST_LINES = 4000
_HUNK = re.compile(r"^@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@")
_NO_NEWLINE = "\n\\ No newline at end of file"


def unified(path: str, before: bytes | None, after: bytes) -> str:
    """The change from ``before`` (None: no such file) to ``after``; empty when nothing changes."""
    if before == after:
        return ""
    old, new = _lines(before or b""), _lines(after)
    head = f"--- {'/dev/null' if before is None else path}\n+++ {path}"
    if old == new:
        return f"{head}\n@@ only line endings change @@"
    start, old, new = _middle(old, new)
    if len(old) + len(new) > MOST_LINES:
        return f"{head}\n@@ too long to show: {len(old):,} lines are replaced by {len(new):,} @@"
    hunks = list(unified_diff(old, new, n=CONTEXT, lineterm=""))[2:]
    return "\n".join((head, *(_shifted(line, start) for line in hunks)))


def counts(diff: str) -> tuple[int, int]:
    """Lines added and removed."""
    body = diff.split("\n")[2:]
    return sum(line.startswith("+") for line in body), sum(line.startswith("-") for line in body)


def _lines(data: bytes) -> list[str]:
    lines = data.decode("utf-8", "replace").split("\n")
    if lines[-1] == "":
        lines.pop()
    else:
        lines[-1] += _NO_NEWLINE
    return [line.removesuffix("\r") for line in lines]


def _middle(old: list[str], new: list[str]) -> tuple[int, list[str], list[str]]:
    """Both without their common ends but for the context; and how many lines were dropped at the start."""
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    end = next((i for i in range(shorter - start) if old[-1 - i] != new[-1 - i]), shorter - start)
    start, end = max(0, start - CONTEXT), max(0, end - CONTEXT)
    return start, old[start : len(old) - end], new[start : len(new) - end]


def _shifted(line: str, by: int) -> str:
    found = _HUNK.match(line)
    if not found or not by:
        return line
    return f"@@ -{int(found[1]) + by}{found[2]} +{int(found[3]) + by}{found[4]} @@"
