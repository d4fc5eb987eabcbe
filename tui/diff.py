"""Unified diffs as lines: unified, or side by side where there is room; numbered, coloured by language, context folded.

Colour never stands alone: the signs + and − stay. Whatever is not a diff is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rich.segment import Segment
from rich.style import Style

from tui.format import plural
from tui.transcript.highlight import highlight
from tui.transcript.look import EMPTY, CodeColours, Look
from tui.transcript.neutral import plain_lines
from tui.transcript.wrap import Span, shorten, width_of, wrap_spans

SPLIT_WIDTH = 116
"""From this many cells on the two sides stand beside each other: what a column of 120 leaves for a diff."""
CONTEXT_KEPT = 3
"""Unchanged lines kept on each side of a change."""

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
Kind = Literal["file", "gap", "same", "add", "del", "note"]
Lines = list[list[Segment]]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a diff. ``old`` and ``new`` are line numbers, 0 where there is none; a gap counts its lines in
    ``old`` (0: unknown), and has a 1 in ``new`` where more may follow."""

    kind: Kind
    text: str
    old: int = 0
    new: int = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """What all rows of a diff share: whether they are of one file, and how many digits their line numbers have."""

    alone: bool = False
    columns: int = 2

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Frame:
        numbers = max((max(row.old, row.new) for row in rows if row.kind != "gap"), default=0)
        return cls(sum(row.kind == "file" for row in rows) == 1, max(2, len(str(numbers))))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A row with its colours."""

    row: Row
    spans: list[Span]


def diff_stat(diff: str) -> tuple[int, int]:
    """Lines (added, removed)."""
    rows = parse(diff)
    return sum(row.kind == "add" for row in rows), sum(row.kind == "del" for row in rows)


def stat_text(diff: str) -> str:
    """``+6 −3``; empty for no diff."""
    added, removed = diff_stat(diff)
    return f"+{added} −{removed}" if diff else ""


@lru_cache(maxsize=64)
def parse(diff: str, whole: bool = False) -> tuple[Row, ...]:
    """The rows of a unified diff; unless ``whole``, unchanged lines far from a change are folded into gaps."""
    rows: list[Row] = []
    old = new = left_old = left_new = 0
    for line in plain_lines(diff) if diff else ():
        hunk = _HUNK.match(line) if left_old <= 0 and left_new <= 0 else None
        if hunk:
            start_old, start_new = int(hunk[1]), int(hunk[3])
            if old or start_old > 1:
                rows.append(Row("gap", hunk[5], max(0, start_old - max(old, 1))))
            old, new = start_old, start_new
            left_old, left_new = int(hunk[2] or 1), int(hunk[4] or 1)
        elif left_old <= 0 and left_new <= 0:
            rows.extend(_outside(line))
        elif line.startswith("+"):
            rows.append(Row("add", line[1:], 0, new))
            new, left_new = new + 1, left_new - 1
        elif line.startswith("-"):
            rows.append(Row("del", line[1:], old))
            old, left_old = old + 1, left_old - 1
        elif line.startswith("\\"):
            rows.append(Row("note", line[1:].strip()))
        else:
            rows.append(Row("same", line[1:], old, new))
            old, new, left_old, left_new = old + 1, new + 1, left_old - 1, left_new - 1
    return tuple(rows if whole else _fold(rows))


def folded(diff: str) -> int:
    """How many unchanged lines of a diff are folded away, until it is asked for as a whole."""
    return sum(row.kind == "same" for row in parse(diff, True)) - sum(row.kind == "same" for row in parse(diff))


def _outside(line: str) -> list[Row]:
    """A line outside of all hunks: file names are shown once, git's bookkeeping is not."""
    if line.startswith("+++ "):
        return [Row("file", line[4:].split("\t")[0].removeprefix("b/"))]
    if line.startswith(("--- ", "diff --git ", "index ")) or not line.strip():
        return []
    return [Row("note", line.removeprefix("\\").strip())]


def _fold(rows: list[Row]) -> list[Row]:
    kept: list[Row] = []
    start = 0
    while start < len(rows):
        end = start
        while end < len(rows) and rows[end].kind == "same":
            end += 1
        # Only towards a change is context of use: not at the end of a hunk, nor at its beginning.
        after = CONTEXT_KEPT if start and rows[start - 1].kind in ("add", "del", "note") else 0
        before = CONTEXT_KEPT if end < len(rows) and rows[end].kind in ("add", "del") else 0
        ends = end == len(rows) or rows[end].kind == "file"
        kept += _shortened(rows[start:end], after, before, ends)
        if end < len(rows):
            kept.append(rows[end])
        start = end + 1
    return _merged(kept)


def _shortened(run: list[Row], first: int, last: int, ends: bool) -> list[Row]:
    """A run of unchanged lines without its middle; a gap of one line would save nothing. ends: the diff of a file ends
    with it, and how many lines the file has after that is not known."""
    hidden = len(run) - first - last
    if hidden <= 1:
        return run
    return [*run[:first], Row("gap", "", hidden, int(ends)), *run[len(run) - last :]]


def _merged(rows: list[Row]) -> list[Row]:
    """Gaps that follow each other as one, with the words of the last that has some."""
    merged: list[Row] = []
    for row in rows:
        if row.kind == "gap" and merged and merged[-1].kind == "gap":
            before = merged.pop()
            row = Row("gap", row.text or before.text, before.old + row.old, row.new)
        merged.append(row)
    return merged


def diff_lines(diff: str, width: int, look: Look, limit: int = 2_000, whole: bool = False) -> tuple[Lines, int]:
    """The lines of a diff in ``width`` cells, with all of its context when ``whole``, and how many rows were left out
    beyond ``limit``."""
    rows = parse(diff, whole)
    return row_lines(rows[:limit], Frame.of(rows), width, look), max(0, len(rows) - limit)


def row_lines(rows: Sequence[Row], frame: Frame, width: int, look: Look) -> Lines:
    """The lines of some of the rows of a diff."""
    drawn = _coloured(rows, look)
    if frame.alone:
        # The name of the only file is said by whoever shows its diff.
        drawn = [one for one in drawn if one.row.kind != "file"]
    if width >= SPLIT_WIDTH:
        return _split(drawn, width, frame.columns, look)
    return [line for one in drawn for line in _unified(one, width, frame.columns, look)]


def _coloured(rows: Sequence[Row], look: Look) -> list[_Drawn]:
    """Each side of each file is one text for the lexer."""
    colours = CodeColours.of(look.roles)
    spans: dict[int, list[Span]] = {}
    name = next((row.text for row in rows if row.kind == "file"), "")
    for side in ("add", "del"):
        part: list[int] = []
        for number, row in enumerate(rows):
            if row.kind == "file":
                _colour(rows, part, name, colours, spans)
                name, part = row.text, []
            elif row.kind in ("same", side):
                part.append(number)
        _colour(rows, part, name, colours, spans)
    return [_Drawn(row, spans.get(number, [(row.text, EMPTY)])) for number, row in enumerate(rows)]


def _colour(
    rows: Sequence[Row], part: list[int], name: str, colours: CodeColours, spans: dict[int, list[Span]]
) -> None:
    for number, line in zip(part, highlight([rows[n].text for n in part], name, colours), strict=True):
        spans[number] = line


def _unified(drawn: _Drawn, width: int, columns: int, look: Look) -> Lines:
    row = drawn.row
    if row.kind in ("file", "gap", "note"):
        return [_marker(row, width, columns, look)]
    numbers = f"{row.old or '':>{columns}} {row.new or '':>{columns}} "
    return _side(drawn, numbers, width, look)


def _side(drawn: _Drawn, numbers: str, width: int, look: Look) -> Lines:
    """One row on one side: numbers, sign, text; longer lines go on below."""
    sign, role, back = _signs(drawn.row.kind, look)
    lead = len(numbers) + 2
    lines: Lines = []
    for level, piece in enumerate(wrap_spans(drawn.spans, max(1, width - lead), hard=True)):
        head = [Segment(numbers if not level else " " * len(numbers), look.roles.muted + back)]
        body = [Segment(segment.text, back + (segment.style or EMPTY)) for segment in piece]
        used = lead + sum(width_of(segment.text) for segment in piece)
        fill = [Segment(" " * (width - used), back)] if used < width else []
        lines.append([*head, Segment(f"{sign} " if not level else "  ", role + back), *body, *fill])
    return lines


def _signs(kind: Kind, look: Look) -> tuple[str, Style, Style]:
    if kind == "add":
        return "+", look.roles.ok, look.added
    if kind == "del":
        return "−" if look.signs.done != "+" else "-", look.roles.danger, look.removed
    return " ", look.roles.muted, EMPTY


def _marker(row: Row, width: int, columns: int, look: Look) -> list[Segment]:
    if row.kind == "file":
        return [Segment(shorten(row.text, width, look.signs.ellipsis, keep_end=True), look.roles.accent)]
    if row.kind == "note":
        return [Segment(shorten(row.text, width, look.signs.ellipsis), look.roles.muted)]
    count = plural(row.old, "unchanged line") if row.old else ""
    count += " or more" if count and row.new else ""
    words = "  ".join(part for part in (count, row.text) if part)
    text = f"{look.signs.more:>{columns}} {words}".rstrip()
    return [Segment(shorten(text, width, look.signs.ellipsis), look.roles.muted)]


def _split(drawn: Sequence[_Drawn], width: int, columns: int, look: Look) -> Lines:
    half = (width - 3) // 2
    lines: Lines = []
    left: list[_Drawn] = []
    right: list[_Drawn] = []
    for one in drawn:
        if one.row.kind == "del":
            left.append(one)
        elif one.row.kind == "add":
            right.append(one)
        else:
            lines += _beside(left, right, half, columns, look)
            left, right = [], []
            if one.row.kind == "same":
                lines += _beside([one], [one], half, columns, look)
            else:
                lines.append(_marker(one.row, width, columns, look))
    return lines + _beside(left, right, half, columns, look)


def _beside(left: list[_Drawn], right: list[_Drawn], half: int, columns: int, look: Look) -> Lines:
    """Removed lines on the left of the added ones, first beside first."""
    lines: Lines = []
    middle = Segment(" │ " if look.signs.rule == "─" else " | ", look.roles.muted)
    for number in range(max(len(left), len(right))):
        before = _half(left, number, half, columns, look, old=True)
        after = _half(right, number, half, columns, look, old=False)
        for level in range(max(len(before), len(after))):
            one = before[level] if level < len(before) else []
            two = after[level] if level < len(after) else []
            space = half - sum(width_of(segment.text) for segment in one)
            lines.append([*one, Segment(" " * max(0, space)), middle, *two])
    return lines


def _half(side: list[_Drawn], number: int, half: int, columns: int, look: Look, old: bool) -> Lines:
    if number >= len(side):
        return []
    row = side[number].row
    return _side(side[number], f"{(row.old if old else row.new) or '':>{columns}} ", half, look)
