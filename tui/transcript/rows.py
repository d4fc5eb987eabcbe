"""The shape all lines share: a margin, a bar or a sign, the words, and facts at the right edge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.transcript.look import EMPTY, Look
from tui.transcript.wrap import Span, clean_spans, shorten, strip_of, width_of, wrap_spans

MARGIN = 1
"""Cells left of everything: where the mark of the selected block stands."""
GUTTER = MARGIN + 1
"""Margin and bar."""
INDENT = MARGIN + 2
"""Where the words of a line with a sign begin, and what belongs to it below."""
RIGHT = 1
"""Cells kept free at the right edge."""

READING = 120
"""Prose is no wider than this."""

_BLANK = Segment(" ")


def barred(look: Look, style: Style) -> tuple[Segment, ...]:
    """What every line of somebody's words begins with."""
    return (_BLANK, Segment(look.signs.bar, style))


def body_width(width: int, gutter: int = GUTTER) -> int:
    """Cells for what may be wide (output, diffs) in a view of ``width``."""
    return max(4, width - gutter - RIGHT)


def reading_width(width: int) -> int:
    """Cells for prose: longer lines are hard to read."""
    return min(READING, body_width(width))


def below(spans: Iterable[Span], width: int, hard: bool = False) -> list[Strip]:
    """A line that belongs to the sign line above it, wrapped."""
    lead = Segment(" " * INDENT)
    return [strip_of((lead,), line) for line in wrap_spans(spans, body_width(width, INDENT), hard)]


def barred_lines(lines: Sequence[str], style: Style, bar: tuple[Segment, ...], width: int) -> list[Strip]:
    """Plain lines of somebody's words."""
    room = reading_width(width)
    return [strip_of(bar, piece) for line in lines for piece in wrap_spans([(line, style)], room)]


def more_line(hidden: int, look: Look, lead: Sequence[Segment], what: str = "line") -> Strip:
    """``⋯ 41 more lines (Enter)``."""
    words = f"{look.signs.more} {hidden:,} more {what}{'' if hidden == 1 else 's'} (Enter)"
    return strip_of(lead, [Segment(words, look.roles.muted)])


def edge_to_edge(left: Sequence[Span], right: Sequence[Span], width: int, look: Look) -> Strip:
    """One line: ``left`` shortened so that ``right`` stands at the right edge, or is dropped where there is no room."""
    left, right = clean_spans(left), clean_spans(right)
    room = width - RIGHT
    used_right = sum(width_of(text) for text, _ in right)
    if used_right and room - used_right < 12:
        right, used_right = [], 0
    room_left = room - used_right - (2 if right else 0)
    kept = fit(left, room_left, look)
    gap = room - used_right - sum(width_of(text) for text, _ in kept)
    fill: list[Span] = [(" " * gap, EMPTY)] if right and gap > 0 else []
    return strip_of(Segment(text, style) for text, style in [*kept, *fill, *right])


def fit(spans: Sequence[Span], width: int, look: Look) -> list[Span]:
    """Spans cut with an ellipsis to at most ``width`` cells."""
    kept: list[Span] = []
    for text, style in spans:
        size = width_of(text)
        if size > width:
            kept.append((shorten(text, width, look.signs.ellipsis), style))
            break
        kept.append((text, style))
        width -= size
    return kept
