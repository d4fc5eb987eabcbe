"""What failed and what passed, from a command's output, whatever ran it."""

from __future__ import annotations

import re

MOST = 12
_LENGTH = 240
# pytest and unittest; go; cargo and others that end the line so; TAP; jest, mocha and vitest.
_FAILED = re.compile(
    r"^(?:FAILED|ERROR|FAIL:?|--- FAIL:|not ok)\s+\S.*$|^.*\.\.\. (?:FAILED|FAIL|ERROR)$|^[●✕✗✘×]\s+\S.*$",
    re.MULTILINE,
)
# The line that counts: pytest; cargo; jest; mocha; go's line a package; unittest.
_COUNTS = re.compile(
    r"^=*\s*(?:\d+ \w+, )*\d+ (?:passed|failed)\b.*$|^test result: .*$|^Tests:\s+.*\d+ (?:passed|failed).*$"
    r"|^\d+ (?:passing|failing)\b.*$|^Ran \d+ tests? in .*$"
)
_ERROR = re.compile(
    r"^\S*(?:Error|Exception|Failure|Panic)\b.*$|^E\s{2,}\S.*$"
    r"|^.*\b(?:error|fatal|panic|undefined reference)(?:\[\w+\])?:\s.*$"
    r"|^Traceback \(most recent call last\):$|^.*: (?:No such file or directory|command not found|Permission denied)$",
    re.IGNORECASE,
)


def failing(output: str) -> tuple[str, ...]:
    """The lines of ``output`` that name a failed test or check, each once, in order: the first `MOST` of them."""
    return _matching(_FAILED, output)[:MOST]


def errors(output: str) -> tuple[str, ...]:
    """The lines of ``output`` that name an error, each once, in order: the first `MOST` of them."""
    return tuple(line for line in _matching(_ERROR, output) if not _FAILED.match(line))[:MOST]


def tests_counted(output: str) -> str:
    """The last line of ``output`` that counts passed and failed tests; empty when there is none."""
    return next(iter(reversed(_matching(_COUNTS, output))), "").strip("= ")


def _matching(pattern: re.Pattern[str], output: str) -> tuple[str, ...]:
    lines = (line.strip()[:_LENGTH] for line in output.splitlines())
    return tuple(dict.fromkeys(line for line in lines if pattern.match(line)))
