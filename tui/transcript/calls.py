"""Which block shows a tool call: that of each call under way, and those of the last ones that ended or were named.

An event that comes so late that its call is no longer known gets a block of its own.
"""

from __future__ import annotations

from typing import TypeVar

LATE = 256
"""Calls that have ended whose blocks are still known."""
Key = TypeVar("Key")
Value = TypeVar("Value")
_NONE = -1


def remember(kept: dict[Key, Value], key: Key, value: Value, most: int = LATE) -> None:
    """Keep a value as the newest, and no more than ``most`` of them."""
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > most:
        del kept[next(iter(kept))]


class Calls:
    """Numbers of blocks; a call is known by its turn and its id, the newest with an id by the id alone."""

    def __init__(self) -> None:
        self._under_way: dict[tuple[int, str], int] = {}
        self._ended: dict[tuple[int, str], int] = {}
        self._newest: dict[str, int] = {}

    def put(self, turn: int, id: str, block: int) -> None:
        """A call of the model is shown in ``block``."""
        self._ended.pop((turn, id), None)
        self._under_way[turn, id] = block
        self.name(id, block)

    def name(self, id: str, block: int) -> None:
        """The newest call with this id is shown in ``block``."""
        remember(self._newest, id, block)

    def find(self, id: str, turn: int | None = None) -> int:
        """The block of a call, in any turn the newest with its id. -1 when it is not known."""
        if turn is not None:
            return self._under_way.get((turn, id), self._ended.get((turn, id), _NONE))
        if id in self._newest:
            return self._newest[id]
        return next((block for (_, one), block in reversed(self._under_way.items()) if one == id), _NONE)

    def begin(self, turn: int, id: str) -> None:
        """A call runs, even if it had ended."""
        if (block := self._ended.pop((turn, id), None)) is not None:
            self._under_way[turn, id] = block

    def end(self, turn: int, id: str) -> None:
        """A call has its result."""
        if (block := self._under_way.pop((turn, id), None)) is not None:
            remember(self._ended, (turn, id), block)

    def end_run(self) -> set[int]:
        """The run is over: the blocks of calls that have no result."""
        left = set(self._under_way.values())
        self._under_way.clear()
        self._ended.clear()
        return left
