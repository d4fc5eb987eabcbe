"""Text from outside made harmless for a terminal: whatever comes in, no terminal mode, cursor or title can change.

Well-formed control sequences are dropped, what is left of them becomes visible, direction overrides are spelled out.
Pure; every line the transcript and the diffs draw has been through here.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rich.ansi import AnsiDecoder
from rich.style import Style

TAB_SIZE = 4

# Everything a terminal acts on or that cannot be encoded: C0 but tab and newline, DEL, C1, direction controls,
# line separators, the byte-order mark, surrogates.
_SUSPECT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)

# A whole sequence: CSI; a string (OSC, DCS, SOS, PM, APC) that is ended within a bounded length; ESC and its final.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]+[0-~]"
    r"|\x1b[0-OQ-WYZ\\`-~]"
)
_COLOUR = re.compile(r"(?:\x1b\[|\x9b)([0-9;:]{0,64})m")
_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029\x85]")


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069:
        return f"<U+{code:04X}>"
    # Marks without width carry no text of their own; surrogates and C1 stand for bytes that were not text.
    return "" if code in (0x061C, 0x200E, 0x200F, 0xFEFF) else "\ufffd"


def neutral(text: str) -> str:
    """``text`` with newlines and tabs as its only controls. A lone carriage return is a line end: nothing is hidden."""
    if _SUSPECT.search(text) is None:
        return text
    text = _SEQUENCE.sub("", _LINE_ENDS.sub("\n", text))
    return _SUSPECT.sub(_visible, text)


def expand_tabs(line: str) -> str:
    """One line with its tabs as spaces."""
    return line.expandtabs(TAB_SIZE) if "\t" in line else line


def plain_lines(text: str) -> list[str]:
    """Neutral lines of ``text``, tabs expanded; a newline at the end does not make an empty last line."""
    lines = neutral(text).split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    return [expand_tabs(line) for line in lines]


def coloured_lines() -> Callable[[str], list[tuple[str, Style]]]:
    """A decoder of consecutive raw lines to spans: text neutral, of the terminal's colours only foregrounds kept.

    Backgrounds, blink and concealment are left out: they could hide text. Colours carry over from line to line.
    """
    decoder = AnsiDecoder()

    def decode(line: str) -> list[tuple[str, Style]]:
        if "\x1b" not in line and "\x9b" not in line and not decoder.style:
            return [(_one_line(line), Style.null())]
        # Pieces between colour changes are made neutral one by one, so nothing but colour reaches the decoder.
        kept = _SEQUENCE.sub(_keep_colour, line)
        pieces = _SGR.split(kept)
        spans: list[tuple[str, Style]] = []
        for number, piece in enumerate(pieces):
            if number % 2:
                decoder.decode_line(f"\x1b[{piece.replace(':', ';')}m")
            elif piece:
                spans.append((_one_line(piece), _foreground(decoder.style)))
        return spans

    return decode


def _one_line(text: str) -> str:
    return expand_tabs(neutral(text).replace("\n", " "))


def _keep_colour(match: re.Match[str]) -> str:
    # "<ESC>[>4m" and the like set modes: only plain numbers are colour.
    colour = _COLOUR.fullmatch(match.group())
    return f"\x1b[{colour.group(1)}m" if colour else ""


def _foreground(style: Style) -> Style:
    return Style(
        color=style.color,
        bold=style.bold,
        dim=style.dim,
        italic=style.italic,
        underline=style.underline,
        strike=style.strike,
    )


def first_lines(text: str, limit: int) -> tuple[list[str], int]:
    """The first raw lines of ``text`` and how many more there are; a newline at the end makes no line."""
    text = text.removesuffix("\n")
    if not text:
        return [], 0
    parts = text.split("\n", limit)
    rest = parts[limit:]
    lines = [piece for part in parts[:limit] for piece in _LINE_ENDS.split(part.removesuffix("\r"))]
    hidden = rest[0].count("\n") + 1 if rest else 0
    return lines[:limit], hidden + max(0, len(lines) - limit)
