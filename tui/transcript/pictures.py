"""A picture as lines: two pixels a cell, one above the other, as the halves of a block in two colours."""

from __future__ import annotations

from functools import lru_cache

from rich.color import Color
from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from engine.queries import PictureShown
from tui.format import size
from tui.transcript.kinds import Tool
from tui.transcript.look import EMPTY, Look
from tui.transcript.rows import INDENT, below, body_width
from tui.transcript.wrap import Span, strip_of

MOST_ROWS = 40
"""Lines a picture takes at most."""
MOST_COLUMNS = 160
_LEAST_ROWS = 6
_AROUND = 3
"""Lines kept free around a picture, so that it is seen whole with the call above it."""
BEING_READ = PictureShown()

_UPPER, _LOWER = "▀", "▄"
_SEEN = 128

Pixel = tuple[int, int, int] | None


def room_for(width: int, height: int) -> tuple[int, int]:
    """Columns and lines a picture may take in a view of so many cells."""
    return min(MOST_COLUMNS, body_width(width, INDENT)), max(_LEAST_ROWS, min(MOST_ROWS, height - _AROUND))


def picture_strips(tool: Tool, width: int, look: Look, shown: PictureShown | None) -> tuple[list[Strip], int]:
    """The unfolded picture of a call, or words for why there is none; and 1 when it is there to be asked for."""
    if look.no_pictures:
        return _words(tool.summary, f"{look.no_pictures}, so the picture is not shown", width, look), 0
    if shown is None:
        return _words(f"{look.signs.more} the picture (Enter)", "", width, look), 1
    if shown is BEING_READ:
        return _words(f"reading the picture {look.signs.more}", "", width, look), 0
    if not shown.pixels:
        return _words(tool.summary, f"it cannot be shown: {shown.error}", width, look), 0
    kind = f"{shown.kind}, {shown.full_width:,} × {shown.full_height:,} pixels, {size(shown.size)}"
    return [*_halves(shown, width, look), *_words(f"{kind}, as the file is now", "", width, look)], 0


def _words(fact: str, more: str, width: int, look: Look) -> list[Strip]:
    return [strip for part in (fact, more) if part for strip in below([(part, look.roles.muted)], width)]


def _halves(shown: PictureShown, width: int, look: Look) -> list[Strip]:
    rows = [_row(shown, y, look.ground) for y in range(shown.height)]
    room = body_width(width, INDENT)
    if shown.width > room:
        # The view has become narrower since; what is asked for anew fits again.
        high = max(1, shown.height * room // shown.width)
        rows = [_thinned(rows[y * shown.height // high], room) for y in range(high)]
    nothing: list[Pixel] = [None] * len(rows[0])
    lower = [*rows[1::2], nothing]
    return [_line(upper, below) for upper, below in zip(rows[::2], lower, strict=False)]


def _thinned(row: list[Pixel], width: int) -> list[Pixel]:
    return [row[x * len(row) // width] for x in range(width)]


def _row(shown: PictureShown, y: int, ground: ColorTriplet | None) -> list[Pixel]:
    data = shown.pixels[4 * y * shown.width : 4 * (y + 1) * shown.width]
    return [_over(*pixel, ground) for pixel in zip(data[::4], data[1::4], data[2::4], data[3::4], strict=True)]


def _over(red: int, green: int, blue: int, alpha: int, ground: ColorTriplet | None) -> Pixel:
    """A pixel before the theme's background; None where that alone is seen."""
    if alpha == 255:
        return red, green, blue
    if not alpha or (ground is None and alpha < _SEEN):
        return None
    if ground is None:
        return red, green, blue
    return (
        (red * alpha + ground.red * (255 - alpha)) // 255,
        (green * alpha + ground.green * (255 - alpha)) // 255,
        (blue * alpha + ground.blue * (255 - alpha)) // 255,
    )


def _line(upper: list[Pixel], lower: list[Pixel]) -> Strip:
    spans: list[Span] = []
    run, last = 0, (upper[0], lower[0])
    for pair in zip(upper, lower, strict=True):
        if pair != last:
            spans.append(_cells(*last, run))
            run, last = 0, pair
        run += 1
    spans.append(_cells(*last, run))
    return strip_of((Segment(" " * INDENT),), [Segment(text, style) for text, style in spans])


def _cells(upper: Pixel, lower: Pixel, count: int) -> Span:
    if upper is None:
        return (" " * count, EMPTY) if lower is None else (_LOWER * count, _style(lower, None))
    return _UPPER * count, _style(upper, lower)


def _style(front: tuple[int, int, int], back: Pixel) -> Style:
    return Style.from_color(_colour(front), _colour(back) if back else None)


@lru_cache(maxsize=4096)
def _colour(pixel: tuple[int, int, int]) -> Color:
    return Color.from_triplet(ColorTriplet(*pixel))
