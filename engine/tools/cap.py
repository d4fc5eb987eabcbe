"""The cap on what a model reads of one output: 2,000 lines / 50 KB; the rest stays readable by line number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

MAX_LINES = 2000
MAX_BYTES = 50 * 1024
LINE_LENGTH = 2000
HEAD_SHARE = 0.2
_NOTE_BYTES = 400


@dataclass(frozen=True, slots=True)
class Cut:
    """What is left of an output over the cap. ``total`` counts its lines; the gap is between head and tail."""

    head: tuple[str, ...]
    tail: tuple[str, ...]
    total: int

    @property
    def missing(self) -> int:
        return self.total - len(self.head) - len(self.tail)

    def text(self, note: str) -> str:
        """Head, note and tail, one below the other."""
        return "\n".join((*self.head, note, *self.tail))


def lines_of(text: str) -> list[str]:
    """The lines by which an output is cut and read on. Lines over 2,000 characters are folded, so that a single
    endless line can be paged too."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [piece for line in lines for piece in _folded(line)]


def cut(text: str, keep: Literal["head", "ends"]) -> Cut | None:
    """What to show of ``text``; None when all of it fits."""
    if len(text) <= MAX_BYTES // 4 and text.count("\n") < MAX_LINES:
        return None
    lines = lines_of(text)
    if len(lines) <= MAX_LINES and len(text.encode()) <= MAX_BYTES:
        return None
    room = MAX_BYTES - _NOTE_BYTES
    if keep == "head":
        return Cut(fitting(lines, MAX_LINES - 1, room), (), len(lines))
    head = fitting(lines, int(MAX_LINES * HEAD_SHARE), int(room * HEAD_SHARE))
    rest = reversed(lines[len(head) :])
    tail = fitting(rest, MAX_LINES - 1 - len(head), room - _weight(head))
    return Cut(head, tail[::-1], len(lines))


def fitting(lines: Iterable[str], most: int, room: int) -> tuple[str, ...]:
    """The first of ``lines`` that fit into ``most`` lines and ``room`` bytes, line ends counted."""
    taken: list[str] = []
    for line in lines:
        room -= len(line.encode()) + 1
        if len(taken) >= most or room < 0:
            break
        taken.append(line)
    return tuple(taken)


def _weight(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _folded(line: str) -> list[str]:
    if len(line) <= LINE_LENGTH:
        return [line]
    return [line[start : start + LINE_LENGTH] for start in range(0, len(line), LINE_LENGTH)]
