"""Heights of blocks with prefix sums: a Fenwick tree, so that block to line and line to block cost O(log n)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable


class Heights:
    """A growing list of non-negative integers. Indexes from 0; sums over ``[0, i)``."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._values = array("i")
        self._tree = array("q", [0])
        self.total = 0
        for height in heights:
            self.append(height)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> int:
        return self._values[index]

    def append(self, height: int) -> None:
        """Add one at the end."""
        node = len(self._tree)
        below = node - 1
        total = height
        stop = node - (node & -node)
        while below > stop:
            total += self._tree[below]
            below -= below & -below
        self._values.append(height)
        self._tree.append(total)
        self.total += height

    def set(self, index: int, height: int) -> int:
        """Change one; the difference to what it was."""
        change = height - self._values[index]
        if change:
            self._values[index] = height
            self.total += change
            node = index + 1
            while node < len(self._tree):
                self._tree[node] += change
                node += node & -node
        return change

    def before(self, index: int) -> int:
        """The sum of all before ``index``."""
        total = 0
        while index > 0:
            total += self._tree[index]
            index -= index & -index
        return total

    def find(self, line: int) -> tuple[int, int]:
        """The (index, offset within it) of a line; past the end it is the last that has a height. (0, 0) when empty."""
        if self.total == 0:
            return 0, 0
        rest = min(max(line, 0), self.total - 1)
        node = 0
        step = 1 << (len(self._tree) - 1).bit_length()
        while step:
            ahead = node + step
            if ahead < len(self._tree) and self._tree[ahead] <= rest:
                node = ahead
                rest -= self._tree[ahead]
            step >>= 1
        return node, rest
