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


def mark_selected(strip: Strip, first: bool, look: Look) -> Strip:
    """A line of the selected block: the focus mark in the margin and, where the theme has one, a faint background."""
    mark = Segment(look.signs.focus, look.roles.accent + look.roles.panel)
    text = strip.text
    if not text.startswith(" "):
        return strip.apply_style(look.roles.panel)
    rest = overlay(strip, [(0, 1)], EMPTY)
    lead = mark if first or text[1:2] == look.signs.bar else Segment(" ", look.roles.panel)
    return Strip([lead, *list(rest)[1:]]).apply_style(look.roles.panel)
