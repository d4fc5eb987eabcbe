"""Wrapping styled text into lines of cells: words first, graphemes when a word does not fit.

Widths count terminal cells (wide CJK, combining marks, joined emoji); a grapheme is never cut in two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len, split_graphemes
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.transcript.neutral import expand_tabs, neutral

Span = tuple[str, Style]
LINE_LIMIT = 10_000
"""Longest line laid out, in characters; the rest is counted, not shown."""

_NOT_AT_START = frozenset("，。、！？：；）」』】》,.!?:;)]}")


# Letters, punctuation, arrows and drawing characters that take one cell each: no need to look at graphemes.
_narrow = re.compile(
    "[ -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u2010-\u2027\u2190-\u21ff\u2500-\u25fc\u2800-\u28ff]*"
).fullmatch


def is_narrow(text: str) -> bool:
    """Whether every character takes one cell for certain."""
    return text.isascii() or _narrow(text) is not None


def width_of(text: str) -> int:
    """Cells ``text`` takes."""
    return len(text) if is_narrow(text) else cell_len(text)


def break_points(text: str, width: int) -> list[tuple[int, int]]:
    """Where a line without newlines is broken: (start, end) of each piece, the spaces between them left out."""
    width = max(1, width)
    if is_narrow(text):
        return _break_narrow(text, width)
    return _break_graphemes(text, width)


def _break_narrow(text: str, width: int) -> list[tuple[int, int]]:
    length = len(text)
    if length <= width:
        return [(0, length)]
    pieces = []
    start = 0
    body = length - len(text.lstrip(" "))
    while length - start > width:
        end = text.rfind(" ", max(start, body) + 1, start + width + 1)
        if end == -1:
            end = resume = start + width
        else:
            resume = end + 1
            while resume < length and text[resume] == " ":
                resume += 1
        pieces.append((start, end))
        start = resume
    if start < length or not pieces:
        pieces.append((start, length))
    return pieces


def _break_graphemes(text: str, width: int) -> list[tuple[int, int]]:
    graphemes, cells = split_graphemes(text)
    if cells <= width:
        return [(0, len(text))]
    pieces: list[tuple[int, int]] = []
    start = used = 0
    index = 0
    good = -1  # the grapheme a new line may best begin with
    while index < len(graphemes):
        begin, _end, size = graphemes[index]
        if used + size > width and begin > start:
            if text[begin] == " ":
                good = index
            first = good if good != -1 and graphemes[good][0] > start else index
            cut = graphemes[first][0]
            while first < len(graphemes) and text[graphemes[first][0]] == " ":
                first += 1
            pieces.append((start, _without_spaces(text, start, cut)))
            if first >= len(graphemes):
                return pieces
            start, used, index, good = graphemes[first][0], 0, first, -1
            continue
        used += size
        index += 1
        after = graphemes[index] if index < len(graphemes) else None
        if after and (text[begin] == " " or (2 in (size, after[2]) and text[after[0]] not in _NOT_AT_START)):
            good = index
    pieces.append((start, len(text)))
    return pieces


def _without_spaces(text: str, start: int, end: int) -> int:
    while end > start + 1 and text[end - 1] == " ":
        end -= 1
    return end


def hard_points(text: str, width: int) -> list[tuple[int, int]]:
    """Like ``break_points`` for code: cut exactly at the width, nothing left out."""
    width = max(1, width)
    if is_narrow(text):
        return [(at, min(at + width, len(text))) for at in range(0, len(text), width)] or [(0, 0)]
    pieces: list[tuple[int, int]] = []
    start = used = 0
    for begin, _end, size in split_graphemes(text)[0]:
        if used + size > width and begin > start:
            pieces.append((start, begin))
            start, used = begin, 0
        used += size
    pieces.append((start, len(text)))
    return pieces


def cut_spans(spans: Sequence[Span], pieces: Iterable[tuple[int, int]]) -> list[list[Segment]]:
    """The spans of one line distributed over its pieces, which are in order."""
    lines: list[list[Segment]] = []
    number = at = 0
    for start, end in pieces:
        segments: list[Segment] = []
        while number < len(spans):
            text, style = spans[number]
            stop = at + len(text)
            if stop > start and text[max(0, start - at) : end - at]:
                segments.append(Segment(text[max(0, start - at) : end - at], style))
            if stop > end:
                break
            at = stop
            number += 1
        lines.append(segments)
    return lines


def clean_spans(spans: Iterable[Span]) -> list[Span]:
    """The spans of one line with nothing in them a terminal would act on."""
    kept = []
    for text, style in spans:
        text = expand_tabs(neutral(text)).replace("\n", " ")
        if text:
            kept.append((text, style))
    return kept


def wrap_spans(spans: Iterable[Span], width: int, hard: bool = False) -> list[list[Segment]]:
    """One line of outside text as lines of at most ``width`` cells. ``hard`` cuts at the width instead of at words."""
    kept = clean_spans(spans)
    text = "".join(text for text, _ in kept)
    if len(text) > LINE_LIMIT:
        return _capped(kept, len(text), width)
    if len(text) <= width and is_narrow(text):
        return [[Segment(text, style) for text, style in kept]]
    return cut_spans(kept, hard_points(text, width) if hard else break_points(text, width))


def _capped(spans: list[Span], length: int, width: int) -> list[list[Segment]]:
    text = "".join(text for text, _ in spans)[:LINE_LIMIT]
    lines = cut_spans([(text, spans[0][1])], hard_points(text, width))
    note = f"… {length - LINE_LIMIT:,} more characters in this line"
    lines.extend([Segment(note[a:b], Style(italic=True))] for a, b in break_points(note, width))
    return lines


def shorten(text: str, width: int, ellipsis: str = "…", keep_end: bool = False) -> str:
    """``text`` in at most ``width`` cells, cut with an ellipsis at its end, or at its start when ``keep_end``."""
    if width_of(text) <= width:
        return text
    if width <= 0:
        return ""
    graphemes = split_graphemes(text[-4 * width :] if keep_end else text[: 4 * width])[0]
    base = len(text) - min(len(text), 4 * width) if keep_end else 0
    room = width - 1
    kept = 0
    for begin, end, size in reversed(graphemes) if keep_end else graphemes:
        if kept + size > room:
            return ellipsis + text[base + end :] if keep_end else text[:begin] + ellipsis
        kept += size
    return ellipsis + text[base:] if keep_end else text[: graphemes[-1][1]] + ellipsis


def strip_of(*parts: Iterable[Segment]) -> Strip:
    """One line from its parts, in order."""
    return Strip([segment for part in parts for segment in part if segment.text])
