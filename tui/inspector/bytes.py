"""The bytes of a block: offset and text, every character visible, the first difference marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from tui.look import Look, clip

OFFSET = 9
"""Cells of the offset and the space after it."""
LINE = re.compile(r"[^\n]*\n|[^\n]+")
PICTURES = re.compile("[\u2400-\u2421↵⇥]")
SHAPES = {"\n": "↵", "\t": "⇥"}
"""Pictures most fonts have, for what occurs all the time."""


@dataclass(frozen=True, slots=True)
class Section:
    """A text with a heading; ``mark``: offset in bytes of the first difference, -1 for none."""

    heading: str
    text: str
    mark: int = -1


@dataclass(frozen=True, slots=True)
class ByteLine:
    """A line on the screen: a heading (``offset`` -1), or text from ``offset`` on in bytes. ``mark``: index of the
    differing character in ``text``, -1 for none."""

    offset: int
    text: str
    mark: int = -1


def byte_lines(sections: tuple[Section, ...], width: int) -> tuple[ByteLine, ...]:
    """The sections as lines of at most ``width`` cells, offset included."""
    made: list[ByteLine] = []
    for section in sections:
        if made:
            made.append(ByteLine(-1, ""))
        made.append(ByteLine(-1, section.heading))
        made += _lines(section, max(2, width - OFFSET))
    return tuple(made)


def _lines(section: Section, room: int) -> Iterator[ByteLine]:
    offset = 0
    for chunk in _chunks(section.text, room):
        length = len(chunk.encode("utf-8", "replace"))
        mark = -1
        if offset <= section.mark < offset + length:
            mark = len(chunk.encode("utf-8", "replace")[: section.mark - offset].decode("utf-8", "ignore"))
        yield ByteLine(offset, "".join(map(_visible, chunk)), mark)
        offset += length
    if section.mark >= offset:
        yield ByteLine(offset, " ", 0)


def _chunks(text: str, room: int) -> Iterator[str]:
    """Pieces that end after a line feed or where ``room`` cells are full."""
    for line in LINE.findall(text):
        start = 0
        while start < len(line):
            end = start + _fitting(line, start, room)
            yield line[start:end]
            start = end


def _fitting(line: str, start: int, room: int) -> int:
    """How many characters from ``start`` fit, at least one."""
    piece = line[start : start + room]
    if piece.isascii():
        return len(piece)
    while len(piece) > 1 and cell_len("".join(map(_visible, piece))) > room:
        piece = piece[:-1]
    return len(piece)


def _visible(character: str) -> str:
    """The character, or a picture of one that has no shape of its own."""
    code = ord(character)
    if code < 0x20:
        return SHAPES.get(character) or chr(0x2400 + code)
    return character if character.isprintable() else "\N{SYMBOL FOR SUBSTITUTE}"


def byte_line(line: ByteLine, width: int, look: Look) -> Text:
    """One line: the offset at the left, control characters faint, what differs in the colour of danger."""
    if line.offset < 0:
        return clip(Text(f" {line.text}", style=look.roles.accent), width, look.signs.ellipsis)
    plain = PICTURES.sub(".", line.text) if look.signs.rule.isascii() else line.text
    text = Text(plain, style=look.roles.text)
    for found in PICTURES.finditer(line.text):
        text.stylize(look.roles.faint, *found.span())
    if line.mark >= 0:
        text.stylize(look.roles.danger, line.mark, len(line.text))
        text.stylize(Style(reverse=True), line.mark, line.mark + 1)
    return clip(Text.assemble((f"{line.offset:>{OFFSET - 1}} ", look.roles.muted), text), width, look.signs.ellipsis)
