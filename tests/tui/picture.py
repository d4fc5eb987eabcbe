"""Pictures of the screen as text: its characters, then a name for the style of every run of cells.

A page holds one screen at several sizes and in several themes. Its characters are written once a size; a theme whose
characters differ gets its own. A style is named by the roles it has in the first theme, and a legend says what it is in
each, so that a change of colours changes the legend alone.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from rich.cells import cell_len
from rich.color import ColorType
from rich.style import Style
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual.color import Color

import themes

RENEW = "pytest tests/tui/test_snapshots.py --snapshot-update"
SHOWN = 60
ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse", "strike")

Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Picture:
    """``text``: the lines without the blanks at their ends. ``styles``: of every cell, line by line."""

    text: tuple[str, ...]
    styles: tuple[tuple[str, ...], ...]


def painted(app: Any) -> Picture:
    """What ``app`` shows now, in the colours that reach the terminal."""
    filters, behind = app.get_line_filters(), Color.parse("black")
    text, styles = [], []
    for strip in app.screen._compositor.render_strips(app.size):
        segments = list(strip)
        for line_filter in filters:
            segments = line_filter.apply(segments, behind)
        text.append("".join(segment.text for segment in segments).rstrip())
        styles.append(tuple(_cells((segment.text, segment.style or Style.null()) for segment in segments)))
    return Picture(tuple(text), tuple(styles))


def _cells(segments: Iterable[tuple[str, Style]]) -> Iterator[str]:
    """The style of every cell. A blank shows nothing but what is behind it, so it goes with what stands before it."""
    before, behind = "default", ""
    for text, style in segments:
        ground = f" on {_colour(style.bgcolor)}"
        if ground != behind:
            before, behind = "default" + ground, ground
        seen = style.reverse or style.underline or style.strike
        for character in text:
            if seen or not character.isspace():
                before = described(style)
            for _ in range(cell_len(character)):
                yield before.removesuffix(" on default")


def described(style: Style) -> str:
    """A style in words: ``bold #e6e1d6 on #1b1a17``."""
    words = [word for word in ATTRIBUTES if getattr(style, word)]
    return " ".join([*words, _colour(style.color), "on", _colour(style.bgcolor)])


def _colour(colour: Any) -> str:
    if colour is None or colour.is_default:
        return "default"
    return str(colour.get_truecolor().hex if colour.type == ColorType.TRUECOLOR else colour.name)


def page(pictures: Mapping[Size, Mapping[str, Picture]]) -> str:
    """The pictures of one screen, by size and theme, as the text that is stored."""
    names = _names(pictures)
    lines = [f"Renewed by: {RENEW}"]
    for size, by_theme in pictures.items():
        first, *others = by_theme.items()
        lines += _drawn(size, "", first[1])
        for theme, picture in others:
            if picture.text != first[1].text:
                lines += _drawn(size, f", {theme}", picture)
    for size, by_theme in pictures.items():
        lines += ["", f"styles of {_sized(size)}"]
        rows = [_runs(names[cell] for cell in zip(*row, strict=True)) for row in _rows(by_theme)]
        for runs, numbers in groupby(range(1, len(rows) + 1), key=lambda number: rows[number - 1]):
            first_line, *_, last = (*(same := list(numbers)), same[-1])
            lines.append(f"{first_line}: {runs}" if first_line == last else f"{first_line}-{last}: {runs}")
    lines += ["", "legend: " + ", ".join(next(iter(pictures.values())))]
    lines += [f"  {name}: " + " | ".join(styles) for styles, name in sorted(names.items(), key=lambda item: item[1])]
    return "\n".join(lines) + "\n"


def _rows(by_theme: Mapping[str, Picture]) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Line by line, the styles of its cells in every theme."""
    return zip(*(picture.styles for picture in by_theme.values()), strict=True)


def _runs(cells: Iterable[str]) -> str:
    return "  ".join(f"{len(list(run))} {name}" for name, run in groupby(cells))


def _drawn(size: Size, what: str, picture: Picture) -> list[str]:
    return ["", _sized(size) + what, *(f"|{line}" for line in picture.text)]


def _sized(size: Size) -> str:
    return f"{size[0]}×{size[1]}"


def _names(pictures: Mapping[Size, Mapping[str, Picture]]) -> dict[tuple[str, ...], str]:
    """A name for every combination of styles that some cell has in the themes."""
    named: dict[tuple[str, ...], str] = {}
    taken: set[str] = set()
    roles = _roles()
    for by_theme in pictures.values():
        for row in _rows(by_theme):
            for cell in zip(*row, strict=True):
                if cell not in named:
                    words = cell[0].removesuffix(f" on {roles['']}").split()
                    plain = "-".join(roles.get(word, word.lstrip("#")) for word in words)
                    named[cell] = name = next(n for n in _numbered(plain) if n not in taken)
                    taken.add(name)
    return named


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}.{number}"
        number += 1


def _roles() -> dict[str, str]:
    """What the colours of the first theme mean; under '' the one that is behind everything."""
    data = themes.read(themes.HERE / f"{themes.DARK}.toml")
    named = {colour.lower(): name for names in (data.colours, data.roles) for name, colour in names.items()}
    return {**named, "": data.colours["background"].lower()}


class Pages(SingleFileSnapshotExtension):
    """One text file a screen."""

    _file_extension = "txt"
    _write_mode = WriteMode.TEXT

    def diff_lines(self, serialized_data: Any, snapshot_data: Any) -> Iterator[str]:
        """The first lines that differ; characters come before styles."""
        before, now = str(snapshot_data).splitlines(), str(serialized_data).splitlines()
        changes = list(difflib.unified_diff(before, now, "stored", "now", lineterm="", n=1))
        yield from changes[:SHOWN]
        if len(changes) > SHOWN:
            yield f"… and {len(changes) - SHOWN} lines more"
        yield f"If the new picture is right: {RENEW}"
