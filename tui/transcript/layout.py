"""Where every block stands: exact near the view, estimated far from it, so that nothing costs the whole length.

A width change forgets no height: old ones serve as estimates until their block comes near and is measured again.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from textual.strip import Strip

from tui.transcript.blocks import Blocks
from tui.transcript.heights import Heights
from tui.transcript.kinds import Block, Gone, Note, Question, Said, Tool
from tui.transcript.render import MARKDOWN_LIMIT, SAID_LINES, Rendered

KEPT_LINES = 2_000
"""Rendered lines kept for blocks near the view, about 2 KB each; others are rendered again when they come back."""

Draw = Callable[[int, Rendered | None], Rendered]
_GAP = Strip([], 0)


@dataclass(slots=True)
class _Entry:
    """A rendered block. ``lines`` begin with the blank line above it, if it has one."""

    rendered: Rendered
    gap: int
    lines: list[Strip]
    stale: bool = False


class Layout:
    """Heights and lines of the blocks at one width. ``draw(index, before)`` renders a block."""

    def __init__(self, blocks: Blocks, draw: Draw) -> None:
        self._blocks = blocks
        self._draw = draw
        self.heights = Heights()
        self._measured = array("i")
        self._generation = 0
        self._entries: OrderedDict[int, _Entry] = OrderedDict()
        self._kept = 0
        self.width = 80

    @property
    def total(self) -> int:
        """Lines of the whole transcript, as far as known."""
        return self.heights.total

    # --- what changed ----------------------------------------------------------------------------------------------

    def grow(self) -> None:
        """Take in blocks that were appended."""
        for index in range(len(self._measured), len(self._blocks)):
            self.heights.append(self._estimate(index))
            self._measured.append(-1)

    def touch(self, index: int) -> None:
        """A block differs from what was measured."""
        self._measured[index] = -1
        entry = self._entries.get(index)
        if entry is None:
            self.heights.set(index, self._estimate(index))
        else:
            entry.stale = True
        if isinstance(self._blocks[index], Gone) and index + 1 < len(self._measured):
            self._measured[index + 1] = -1
            if after := self._entries.get(index + 1):
                after.stale = True

    def draw_again(self, indexes: range) -> None:
        """These blocks look different, and are as high as they were: however many, only drawn ones cost anything."""
        for index, entry in self._entries.items():
            if index in indexes:
                entry.stale = True

    def restart(self, width: int) -> None:
        """Width or look changed: every block has to be rendered again when it comes near."""
        self.width = max(1, width)
        self._generation += 1
        self._entries.clear()
        self._kept = 0

    def _estimate(self, index: int) -> int:
        block = self._blocks[index]
        return guess(block, self.width) + (self._blocks.gap_before(index) if not isinstance(block, Gone) else 0)

    # --- lines of blocks -------------------------------------------------------------------------------------------

    def measure(self, index: int) -> int:
        """The exact height of a block."""
        if self._measured[index] != self._generation:
            self._entry(index)
        return self.heights[index]

    def lines(self, index: int) -> list[Strip]:
        """The lines of a block, the blank one above it included."""
        return self._entry(index).lines

    def gap(self, index: int) -> int:
        """Blank lines above a block: 0 or 1."""
        return self._entry(index).gap

    def hidden(self, index: int) -> int:
        """Lines of a block that are not shown."""
        return self._entry(index).rendered.hidden

    def _entry(self, index: int) -> _Entry:
        entry = self._entries.get(index)
        if entry is None or entry.stale:
            rendered = self._draw(index, entry.rendered if entry else None)
            gap = int(bool(rendered.strips) and self._blocks.gap_before(index))
            lines = [_GAP] * gap + rendered.strips
            self._kept += len(lines) - (len(entry.lines) if entry else 0)
            entry = self._entries[index] = _Entry(rendered, gap, lines)
            self._forget_old()
        self._entries.move_to_end(index)
        if self._measured[index] != self._generation:
            self._measured[index] = self._generation
            self.heights.set(index, len(entry.lines))
        return entry

    def _forget_old(self) -> None:
        while self._kept > KEPT_LINES and len(self._entries) > 1:
            _, old = self._entries.popitem(last=False)
            self._kept -= len(old.lines)

    # --- the view --------------------------------------------------------------------------------------------------

    def settle(self, block: int, offset: int, height: int) -> int:
        """Measure all that a view of ``height`` lines needs whose first line is line ``offset`` of ``block``, and as
        much again above and below; the first line of that view, pulled up when the end would leave it half empty."""
        if not len(self._blocks):
            return 0
        offset = min(offset, max(0, self.measure(block) - 1))
        self._measure_until(block, 1, offset + 2 * height)
        self._measure_until(block - 1, -1, height)
        top = self.heights.before(block) + offset
        return max(0, min(top, self.total - height))

    def settle_end(self, height: int) -> int:
        """The same for the view that ends with the last line."""
        self._measure_until(len(self._blocks) - 1, -1, 2 * height)
        return max(0, self.total - height)

    def _measure_until(self, index: int, step: int, lines: int) -> None:
        while 0 <= index < len(self._blocks) and lines > 0:
            lines -= self.measure(index)
            index += step

    def rows(self, top: int, height: int) -> list[tuple[int, int, Strip]]:
        """(block, line in it, strip) of the lines from ``top`` on; fewer than ``height`` at the end."""
        rows: list[tuple[int, int, Strip]] = []
        index, offset = self.heights.find(top)
        while index < len(self._blocks) and len(rows) < height:
            lines = self.lines(index)
            rows.extend((index, at, lines[at]) for at in range(offset, min(len(lines), offset + height - len(rows))))
            index, offset = index + 1, 0
        return rows


def guess(block: Block, width: int) -> int:
    """About how many lines a block takes; cheap, and near enough for a scrollbar."""
    if isinstance(block, Said):
        lines = block.text.count("\n") + min(len(block.text), MARKDOWN_LIMIT) // max(20, width) + 1
        return block.head + (lines if block.who == "agent" else min(lines, SAID_LINES))
    if isinstance(block, Tool):
        return 4 if block.state in ("error", "running") and (block.text or block.tail) else 1
    if isinstance(block, Question):
        return 2 + len(block.options) + bool(block.by)
    if isinstance(block, Note):
        return 1 + bool(block.detail)
    return 0 if isinstance(block, Gone) else 1
