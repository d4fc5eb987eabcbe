"""The names of what failed, from a command's output, whatever ran it."""

from __future__ import annotations

import re

MOST = 12
_LENGTH = 240
# pytest and unittest; go; cargo and others that end the line so; TAP; jest, mocha and vitest.
_FAILED = re.compile(
    r"^(?:FAILED|ERROR|FAIL:?|--- FAIL:|not ok)\s+\S.*$|^.*\.\.\. (?:FAILED|FAIL|ERROR)$|^[●✕✗✘×]\s+\S.*$",
    re.MULTILINE,
)


def failing(output: str) -> tuple[str, ...]:
    """The lines of ``output`` that name a failed test or check, each once, in order: the first `MOST` of them."""
    lines = (line.strip()[:_LENGTH] for line in output.splitlines())
    return tuple(dict.fromkeys(line for line in lines if _FAILED.match(line)))[:MOST]
