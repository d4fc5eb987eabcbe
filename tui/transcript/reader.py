"""Reading a transcript: what is shown, from where, what is folded, selected and searched for. Knows no widget.

The place of a person who reads is a line of a block, not a number: whatever arrives, folds or wraps anew, that line
stays where it is. At the end the view follows what arrives.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from textual.selection import Selection
from textual.strip import Strip

from engine.events import AnyEvent
from tui.transcript.blocks import Blocks, Changes
from tui.transcript.kinds import Block, CallKey, Gone, Jump, Tool, Whole, jumps_of, source_text
from tui.transcript.layout import Layout
from tui.transcript.look import Look
from tui.transcript.pictures import BEING_READ, room_for
from tui.transcript.render import Rendered, left_behind, render
from tui.transcript.rows import GUTTER
from tui.transcript.search import Search

_NONE = -1
_SELECTABLE_LINES = 20_000
"""Lines a selection by mouse takes along at most."""
_FROM_TOP = 3
"""Jumps land a third of the view below its top."""
_PORTION = 200
"""Events taken in at once: their blocks are measured before they may be packed away."""
_CALLS_APART = 1_000
"""Blocks between the first of an event and the last call of it, at most."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line on the screen: line ``line`` of block ``block``."""

    block: int
    line: int
    strip: Strip


@dataclass(frozen=True, slots=True)
class Frame:
    """What a view shows: its first line, of how many, and its rows."""

    top: int
    total: int
    rows: list[Row]


class Reader:
    """One person's view of one transcript. ``width`` and ``height`` in cells; nothing is laid out while they are 0."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self.width = self.height = 0
        self._past: tuple[Blocks, Layout] | None = None
        self.blocks = Blocks()
        self.clear()

    def clear(self) -> None:
        """Forget everything but size and look."""
        self.blocks.close()
        if self._past is not None:
            self._past[0].close()
        self._past = None
        self.blocks = Blocks()
        self.layout = Layout(self.blocks, self._draw)
        self.layout.restart(self.width or 80)
        self.follow = True
        self.unseen = 0
        self.selected = _NONE
        self.search = Search(self.blocks, "")
        self.top = 0
        self._anchor = (0, 0)
        self._pages: dict[int, int] = {}
        self._all_unfolded = False
        self._full: dict[CallKey, Whole] = {}
        self._found_at = (_NONE, 0)

    def _draw(self, index: int, before: Rendered | None) -> Rendered:
        block = self.blocks[index]
        drawn = render(block, self.width, self.look, self.pages(index), before, self._whole(block))
        return left_behind(drawn, self.look) if self.blocks.is_left(index) else drawn

    # --- what changes it -------------------------------------------------------------------------------------------

    def feed(self, events: Iterable[AnyEvent]) -> bool:
        """Take in events; whether anything is to be seen of them."""
        # Not ``any``: it would stop at the first portion that shows something.
        return sum([self._take(portion) for portion in _portions(events)]) > 0

    def _take(self, events: Sequence[AnyEvent]) -> bool:
        changes = self.blocks.feed(events)
        fresh = len(self.blocks) - changes.first
        if not fresh and not changes.updated:
            return False
        _lay_out(self.layout, changes)
        self.search.look_again((*changes.updated, *range(changes.first, len(self.blocks))))
        if not self.follow:
            self.unseen += fresh or (self.unseen == 0 and len(self.blocks) - 1 in changes.updated)
        return True

    def feed_past(self, events: Iterable[AnyEvent]) -> None:
        """Take in what was before, from its beginning on, and then all that is shown; `join_past` shows it."""
        if self._past is None:
            blocks = Blocks()
            self._past = blocks, Layout(blocks, self._draw)
        blocks, layout = self._past
        for portion in _portions(events):
            _lay_out(layout, blocks.feed(portion))

    def join_past(self) -> None:
        """Show the past that was taken in. What a person reads, has selected or unfolded stays so, in its place."""
        if self._past is None:
            return
        shown = self.blocks
        (self.blocks, self.layout), self._past = self._past, None
        self.layout.restart(self.width or 80)
        further = len(self.blocks) - len(shown)

        def place(index: int) -> int:
            at = max(0, index + further)
            same = at < len(self.blocks) and self.blocks[at].seq == shown[index].seq
            return at if same else max(0, self.blocks.block_of(shown[index].seq))

        if len(shown):
            index, line = self._anchor
            # The first block shown has a blank line above it now.
            self._anchor = (place(index), line + self.blocks.gap_before(place(index)) - shown.gap_before(index))
            self.selected = place(self.selected) if 0 <= self.selected < len(shown) else _NONE
            self._pages = {place(index): pages for index, pages in self._pages.items()}
        shown.close()
        self.find(self.search.text)

    def resize(self, width: int, height: int) -> bool:
        """A new size of the view; whether it differs."""
        if (width, height) == (self.width, self.height):
            return False
        if width != self.width:
            self.width = width
            self.layout.restart(width)
        self.height = height
        return True

    def restyle(self, look: Look) -> bool:
        """A new look; whether it differs."""
        if look == self.look:
            return False
        self.look = look
        self.layout.restart(self.width or 80)
        return True

    def scroll_to(self, line: int) -> None:
        """A person moved the view."""
        self._anchor = self.layout.heights.find(line)
        self.follow = False

    def go_to_end(self) -> None:
        """Follow the end from now on."""
        self.follow = True

    def frame(self) -> Frame:
        """Lay out what the view shows. Follows the end from now on when that is in view, and only then."""
        height = self.height
        top = self.layout.settle_end(height) if self.follow else self.layout.settle(*self._anchor, height)
        self.top = top
        self._anchor = self.layout.heights.find(top)
        self.follow = top >= self.layout.total - height
        if self.follow:
            self.unseen = 0
        return Frame(top, self.layout.total, [Row(*row) for row in self.layout.rows(top, height)])

    # --- folding ---------------------------------------------------------------------------------------------------

    def pages(self, index: int) -> int:
        """How much of a block is unfolded; 0 is folded."""
        return self._pages.get(index, int(self._all_unfolded))

    def set_pages(self, index: int, pages: int) -> None:
        """Fold or unfold a block; its first line stays where it is."""
        self._hold(index)
        self._pages[index] = pages
        self.layout.touch(index)
        block = self.blocks[index]
        if isinstance(block, Tool) and block.picture:
            if pages:
                self._show_whole(index)
            else:
                self._full.pop(block.key, None)  # the file may be another when somebody looks again

    def open_further(self, index: int) -> bool:
        """Unfold a block, show more of it, or fold it when all of it is shown. Whether it is unfolded now."""
        pages = self.pages(index)
        if not self.layout.hidden(index) and not pages:
            return False
        self.set_pages(index, pages + 1 if self.layout.hidden(index) else 0)
        return self.pages(index) > 0

    def fold_all(self, unfolded: bool) -> None:
        """Fold or unfold every block; the place of reading stays."""
        self._all_unfolded = unfolded
        self._pages.clear()
        self.layout.restart(self.width or 80)

    def wants(self, index: int) -> str:
        """The digest of the whole output that an unfolded call lacks; empty when it lacks nothing."""
        block = self.blocks[index]
        if isinstance(block, Tool) and block.digest and not block.diff and block.key not in self._full:
            return block.digest
        return ""

    def ask_picture(self, index: int) -> tuple[str, int, int] | None:
        """The file whose picture an unfolded call lacks, and the columns and lines there are for it; asked for once."""
        block = self.blocks[index]
        if not isinstance(block, Tool) or not block.picture or block.key in self._full or self.look.no_pictures:
            return None
        self._full[block.key] = BEING_READ
        self.layout.touch(index)
        return block.picture, *room_for(self.width, self.height)

    def supply(self, call: CallKey, whole: Whole) -> bool:
        """The whole of what a call lacked; whether there is such a call, and it still lacks that."""
        index = self._index_of(call)
        if index < 0 or (not isinstance(whole, str) and self._full.get(call) is not BEING_READ):
            return False
        self._full[call] = whole
        self.layout.touch(index)
        if not isinstance(whole, str):
            self._show_whole(index)
        return True

    def _show_whole(self, index: int) -> None:
        """Bring all of a picture into view, or the words in its place, unless a person has gone elsewhere meanwhile."""
        if self.selected == index and self.top <= self.layout.heights.before(index) < self.top + self.height:
            self._hold(index)
            self.select(index)

    def _index_of(self, call: CallKey) -> int:
        """Where a call stands: at the first block of its event or after it. -1 when there is none."""
        first = max(0, self.blocks.block_of(call[0]))
        for index in range(first, min(first + _CALLS_APART, len(self.blocks))):
            block = self.blocks[index]
            if isinstance(block, Tool) and block.key == call:
                return index
        return _NONE

    def _whole(self, block: Block) -> Whole | None:
        return self._full.get(block.key) if isinstance(block, Tool) else None

    def _hold(self, index: int) -> None:
        """Keep the view where it is while a block changes, and in any case its first line in view."""
        if self.layout.heights.before(index) < self.top:
            self._anchor = (index, 0)
        self.follow = False

    # --- selecting and jumping -------------------------------------------------------------------------------------

    def chosen(self) -> Block | None:
        """The selected block."""
        return self.blocks[self.selected] if 0 <= self.selected < len(self.blocks) else None

    def select(self, index: int) -> None:
        """Select a block and bring it into view."""
        self.selected = index
        height = self.layout.measure(index)
        first = self.layout.heights.before(index)
        last = first + min(height, self.height)
        if first < self.top:
            self._anchor, self.follow = (index, 0), False
        elif last > self.top + self.height:
            top = self.layout.settle(index, 0, self.height)
            self.scroll_to(max(0, min(top, self.layout.heights.before(index) + min(height, self.height) - self.height)))

    def select_step(self, step: int) -> bool:
        """Select the next (1) or previous (-1) block; from the edge of the view when none is selected there."""
        index = self.selected
        if index < 0:
            shown = self.layout.rows(self.top, self.height)
            if not shown:
                return False
            index = shown[-1 if step < 0 else 0][0] - step
        index += step
        while 0 <= index < len(self.blocks) and isinstance(self.blocks[index], Gone):
            index += step
        if not 0 <= index < len(self.blocks):
            return False
        self.select(index)
        return True

    def jump_to(self, index: int, line: int = 0) -> None:
        """Select a block and put a line of it a third below the top of the view."""
        self.selected = index
        self.layout.settle(index, line, self.height)
        self.scroll_to(max(0, self.layout.heights.before(index) + line - self.height // _FROM_TOP))

    def jump(self, kind: Jump, direction: int) -> bool:
        """Go to the next (1) or previous (-1) block of a kind, from the selected one or the view's first."""
        start = self.selected if self.selected >= 0 else self._anchor[0]
        if self.selected < 0 and direction < 0 and self.follow:
            start = len(self.blocks)
        places = self.blocks.jumps(kind)
        at = bisect_right(places, start) if direction > 0 else bisect_left(places, start) - 1
        while 0 <= at < len(places):
            if kind in jumps_of(self.blocks[places[at]]):
                self.jump_to(places[at])
                return True
            at += direction
        return False

    # --- searching -------------------------------------------------------------------------------------------------

    def find(self, text: str) -> None:
        """Search for ``text`` from here on; empty ends the search."""
        self.search = Search(self.blocks, text)
        self.search.step()
        self._found_at = (_NONE, 0)

    def find_step(self, direction: int) -> bool:
        """Go to the next (1) or previous (-1) line that holds what is searched for."""
        block, line = self._found_at
        if block < 0:
            block, line = (self._anchor[0], -1) if direction > 0 else (len(self.blocks), 0)
        else:
            lines = self._found_lines(block)
            within = [n for n in lines if n > line] if direction > 0 else [n for n in reversed(lines) if n < line]
            if within:
                return self._show_found(block, within[0])
        search = self.search
        block = search.next_block(block) if direction > 0 else search.previous_block(block)
        if block < 0:
            return False
        lines = self._found_lines(block)
        return self._show_found(block, (lines[0] if direction > 0 else lines[-1]) if lines else 0)

    def _found_lines(self, block: int) -> list[int]:
        lines = self.search.lines_in([strip.text for strip in self.layout.lines(block)])
        if not lines and self.layout.hidden(block):
            # What was found is folded away.
            self.set_pages(block, self.pages(block) + 1)
            lines = self.search.lines_in([strip.text for strip in self.layout.lines(block)])
        return lines

    def _show_found(self, block: int, line: int) -> bool:
        self._found_at = (block, line)
        self.jump_to(block, line)
        return True

    # --- text ------------------------------------------------------------------------------------------------------

    def at_hand(self) -> tuple[Block | None, str]:
        """The selected block, else the last one that says anything; and its whole output, if it was asked for."""
        block = self.chosen()
        if block is None:
            newest = (self.blocks[index] for index in range(len(self.blocks) - 1, -1, -1))
            block = next((one for one in newest if source_text(one)), None)
        whole = self._whole(block) if block else None
        return block, whole if isinstance(whole, str) else ""

    def text_within(self, selection: Selection) -> str:
        """The text selected by mouse, without margin and bars; the selection counts lines of the transcript."""
        first = selection.start.y if selection.start else 0
        last = selection.end.y if selection.end else self.layout.total - 1
        rows = self.layout.rows(first, min(last - first + 1, _SELECTABLE_LINES))
        lines = [(strip.text, selection.get_span(line)) for line, (_, _, strip) in enumerate(rows, first)]
        return "\n".join(
            text[max(span[0], GUTTER) : len(text) if span[1] < 0 else span[1]].rstrip() for text, span in lines if span
        )


def _portions(events: Iterable[AnyEvent]) -> Iterator[list[AnyEvent]]:
    rest = iter(events)
    while portion := list(islice(rest, _PORTION)):
        yield portion


def _lay_out(layout: Layout, changes: Changes) -> None:
    """Make room for what is new, and measure again what is not as it was."""
    layout.grow()
    for index in changes.updated:
        layout.touch(index)
    for marked in changes.marked:
        layout.draw_again(marked)
