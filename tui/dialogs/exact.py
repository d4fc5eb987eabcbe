"""Text shown exactly: what a terminal would hide, obey or reorder gets a sign, what deceives the eye is named. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from rich.segment import Segment
from rich.style import Style

from tui.format import plural
from tui.transcript.wrap import Span, break_points, cut_spans, hard_points, is_narrow

LONG = 20_000
"""Lines longer than this that are not plain are cut by characters, since looking at their graphemes takes long."""

SHOWN = 4
"""Deceiving words and characters named one by one; the rest is counted."""

_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_REORDER = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_WORD = re.compile(r"[^\W\d_]{2,}")
_LIKE_ASCII = dict(zip("‐‑‒–—―−’‘‛“”′ʼ⁄∕∖；：⧵ǃ․‚∣ⅼ∗", "-------'''\"\"''//\\;:\\!.,|l*", strict=True))
_LATIN_TWINS = frozenset("асеорхуіјѕԁһӏԛԝАВЕКМНОРСТХЅІЈοινυρΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")
_TWIN_SCRIPTS = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU")


@dataclass(frozen=True, slots=True)
class Ink:
    """Styles: of plain text, of what is marked as dangerous, and of signs that stand for what cannot be shown."""

    plain: Style = Style()
    marked: Style = Style(underline=True)
    odd: Style = Style(reverse=True)
    ascii: bool = False


@dataclass(frozen=True, slots=True)
class Within:
    """Where a text stands in a longer one: characters and lines before it, the lines of all, and whether its first line
    began before it."""

    start: int = 0
    line: int = 0
    lines: int = 1
    begun: bool = False


ALONE = Within()


def sign_for(char: str, ascii: bool = False) -> str:
    """What is shown instead of a character that cannot be: ``␛``, ``⟨U+202E⟩``; ``<U+001B>`` in plain ASCII."""
    code = ord(char)
    if ascii:
        return f"<U+{code:04X}>"
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"⟨U+{code:04X}⟩"


def is_odd(char: str) -> bool:
    """Whether a character would be invisible, obeyed or taken for another space."""
    if char.isprintable():
        return char in _BLANK or "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    return True


def exact_spans(text: str, ink: Ink, spots: Sequence[tuple[int, int]] = (), base: int = 0) -> list[Span]:
    """One line as spans. ``spots``: (start, end) of what to mark, counted from ``base`` characters before the line."""
    spans: list[Span] = []
    for start, end, marked in _pieces(len(text), spots, base):
        piece, style = text[start:end], ink.marked if marked else ink.plain
        if piece.isascii() and piece.isprintable():
            spans.append((piece, style))
            continue
        for odd, chars in groupby(piece, is_odd):
            run = "".join(chars)
            shown = "".join(sign_for(char, ink.ascii) for char in run) if odd else run
            spans.append((shown, style + ink.odd if odd else style))
    return spans


def _pieces(length: int, spots: Sequence[tuple[int, int]], base: int) -> Iterator[tuple[int, int, bool]]:
    """The line cut at the edges of the spots: (start, end, whether it is marked)."""
    at = 0
    for first, last in sorted(spots):
        start, end = max(at, first - base), min(length, last - base)
        if start >= end:
            continue
        if start > at:
            yield at, start, False
        yield start, end, True
        at = end
    if at < length:
        yield at, length, False


def exact_lines(
    text: str, width: int, ink: Ink, number: Style, spots: Sequence[tuple[int, int]] = (), within: Within = ALONE
) -> list[list[Segment]]:
    """The whole text in lines of ``width`` cells, cut hard. Where it has several lines each has its number, so that
    a line that goes on cannot be taken for a new one. ``spots`` count from the beginning of what it stands in."""
    source = text.split("\n")
    total = max(within.lines, len(source))
    gutter = len(str(total)) + 2 if total > 1 else 0
    lines: list[list[Segment]] = []
    base, end = within.start, within.start + len(text)
    spots = [spot for spot in spots if spot[0] < end and spot[1] > base]
    for count, line in enumerate(source, within.line + 1):
        begun = within.begun and count == within.line + 1
        near = [spot for spot in spots if spot[0] < base + len(line) and spot[1] > base]
        cut = _cut(exact_spans(line, ink, near, base), max(1, width - gutter))
        for level, segments in enumerate(cut):
            if gutter:
                shown = "" if level or begun else count
                segments.insert(0, Segment(f"{shown:>{gutter - 2}}  ", number))
            lines.append(segments)
        base += len(line) + 1
    return lines


def _cut(spans: list[Span], width: int) -> list[list[Segment]]:
    text = "".join(piece for piece, _ in spans)
    if len(text) > LONG and not is_narrow(text):
        step = max(1, width // 2)
        return cut_spans(spans, [(at, min(at + step, len(text))) for at in range(0, len(text), step)])
    return cut_spans(spans, hard_points(text, width))


def flowing(text: str, width: int, ink: Ink) -> list[list[Segment]]:
    """Words for people in lines of ``width`` cells, broken at spaces, nothing in them obeyed."""
    lines: list[list[Segment]] = []
    for line in text.split("\n"):
        spans = exact_spans(line, ink)
        plain = "".join(piece for piece, _ in spans)
        lines += cut_spans(spans, break_points(plain, width))
    return lines


# --- what deceives ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def concerns(text: str) -> tuple[str, ...]:
    """What about ``text`` does not read as it runs, in words; nothing for plain text."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return ()
    chars = set(text) - {"\n"}
    odd = sorted(char for char in chars if is_odd(char))
    found = []
    if reorder := [char for char in odd if char in _REORDER]:
        found.append(f"changes the direction of text ({_codes(reorder)}): it reads differently from what runs")
    if control := [char for char in odd if unicodedata.category(char) == "Cc"]:
        count = sum(map(text.count, control))
        found.append(f"{plural(count, 'control character')} ({_codes(control)})")
    if hidden := [char for char in odd if char not in reorder and char not in control]:
        found.append(f"characters that cannot be seen ({_codes(hidden)})")
    if twins := _first(_mixed(text)):
        found.append(f"letters of another alphabet that look like Latin ones: {twins}")
    if likes := _first(_like_ascii(text)):
        found.append(f"signs that look like others: {likes}")
    return tuple(found)


def _codes(chars: Sequence[str]) -> str:
    return _first(f"U+{ord(char):04X}" for char in chars)


def _first(words: Iterable[str]) -> str:
    unique = list(dict.fromkeys(words))
    more = [f"{len(unique) - SHOWN} more"] if len(unique) > SHOWN else []
    return ", ".join([*unique[:SHOWN], *more])


def _mixed(text: str) -> Iterator[str]:
    """Words that mix Latin letters with look-alikes, or consist of look-alikes alone."""
    for word in dict.fromkeys(_WORD.findall(text)):
        if word.isascii():
            continue
        strange = [char for char in word if unicodedata.name(char, "").startswith(_TWIN_SCRIPTS)]
        latin = any(char.isascii() for char in word)
        if strange and (latin or all(char in _LATIN_TWINS for char in word)):
            char = strange[0]
            yield f"{word} ({char} is U+{ord(char):04X}, {unicodedata.name(char).capitalize()})"


def _like_ascii(text: str) -> Iterator[str]:
    for char in dict.fromkeys(text):
        if char.isascii() or not char.isprintable():
            continue
        like = _LIKE_ASCII.get(char) or unicodedata.normalize("NFKC", char)
        if len(like) == 1 and like.isascii():
            yield f"{char} is U+{ord(char):04X}, not {like}"
