"""Marks laid over finished lines: the selected block, what a search found, a selection by mouse."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.transcript.look import EMPTY, Look


def overlay(strip: Strip, spans: Sequence[tuple[int, int]], style: Style) -> Strip:
    """``strip`` with ``style`` over some spans of its characters. Spans are in order and do not overlap."""
    segments: list[Segment] = []
    at = 0
    for text, own, _ in strip:
        cuts = {0, len(text)}
        for start, end in spans:
            cuts.update(cut - at for cut in (start, end) if 0 < cut - at < len(text))
        edges = sorted(cuts)
        for left, right in pairwise(edges):
            inside = any(start <= at + left < end for start, end in spans)
            segments.append(Segment(text[left:right], (own or EMPTY) + style if inside else own))
        at += len(text)
    return Strip(segments)


def mark_selected(strip: Strip, first: bool, width: int, look: Look) -> Strip:
    """A line of the selected block: the focus mark in the margin; its first line on the faint panel background."""
    panel = look.roles.panel if first else EMPTY
    mark = Segment(look.signs.focus, look.roles.accent + panel)
    rest = strip.crop(1).apply_style(panel) if first else strip.crop(1)
    fill = Segment(" " * max(0, width - 1 - rest.cell_length), panel)
    return Strip([mark, *rest, fill] if first and fill.text else [mark, *rest])
