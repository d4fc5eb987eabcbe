"""Exact replacement in the bytes of a file: BOM, line endings and bytes that are not text stay as they are."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from engine.tools.words import plural

MOST_LINES = 20_000
MIN_SCORE = 60.0
_NUMBERED = re.compile(r"^ *\d+\t", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Replaced:
    """The new bytes and the 1-based lines at which something was replaced."""

    data: bytes
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NotReplaced:
    """Why not, and what to do about it."""

    error: str
    suggestion: str


def replace_exactly(data: bytes, old: str, new: str, count: int) -> Replaced | NotReplaced:
    """Replace ``old`` by ``new`` where it stands exactly ``count`` times. A line break in ``old`` matches LF and CRLF;
    those in ``new`` become what the file uses there."""
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    matches = list(_pattern(old).finditer(data))
    lines = _line_numbers(data, [match.start() for match in matches])
    if not matches:
        return _not_found(data.decode("utf-8", "replace"), old)
    if len(matches) != count:
        return _wrong_count(lines, count)
    crlf = b"\r\n" in data and data.count(b"\r\n") * 2 >= data.count(b"\n")
    return Replaced(_pattern(old).sub(lambda match: _fitted(new, match[0], crlf), data), lines)


def _pattern(old: str) -> re.Pattern[bytes]:
    return re.compile(rb"\r?\n".join(re.escape(part.encode()) for part in old.split("\n")))


def _fitted(new: str, replaced: bytes, crlf: bool) -> bytes:
    if b"\n" in replaced:
        crlf = b"\r\n" in replaced
    return new.replace("\n", "\r\n").encode() if crlf else new.encode()


def _line_numbers(data: bytes, places: list[int]) -> tuple[int, ...]:
    starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]
    return tuple(bisect_right(starts, place) for place in places)


def _wrong_count(lines: tuple[int, ...], count: int) -> NotReplaced:
    shown = ", ".join(f"{line:,}" for line in lines[:20]) + (", …" if len(lines) > 20 else "")
    times = "once" if len(lines) == 1 else f"{len(lines):,} times"
    where = f"at line {shown}" if len(lines) == 1 else f"at lines {shown}"
    wanted = "it must be unique" if count == 1 else f"`count` says {count}"
    return NotReplaced(
        f"`old` stands in the file {times}, {where}, but {wanted}. Nothing was changed.",
        f"Add lines around it to `old` until it names one place, or set `count` to {len(lines)} to replace all.",
    )


def _not_found(text: str, old: str) -> NotReplaced:
    error = "`old` is not in the file. Nothing was changed."
    bare = _NUMBERED.sub("", old)
    if bare != old and bare in text.replace("\r\n", "\n"):
        return NotReplaced(error, "`old` holds the line numbers that fs_read puts before each line: leave them out.")
    if "\ufffd" in old:
        return NotReplaced(
            error, "`old` holds U+FFFD, which stands for bytes that are not UTF-8: choose text without it."
        )
    near = _closest(text, old)
    if not near:
        return NotReplaced(error, "Nothing similar was found: read the file with fs_read and copy the text exactly.")
    first, lines = near
    found = "\n".join(lines)
    reason = "It differs in white space only. " if found.split() == old.split() else ""
    numbered = "\n".join(f"{first + i:>6}\t{line}" for i, line in enumerate(lines))
    return NotReplaced(
        error,
        f"{reason}The closest text, {plural(len(lines), 'line')} from line {first:,}, is below; "
        f"copy it exactly, without the numbers.\n{numbered}",
    )


def _closest(text: str, old: str) -> tuple[int, list[str]] | None:
    """The lines most like ``old`` and the number of the first, or None when nothing is like it.

    First the lines most like the longest line of ``old`` are found, then the blocks around them are compared.
    """
    from rapidfuzz import fuzz, process

    lines = [line.removesuffix("\r") for line in text.split("\n")[:MOST_LINES]]
    wanted = old.strip("\n").split("\n")
    anchor = max(range(len(wanted)), key=lambda i: len(wanted[i].strip()))
    choices = {i: line.strip()[:500] for i, line in enumerate(lines) if line.strip()}
    near = process.extract(wanted[anchor].strip()[:500], choices, scorer=fuzz.ratio, limit=8, score_cutoff=MIN_SCORE)
    starts = sorted({max(0, place - anchor) for _, _, place in near})
    if not starts:
        return None

    def score(start: int) -> float:
        return fuzz.ratio("\n".join(wanted)[:20_000], "\n".join(lines[start : start + len(wanted)])[:20_000])

    best = max(starts, key=score)
    return best + 1, [line[:500] for line in lines[best : best + len(wanted)][:40]]
