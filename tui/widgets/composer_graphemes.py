"""Where a cursor may stand in a line: between graphemes, never inside a joined emoji, an accent or a flag. Pure."""

from __future__ import annotations

from rich.cells import split_graphemes

WINDOW = 128
"""How far around a column graphemes are looked at, in code points: a line may be long, a grapheme is not."""

Span = tuple[int, int]


def grapheme_at(line: str, column: int) -> Span:
    """Start and end of the grapheme that ``column`` is in or at the start of; empty at the end of the line."""
    if column >= len(line):
        return len(line), len(line)
    if line.isascii():
        return column, column + 1
    first = max(0, column - WINDOW)
    for start, end in _graphemes(line[first : column + WINDOW]):
        if start <= column - first < end:
            return first + start, first + end
    return column, column + 1


def before(line: str, column: int) -> int:
    """Where the cursor comes to stand when it moves left from ``column``."""
    return grapheme_at(line, column - 1)[0] if column > 0 else 0


def after(line: str, column: int) -> int:
    """Where the cursor comes to stand when it moves right from ``column``."""
    return grapheme_at(line, column)[1]


def _graphemes(text: str) -> list[Span]:
    """Graphemes as Rich sees them, with the two halves of a flag together and joiners kept with what they join."""
    joined: list[Span] = []
    for start, end, _ in split_graphemes(text)[0]:
        if joined and _belongs(text, joined[-1], text[start]):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _belongs(text: str, last: Span, char: str) -> bool:
    begin, end = last
    flag = _is_regional(text[begin]) and end - begin == 1 and _is_regional(char)
    return flag or text[end - 1] == "\u200d"


def _is_regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
