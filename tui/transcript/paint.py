"""Lines on their way to the screen: marks laid over them, the widget's own style below, the app's filters after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.strip import Strip

from tui.transcript.look import EMPTY, Look
from tui.transcript.reader import Reader, Row
from tui.transcript.wrap import width_of


@dataclass(frozen=True)
class Ground:
    """What a finished line depends on beside itself."""

    width: int
    base: Style
    background: Color
    filters: tuple[LineFilter, ...]

    def finish(self, strip: Strip) -> Strip:
        """``strip`` as wide as the view, in its colours, through the app's filters (no colour, plain colours)."""
        segments = [Segment(text, self.base + style if style else self.base) for text, style, _ in strip]
        used = sum(width_of(segment.text) for segment in segments)
        if used > self.width:
            return self.finish(strip.crop(0, self.width))
        if used < self.width:
            segments.append(Segment(" " * (self.width - used), self.base))
        for each in self.filters:
            segments = each.apply(segments, self.background)
        return Strip(segments, self.width)


class Painter:
    """Finished lines of the last frame: a line that is shown again, wherever, is the very same strip again.

    Textual keeps what it works out about a strip with the strip, so that a frame costs the lines that are new in it.
    """

    def __init__(self) -> None:
        self._ground: Ground | None = None
        self._lines: list[Strip] = []
        self._finished: list[Strip | None] = []

    @property
    def lines(self) -> list[Strip]:
        """The lines as laid out."""
        return self._lines

    def show(self, lines: list[Strip]) -> list[int]:
        """Take the lines of a new frame; which of them differ from those before."""
        before, finished = self._lines, self._finished
        known = {id(line): done for line, done in zip(before, finished, strict=True)}
        self._lines = lines
        self._finished = [known.get(id(line)) for line in lines]
        shared = min(len(before), len(lines))
        differ = [y for y in range(shared) if before[y] is not lines[y] and before[y] != lines[y]]
        return [*differ, *range(shared, max(len(before), len(lines)))]

    def line(self, y: int, ground: Ground) -> Strip:
        """The finished line ``y``; blank below the last."""
        if ground != self._ground:
            self._ground = ground
            self._finished = [None] * len(self._lines)
        if y >= len(self._lines):
            return ground.finish(Strip([]))
        done = self._finished[y]
        if done is None:
            done = self._finished[y] = ground.finish(self._lines[y])
        return done


def overlay(strip: Strip, spans: Sequence[tuple[int, int]], style: Style) -> Strip:
    """``strip`` with ``style`` over some spans of its characters. Spans are in order and do not overlap."""
    segments: list[Segment] = []
    at = 0
    for text, own, _ in strip:
        cuts = {0, len(text)}
        for start, end in spans:
            cuts.update(cut - at for cut in (start, end) if 0 < cut - at < len(text))
        for left, right in pairwise(sorted(cuts)):
            inside = any(start <= at + left < end for start, end in spans)
            segments.append(Segment(text[left:right], (own or EMPTY) + style if inside else own))
        at += len(text)
    return Strip(segments)


def marked(row: Row, reader: Reader) -> Strip:
    """A line as laid out, with what was found in it and whether its block is selected."""
    strip = row.strip
    found = reader.search.spans_in(strip.text) if reader.search.text else []
    if found:
        strip = overlay(strip, found, reader.look.found)
    if row.block == reader.selected and strip.text:
        strip = _selected(strip, row.line == reader.layout.gap(row.block), reader.width, reader.look)
    return strip


def _selected(strip: Strip, first: bool, width: int, look: Look) -> Strip:
    """A line of the selected block: the focus mark in the margin; its first line on the faint panel background."""
    panel = look.roles.panel if first else EMPTY
    mark = Segment(look.signs.focus, look.roles.accent + panel)
    rest = strip.crop(1).apply_style(panel) if first else strip.crop(1)
    fill = Segment(" " * max(0, width - 1 - rest.cell_length), panel)
    return Strip([mark, *rest, fill] if first and fill.text else [mark, *rest])


def thumb(total: int, height: int, top: int) -> tuple[int, int]:
    """Where the thumb of a scrollbar begins and how long it is, in eighths of a cell: what a person can see of it."""
    if total <= height:
        return 0, 0
    length = max(1.0, height * height / total)
    return int((height - length) * top / (total - height) * 8), int(length * 8)
