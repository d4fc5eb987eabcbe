"""A list of blocks that a long session does not make large: the newest are at hand, older ones lie packed in a file.

A group of old blocks is unpacked when one of them is asked for, and stays so while it is used. A block that comes back
from the file equals the one that was put there, but is another object. Where nothing can be written all blocks stay in
memory.
"""

from __future__ import annotations

import pickle
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, overload

from tui.transcript.kinds import Block, Gone, Note, Question, Said, Thought, Tool
from tui.transcript.records import Records

_KINDS: tuple[type[Any], ...] = (Said, Thought, Tool, Note, Question, Gone)
_NUMBERS = {kind: number for number, kind in enumerate(_KINDS)}
_FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in _KINDS}
_LOST = Note(0, "error", "warn", "not shown", "what stands here can no longer be read from the temporary file")


@dataclass(frozen=True, slots=True)
class Limits:
    """newest: blocks that are never packed. group, size: how many of them, and about how many bytes, are packed at a
    time. open_groups, open_bytes: what is kept unpacked of old ones. again: blocks that come before another attempt to
    write after one that failed."""

    newest: int = 256
    group: int = 64
    size: int = 200_000
    open_groups: int = 12
    open_bytes: int = 4_000_000
    again: int = 1_000


class Shelf(Sequence[Block]):
    """Blocks can be added at the end and replaced; at most one group is packed at a time."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._newest: list[Block] = []
        self._packed = 0
        self._firsts = array("q")
        self._records = Records()
        self._open: OrderedDict[int, list[Block]] = OrderedDict()
        self._changed: set[int] = set()
        self._write_at = 0

    def __len__(self) -> int:
        return self._packed + len(self._newest)

    @property
    def packed(self) -> int:
        """How many blocks, from the first on, lie in the file."""
        return self._packed

    @overload
    def __getitem__(self, index: int) -> Block: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Block]: ...
    def __getitem__(self, index: int | slice) -> Block | Sequence[Block]:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        if index >= self._packed:
            return self._newest[index - self._packed]
        if index < 0:
            return self[self._place(index)]
        blocks, at = self._group_of(index)
        return blocks[at]

    def __setitem__(self, index: int, block: Block) -> None:
        index = self._place(index)
        if index >= self._packed:
            self._newest[index - self._packed] = block
            return
        blocks, at = self._group_of(index)
        blocks[at] = block
        self._changed.add(bisect_right(self._firsts, index) - 1)

    def append(self, block: Block) -> None:
        """Add a block at the end."""
        self._newest.append(block)
        if len(self._newest) >= self._limits.newest + self._limits.group and len(self) >= self._write_at:
            self._pack_oldest()

    def close(self) -> None:
        """Give up the file; what lies in it is lost."""
        self._records.close()

    def _place(self, index: int) -> int:
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"there is no block {index}")
        return place

    # --- packing ---------------------------------------------------------------------------------------------------

    def _pack_oldest(self) -> None:
        rows = [_row(block) for block in self._newest[: self._limits.group]]
        data = pickle.dumps(rows, protocol=5)
        if len(data) > self._limits.size:
            rows = self._fewer(rows)
            data = pickle.dumps(rows, protocol=5)
        try:
            self._records.add(data)
        except OSError:
            self._write_at = len(self) + self._limits.again
            return
        self._firsts.append(self._packed)
        self._packed += len(rows)
        del self._newest[: len(rows)]

    def _fewer(self, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """As many as are about large enough together: a large block is not unpacked for each of many others."""
        characters = 0
        for count, row in enumerate(rows, 1):
            characters += sum(len(value) for value in row if isinstance(value, str))
            if characters >= self._limits.size:
                return rows[:count]
        return rows

    def _group_of(self, index: int) -> tuple[list[Block], int]:
        """The group a packed block belongs to, unpacked, and the place of the block in it."""
        number = bisect_right(self._firsts, index) - 1
        blocks = self._open.get(number)
        if blocks is None:
            blocks = self._open[number] = self._unpacked(number)
            self._put_back()
        else:
            self._open.move_to_end(number)
        return blocks, index - self._firsts[number]

    def _unpacked(self, number: int) -> list[Block]:
        try:
            return [_KINDS[kind](*values) for kind, *values in pickle.loads(self._records.read(number))]
        except OSError:
            end = self._firsts[number + 1] if number + 1 < len(self._firsts) else self._packed
            return [_LOST] * (end - self._firsts[number])

    def _put_back(self) -> None:
        """Let go of the groups that were used longest ago. The last two stay: a block is looked at with the one before
        it."""
        held = sum(self._records.size(number) for number in self._open)
        for number in list(self._open)[:-2]:
            if len(self._open) <= self._limits.open_groups and held <= self._limits.open_bytes:
                return
            if number not in self._changed or self._written(number):
                held -= self._records.size(number)
                del self._open[number]

    def _written(self, number: int) -> bool:
        """Write a changed group anew; whether that could be done."""
        if len(self) < self._write_at:
            return False
        try:
            self._records.change(number, pickle.dumps([_row(block) for block in self._open[number]], protocol=5))
        except OSError:
            self._write_at = len(self) + self._limits.again
            return False
        self._changed.discard(number)
        return True


def _row(block: Block) -> tuple[Any, ...]:
    """A block as plain data: the number of its kind, and its fields in order."""
    kind = type(block)
    return _NUMBERS[kind], *[getattr(block, name) for name in _FIELDS[kind]]
