"""A text of any length for reading: laid out part by part, so that its length makes nobody wait. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

T = TypeVar("T")

MOST = 20_000
"""Characters of a part."""
SHOWN = 2_000
"""Characters shown of what is not read in parts."""


def parts(text: str, most: int = MOST) -> list[str]:
    """All of ``text`` in order, in parts of at most ``most`` characters that end at line ends where there are some."""
    found, at = [], 0
    while len(text) - at > most:
        end = text.rfind("\n", at + most // 2, at + most) + 1 or at + most
        found.append(text[at:end])
        at = end
    return [*found, text[at:]]


def shortened(text: str, most: int = SHOWN) -> str:
    """``text``, or its first ``most`` characters and how many there are besides."""
    return text if len(text) <= most else f"{text[:most]} (and {len(text) - most:,} more characters)"


class Parts(Generic[T]):
    """Which part of a text is being read. ``all``: the parts in order, one at least."""

    def __init__(self, all: Sequence[T]) -> None:
        self._all = all
        self._at = 0

    @property
    def now(self) -> T:
        return self._all[self._at]

    @property
    def first(self) -> bool:
        return self._at == 0

    @property
    def last(self) -> bool:
        return self._at == len(self._all) - 1

    @property
    def place(self) -> str:
        """``part 2 of 50``; nothing when there is one."""
        return f"part {self._at + 1} of {len(self._all)}" if len(self._all) > 1 else ""

    def go(self, at: int) -> bool:
        """To a part, counted round and round; whether it is another one."""
        before, self._at = self._at, at % len(self._all)
        return before != self._at

    def turn(self, by: int) -> bool:
        """So many parts further, or back where ``by`` is negative."""
        return self.go(self._at + by)
