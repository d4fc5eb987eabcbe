"""Searching lines. Python's ``re`` decides what matches; ripgrep, when it is there, only finds the files worth reading.

So the answers are the same with and without ripgrep: it is used for patterns that mean the same in both dialects, and
it also reports every file with bytes the two could see differently. Lines end at newlines, a carriage return
before one is left out, and invalid UTF-8 reads as U+FFFD. Files with a NUL, hidden ones and skipped folders are not
searched.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from fnmatch import translate
from typing import Any

from sandbox.helper.places import SKIPPED, Refused, Space, open_file, refusal

_MAX_FILE = 16 * 1024 * 1024
_MAX_TEXT = 1000
_RG_SECONDS = 20
# Bytes on which the dialects differ: what is not ASCII, and the separators only Python counts as white space.
_UNSURE = r"[\x1c-\x1f]|(?-u:[\x80-\xff])"

# Patterns that mean the same to Python and to ripgrep: literals, classes, groups, alternation, repetition, anchors.
_SHARED = re.compile(
    r"""(?: [^\\\[\](){}*+?|.^$]
      | [.^$|)] | \((?:\?:)? | [*+?]\?? | \{\d+(?:,\d*)?\}\??
      | \\[dDwWsSbB.\\^$*+?()\[\]{}|]
      | \[\^?(?: [^\\\[\]&~^-] | \\[dDwWsS.\\*+?()\[\]{}|] | [a-z]-[a-z] | [A-Z]-[A-Z] | [0-9]-[0-9] )+\]
    )*""",
    re.VERBOSE | re.ASCII,
)

Answer = tuple[dict[str, Any], bytes]


def search(space: Space, header: dict[str, Any], _data: bytes) -> Answer:
    """Rows of (path, line number, text), by path and line, at most ``limit``."""
    source = re.escape(header["pattern"]) if header["literal"] else header["pattern"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # "[[" may mean more one day; today it does not
            pattern = re.compile(source, re.IGNORECASE if header["ignore_case"] else 0)
    except re.error as error:
        raise Refused(
            f"the pattern cannot be read: {error}", "escape special characters, or search for it literally"
        ) from error
    top = space.real(header["path"])
    wanted = _glob(header["glob"]) if header["glob"] else None
    rows: list[list[Any]] = []
    for path in _candidates(top, header, source):
        if wanted is not None and not wanted.match(os.path.relpath(path, top)):
            continue
        for number, text in _matching_lines(path, pattern):
            if len(rows) >= header["limit"]:
                return {"matches": rows, "truncated": True}, b""
            rows.append([space.shown(path), number, text[:_MAX_TEXT]])
    return {"matches": rows, "truncated": False}, b""


def _candidates(top: str, header: dict[str, Any], source: str) -> list[str]:
    """Files to read, in order of path. Raises Refused when ``top`` cannot be searched."""
    try:
        if not os.path.isdir(top):
            os.close(open_file(top, header["path"]))
            return [top]
        os.scandir(top).close()
    except OSError as error:
        raise refusal(error, header["path"]) from error
    found = None if header.get("engine") == "python" else _from_ripgrep(top, source, header["ignore_case"])
    files = list(_walk(top)) if found is None else found
    return sorted(files, key=lambda path: path.split("/"))


def _walk(folder: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(".") or entry.name in SKIPPED:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path)
        elif entry.is_file(follow_symlinks=False):
            yield entry.path


def _from_ripgrep(top: str, source: str, ignore_case: bool) -> list[str] | None:
    """Files that may hold a match, or None when ripgrep cannot tell."""
    program = shutil.which("rg")
    if program is None or not _SHARED.fullmatch(source):
        return None
    words = [program, "--no-config", "-laN0", "--no-ignore", "--crlf", "--max-filesize", str(_MAX_FILE)]
    words += [word for name in sorted(SKIPPED) for word in ("-g", f"!{name}")]
    words += ["-i"] * ignore_case + ["-e", source, "-e", _UNSURE, "--", top]
    try:
        run = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_RG_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if run.returncode not in (0, 1):
        return None
    return [os.fsdecode(name) for name in run.stdout.split(b"\0") if name]


def _matching_lines(path: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    data = _content(path)
    if data is None or b"\0" in data:
        return
    lines = data.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    for number, raw in enumerate(lines, 1):
        text = raw.removesuffix(b"\r").decode("utf-8", "replace")
        if pattern.search(text):
            yield number, text


def _content(path: str) -> bytes | None:
    try:
        fd = open_file(path, path)
    except Refused:
        return None
    with os.fdopen(fd, "rb") as file:
        if os.fstat(fd).st_size > _MAX_FILE:
            return None
        try:
            return file.read(_MAX_FILE)
        except OSError:
            return None


def _glob(glob: str) -> re.Pattern[str]:
    """``*.py`` matches names at any depth; with a slash it matches the path below the folder; ``**`` spans folders."""
    if "/" not in glob:
        return re.compile(f"(?s:.*/)?{translate(glob)}")
    pieces = []
    for part in glob.strip("/").split("/"):
        pieces.append(r"(?:[^/]+/)*" if part == "**" else _one_level(part) + "/")
    text = "".join(pieces)
    return re.compile(text.removesuffix("/") + r"\Z" if not glob.endswith("**") else text + r"[^/]+\Z")


def _one_level(part: str) -> str:
    """A glob for one path component: nothing in it matches a slash."""
    out = ""
    for char in part:
        out += {"*": "[^/]*", "?": "[^/]"}.get(char) or re.escape(char)
    return out
