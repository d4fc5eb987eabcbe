"""Layer 3: what mattered of a large result, said in a few lines made by code: the same for the same result."""

from __future__ import annotations

import re
from collections import Counter

from engine.compaction.failing import errors, failing, tests_counted
from engine.compaction.symbols import symbols
from engine.events import ToolResult

# Lines of each part, and characters of a line.
_TAIL = 8
_SYMBOLS = 60
_FILES = 40
_LENGTH = 160
_NUMBERED = re.compile(r"^\s*(\d+)\t(.*)$")


def digest_of(result: ToolResult, way_back: str) -> str:
    """What stands in for ``result``: a command's exit code, failures, errors and last lines; a file's symbols with
    their lines; a search's matches by file. Empty when nothing is known of it that is worth a line. way_back: a
    sentence that says how to have all of it again."""
    lines = _lines(result)
    if not lines:
        return ""
    what = f"{result.name}: {result.summary}" if result.summary else result.name
    head = f"[Shortened to save room ({what}, {len(result.text):,} characters). {way_back} What mattered of it:]"
    return "\n".join((head, *lines))


def _lines(result: ToolResult) -> list[str]:
    if result.name == "shell_run":
        return _of_command(result)
    if result.name == "fs_read":
        return _of_file(result)
    if result.name == "fs_search":
        return _of_search(result)
    return []


def _of_command(result: ToolResult) -> list[str]:
    text = result.text
    ended = [f"exit code {result.exit_code}"] if result.exit_code is not None else []
    parts = [("Failed:", failing(text)), ("Errors:", errors(text)), ("Tests:", (tests_counted(text),))]
    named = [line for name, found in parts if any(found) for line in (name, *map(_short, found))]
    last = [_short(line) for line in text.splitlines() if line.strip()][-_TAIL:]
    known = {line.strip("= ") for line in named}
    tail = [line for line in last if line.strip("= ") not in known]
    return [*ended, *named, *(("Its last lines:", *tail) if tail else ())]


def _of_file(result: ToolResult) -> list[str]:
    path = next((str(row["path"]) for row in result.items if "path" in row), "") or next(iter(result.files_read), "")
    numbered = [(match[1], match[2]) for match in map(_NUMBERED.match, result.text.splitlines()) if match]
    if not path or not numbered:
        return []
    found = symbols(path, "\n".join(line for _, line in numbered), int(numbered[0][0]))
    if not found:
        return []
    more = [f"(and {len(found) - _SYMBOLS} more)"] if len(found) > _SYMBOLS else []
    return [*(f"{one.line:>6}\t{_short(one.signature)}" for one in found[:_SYMBOLS]), *more]


def _of_search(result: ToolResult) -> list[str]:
    counts = Counter(str(row["path"]) for row in result.items if "path" in row and "line" in row)
    more = [f"(and {len(counts) - _FILES} more files)"] if len(counts) > _FILES else []
    return [*(f"{count:>6} in {path}" for path, count in list(counts.items())[:_FILES]), *more]


def _short(line: str) -> str:
    return line if len(line) <= _LENGTH else f"{line[:_LENGTH]}…"
