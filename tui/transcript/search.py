"""Search over blocks in bounded steps: the newest first, so that what is near is found at once."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from tui.transcript.kinds import Block, source_text

STEP = 500_000
"""Characters looked at in one step: some milliseconds."""
EACH = 300
"""What it costs to come to a block, which may have to be unpacked, in characters."""


class Search:
    """What ``text`` is found in, without regard to case. Nothing is found for an empty text."""

    def __init__(self, blocks: Sequence[Block], text: str) -> None:
        self.text = text
        self._needle = text.lower()
        self._blocks = blocks
        self._next = len(blocks) - 1 if text else -1
        # The newest first, as they are found: block -index is found counts[at] times.
        self._found, self._counts = array("q"), array("q")
        self.matches = 0

    @property
    def complete(self) -> bool:
        """Whether every block has been looked at."""
        return self._next < 0

    def step(self) -> None:
        """Look at some more blocks."""
        left = STEP
        while self._next >= 0 and left > 0:
            left -= self._look(self._next) + EACH
            self._next -= 1

    def look_again(self, indexes: Iterable[int]) -> None:
        """These blocks are new or changed."""
        for index in indexes:
            if self._needle and index > self._next:
                self._look(index)

    def _look(self, index: int) -> int:
        text = source_text(self._blocks[index])
        count = text.lower().count(self._needle)
        at = bisect_left(self._found, -index)
        known = at < len(self._found) and self._found[at] == -index
        self.matches += count - (self._counts[at] if known else 0)
        if known and count:
            self._counts[at] = count
        elif known:
            del self._found[at], self._counts[at]
        elif count:
            self._found.insert(at, -index)
            self._counts.insert(at, count)
        return len(text)

    def next_block(self, after: int) -> int:
        """The first block found after ``after``, from the beginning again at the end; -1 when nothing was found."""
        return -self._found[bisect_left(self._found, -after) - 1] if self._found else -1

    def previous_block(self, before: int) -> int:
        """The last block found before ``before``, from the end again at the beginning; -1 when nothing was found."""
        return -self._found[bisect_right(self._found, -before) % len(self._found)] if self._found else -1

    def lines_in(self, lines: Sequence[str]) -> list[int]:
        """Which of the lines hold the text."""
        return [number for number, line in enumerate(lines) if self._needle in line.lower()]

    def spans_in(self, line: str) -> list[tuple[int, int]]:
        """Where in a line the text is, as offsets of characters."""
        spans: list[tuple[int, int]] = []
        lowered = line.lower()
        at = lowered.find(self._needle) if self._needle and len(lowered) == len(line) else -1
        while at >= 0:
            spans.append((at, at + len(self._needle)))
            at = lowered.find(self._needle, at + len(self._needle))
        return spans
