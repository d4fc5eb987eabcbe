"""What an approval is about, in parts that are laid out one at a time: what runs, and the rows of a diff. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui.dialogs.exact import ALONE, Within
from tui.dialogs.parts import MOST, parts
from tui.diff import Frame, Row, parse

if TYPE_CHECKING:
    from engine.events import ApprovalRequested

ROWS = 1_000
"""Rows of a diff in a part."""

FRAME = Frame()


@dataclass(frozen=True, slots=True)
class Part:
    """Some of what runs, with its place in the whole, or rows of the diff, or the end of the one and the beginning of
    the other."""

    subject: str | None = None
    within: Within = ALONE
    rows: tuple[Row, ...] = ()
    frame: Frame = FRAME


def approval_parts(request: ApprovalRequested) -> tuple[Part, ...]:
    """All of it in order; one part for what is not long."""
    found = list(_subjects(request.subject))
    if request.diff:
        rows = parse(request.diff)
        frame = Frame.of(rows)
        first, *rest = _groups(rows) or [()]
        found[-1] = replace(found[-1], rows=first, frame=frame)
        found += [Part(rows=some, frame=frame) for some in rest]
    return tuple(found)


def _subjects(text: str) -> Iterator[Part]:
    start = line = 0
    lines = text.count("\n") + 1
    begun = False
    for piece in parts(text):
        within = Within(start, line, lines, begun)
        start, line = start + len(piece), line + piece.count("\n")
        # The line after the last line end of a part is the first of the next one.
        ended = piece.endswith("\n") and start < len(text)
        yield Part(piece[:-1] if ended else piece, within)
        begun = not piece.endswith("\n")


def _groups(rows: Sequence[Row]) -> list[tuple[Row, ...]]:
    """Rows for each part, after the name of the file they are of."""
    groups: list[tuple[Row, ...]] = []
    some: list[Row] = []
    name, size = None, 0
    for row in _cut(rows):
        if len(some) >= ROWS or (size and size + len(row.text) > MOST):
            groups.append(tuple(some))
            some, size = [name] if name and row.kind != "file" else [], 0
        some.append(row)
        name, size = row if row.kind == "file" else name, size + len(row.text)
    return [*groups, tuple(some)] if some else groups


def _cut(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows, those that are very long in several; only the first of these has a number."""
    for row in rows:
        if len(row.text) <= MOST:
            yield row
            continue
        for level in range(0, len(row.text), MOST):
            old, new = (0, 0) if level else (row.old, row.new)
            yield Row(row.kind, row.text[level : level + MOST], old, new)
