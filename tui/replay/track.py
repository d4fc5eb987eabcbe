"""The time line as cells: each stands for an equal share of the events and shows the weightiest of what is in it.

By events and not by the clock, since a night's pause or a clock set back would leave no room for what happened.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tui.replay.moments import RANK, Kind, Moment

CROWDED = 0.5
"""From so many calls a cell on, their number is worth more than a mark for each."""


@dataclass(frozen=True, slots=True)
class Cell:
    """``kind``: the weightiest moment here, None when nothing is marked. ``calls``: tool calls here."""

    kind: Kind | None = None
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Track:
    """``crowded``: calls are drawn by their number. ``most``: the largest number of calls in a cell."""

    cells: tuple[Cell, ...]
    crowded: bool
    most: int


def make_track(marks: Iterable[Moment], length: int, width: int) -> Track:
    """``length`` events on ``width`` cells."""
    kinds: list[Kind | None] = [None] * max(0, width)
    calls = [0] * max(0, width)
    if not kinds:
        return Track((), False, 0)
    for moment in marks:
        cell = cell_of(moment.position, length, width)
        calls[cell] += moment.kind == "call"
        known = kinds[cell]
        if known is None or RANK.index(moment.kind) < RANK.index(known):
            kinds[cell] = moment.kind
    cells = tuple(Cell(kind, count) for kind, count in zip(kinds, calls, strict=True))
    return Track(cells, sum(calls) > CROWDED * width, max(calls))


def cell_of(position: int, length: int, width: int) -> int:
    """The cell in which position 0 … ``length`` lies."""
    if length <= 1 or width <= 1:
        return 0
    position = min(max(position, 1), length)
    return (position - 1) * (width - 1) // (length - 1)


def position_of(cell: int, length: int, width: int) -> int:
    """The last position of ``length`` that lies in ``cell``: a click shows all that the cell stands for."""
    if length <= 1 or width <= 1:
        return length
    cell = min(max(cell, 0), width - 1)
    first = -(-cell * (length - 1) // (width - 1))
    behind = -(-(cell + 1) * (length - 1) // (width - 1))
    # With more cells than events a cell may stand for none: then the one before it.
    return min(length, behind if behind > first else first)


def tenth(digit: int, length: int) -> int:
    """The position after ``digit`` tenths of ``length``, never before the first event."""
    return max(min(1, length), round(length * digit / 10))
