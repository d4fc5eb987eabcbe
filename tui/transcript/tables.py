"""Markdown tables as lines: columns by space and one rule under the head, no boxes; stacked when there is no room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.segment import Segment
from rich.style import Style

from tui.transcript.inline import inline_lines
from tui.transcript.look import BOLD, EMPTY, Look
from tui.transcript.wrap import Span, width_of, wrap_spans

MEASURED_ROWS = 50
"""Column widths come from the head and this many rows, so that a growing table keeps its columns."""
_GAP = 2
_NARROWEST = 6


@dataclass(frozen=True)
class Table:
    """A table as written: cells are inline Markdown. aligns: left, right or center, one a column."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    aligns: tuple[str, ...]


Widths = tuple[int, ...]


def widths_for(table: Table, width: int, look: Look, env: dict[str, Any]) -> Widths:
    """Cells of each column so that the table fits ``width``; empty when it cannot."""
    natural = [1] * len(table.head)
    for row in (table.head, *table.rows[:MEASURED_ROWS]):
        for number, cell in enumerate(row[: len(natural)]):
            spans = _spans(cell, look, env, EMPTY)
            natural[number] = max(natural[number], width_of("".join(text for text, _ in spans)))
    room = width - _GAP * (len(natural) - 1)
    if sum(natural) <= room:
        return tuple(natural)
    if room < _NARROWEST * len(natural):
        return ()
    return _squeeze(natural, room)


def _squeeze(natural: list[int], room: int) -> Widths:
    """Narrow columns keep their width; the wide ones share the rest evenly."""
    open_columns = sorted(range(len(natural)), key=natural.__getitem__)
    widths = list(natural)
    while open_columns:
        share = room // len(open_columns)
        column = open_columns.pop(0)
        widths[column] = min(natural[column], max(share, 1))
        room -= widths[column]
    return tuple(widths)


def head_lines(table: Table, widths: Widths, look: Look, env: dict[str, Any]) -> list[list[Segment]]:
    """The head and its rule; nothing when the table is stacked."""
    if not widths:
        return []
    rule = [Segment((" " * _GAP).join(look.signs.rule * width for width in widths), look.roles.muted)]
    return [*_row(table.head, table.aligns, widths, look, env, BOLD), rule]


def row_lines(
    table: Table, row: tuple[str, ...], widths: Widths, width: int, look: Look, env: dict[str, Any]
) -> list[list[Segment]]:
    """One row: in columns, or as "head: cell" lines when the table is stacked."""
    if widths:
        return _row(row, table.aligns, widths, look, env, EMPTY)
    lines: list[list[Segment]] = []
    for head, cell in zip(table.head, row, strict=False):
        lines.extend(wrap_spans([(f"{head}: ", BOLD), *_spans(cell, look, env, EMPTY)], width))
    return [*lines, []]


def _row(
    row: tuple[str, ...], aligns: tuple[str, ...], widths: Widths, look: Look, env: dict[str, Any], base: Style
) -> list[list[Segment]]:
    cells = [
        wrap_spans(_spans(row[number] if number < len(row) else "", look, env, base), width)
        for number, width in enumerate(widths)
    ]
    lines: list[list[Segment]] = []
    for level in range(max(map(len, cells))):
        line: list[Segment] = []
        for number, (cell, width) in enumerate(zip(cells, widths, strict=True)):
            last = number == len(widths) - 1
            line.extend(_padded(cell[level] if level < len(cell) else [], width, aligns[number], last))
            if not last:
                line.append(Segment(" " * _GAP))
        lines.append(line)
    return lines


def _padded(segments: list[Segment], width: int, align: str, last: bool) -> list[Segment]:
    space = width - sum(width_of(segment.text) for segment in segments)
    if space <= 0 or (last and align == "left"):
        return segments
    left = {"right": space, "center": space // 2}.get(align, 0)
    before = [Segment(" " * left)] if left else []
    after = [Segment(" " * (space - left))] if space > left else []
    return [*before, *segments, *after]


def _spans(cell: str, look: Look, env: dict[str, Any], base: Style) -> list[Span]:
    return [span for line in inline_lines(cell, look, env, base) for span in line]
