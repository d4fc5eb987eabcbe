"""Markdown that grows: rendered by stable prefix, so that streaming costs what was added, not what is there.

Only the last open element is parsed again. All before it is finished for good: its lines are kept as they are. A very
long last element (a long fence, a long table, one huge paragraph) is finished piece by piece as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.segment import Segment
from textual.strip import Strip

from tui.transcript.elements import (
    Lines,
    Page,
    children_lines,
    draw_code,
    element_lines,
    first_number,
    gap_before,
    table_of,
)
from tui.transcript.highlight import highlight
from tui.transcript.inline import parser
from tui.transcript.look import CodeColours, Look
from tui.transcript.neutral import neutral
from tui.transcript.tables import MEASURED_ROWS, Table, Widths, head_lines, row_lines, widths_for
from tui.transcript.wrap import LINE_LIMIT, Span, strip_of

CODE_CHUNK = 30
"""Lines of an open fence from which on its beginning is finished where a new part of the code begins, from twice as
many on at any line that is not indented, from three times as many on anywhere."""
ELEMENT_LIMIT = 4_000
"""Characters of any other open element from which on its beginning is finished."""

_LINE_END = re.compile("\r\n|[\r\n\u2028\u2029\x85]")


@dataclass(frozen=True)
class _Unit:
    """A part that can be finished by itself: a top-level element or one item of a top-level list."""

    node: Any
    ordinal: int | None

    @property
    def start(self) -> int:
        return int(self.node.map[0])

    @property
    def end(self) -> int:
        return int(self.node.map[1])


@dataclass(frozen=True)
class _Carry:
    """What of the finished text the rest still needs.

    opener: source lines the rest must be parsed after (the fence's first line, the table's head). widths: the columns
    of the table begun. number: of the ordered list item the rest begins with. gap: a blank line comes first.
    """

    opener: tuple[str, ...] = ()
    widths: Widths | None = None
    number: int | None = None
    gap: bool = False


class MarkdownLines:
    """The lines of one Markdown text at one width; ``update`` with a longer text keeps what is finished.

    width: cells, without the gutter. gutter: segments every line begins with.
    """

    def __init__(self, width: int, look: Look, gutter: Sequence[Segment] = ()) -> None:
        self._width = width
        self._look = look
        self._gutter = tuple(gutter)
        self.strips: list[Strip] = []
        self._reset()

    def _reset(self) -> None:
        self.strips.clear()
        self._text = ""
        self._tail = ""
        self._finished = 0
        self._carry = _Carry()
        self._links: dict[str, Any] = {}

    def update(self, text: str) -> None:
        """Make ``strips`` the lines of ``text``."""
        if not text.startswith(self._text):
            self._reset()
        if len(text) == len(self._text):
            return
        self._tail += text[len(self._text) :]
        self._text = text
        del self.strips[self._finished :]
        page, units = self._parse()
        while self._finish_some(page, units):
            page, units = self._parse()
        for number, unit in enumerate(units):
            self._emit(self._lines_of(page, unit, first=number == 0))

    def _parse(self) -> tuple[Page, list[_Unit]]:
        source = [*self._carry.opener, *(neutral(_bounded(line)) for line in _LINE_END.split(self._tail))]
        env: dict[str, Any] = {"references": dict(self._links)}
        page = Page(self._width, self._look, source, env)
        return page, _units(_tree("\n".join(source), env), self._carry.number)

    def _finish_some(self, page: Page, units: list[_Unit]) -> bool:
        """Finish what nothing that follows can change. Whether the rest has to be parsed anew."""
        if len(units) == 1:
            return self._finish_beginning(page, units[0])
        # What begins on the last line may still become part of what is above it.
        begun = int(bool(units) and units[-1].start >= len(page.source) - 1)
        done = len(units) - 1 - begun
        for number, unit in enumerate(units[: max(0, done)]):
            self._emit(self._lines_of(page, unit, first=number == 0))
        if done > 0:
            rest = units[done]
            self._finish(page, rest.start, _Carry(number=rest.ordinal, gap=gap_before(page, rest.node)))
        return done > 0

    def _finish_beginning(self, page: Page, unit: _Unit) -> bool:
        """Finish the beginning of the one element that is left, when it has grown long."""
        if unit.node.type == "fence":
            return self._finish_code(page, unit)
        if unit.node.type == "table":
            return self._finish_rows(page, unit)
        cut = unit.end - 1
        if cut <= unit.start or sum(map(len, page.source[unit.start : cut])) < ELEMENT_LIMIT:
            return False
        begun = Page(page.width, page.look, page.source[:cut], page.env)
        nodes = _tree("\n".join(begun.source), page.env)
        self._emit([*self._gap(first=True), *children_lines(begun, nodes)])
        self._finish(page, cut, _Carry())
        return True

    def _finish_code(self, page: Page, unit: _Unit) -> bool:
        body = _code_of(unit)
        if len(body) <= CODE_CHUNK:
            return False
        coloured = highlight(body, unit.node.info, CodeColours.of(page.look.roles))
        cut = _safe_cut(coloured, CodeColours.of(page.look.roles))
        if not cut:
            return False
        self._emit([*self._gap(first=True), *draw_code(page, coloured[:cut])])
        self._finish(page, unit.start + 1 + cut, _Carry(opener=(page.source[unit.start],)))
        return True

    def _finish_rows(self, page: Page, unit: _Unit) -> bool:
        table = table_of(unit.node)
        done = len(table.rows) - 1
        if done < MEASURED_ROWS:
            return False
        begun = Table(table.head, table.rows[:done], table.aligns)
        widths = self._carry.widths
        if widths is None:
            widths = widths_for(begun, page.width, page.look, page.env)
        self._emit([*self._gap(first=True), *self._table_lines(page, begun, widths)])
        head = tuple(page.source[unit.start : unit.start + 2])
        self._finish(page, unit.start + 2 + done, _Carry(opener=head, widths=widths))
        return True

    def _finish(self, page: Page, line: int, carry: _Carry) -> None:
        """All source lines before ``line`` are done with, and so is all that has been emitted."""
        at = 0
        for _ in range(line - len(self._carry.opener)):
            end = _LINE_END.search(self._tail, at)
            at = end.end() if end else len(self._tail)
        self._tail = self._tail[at:]
        # A definition after the cut may still be growing.
        self._links = {name: link for name, link in page.env["references"].items() if _before(link, line)}
        self._carry = carry
        self._finished = len(self.strips)

    def _lines_of(self, page: Page, unit: _Unit, first: bool) -> Lines:
        gap = self._gap(first) if first else [[]] if gap_before(page, unit.node) else []
        if first and self._carry.opener:
            if self._carry.widths is not None and unit.node.type == "table":
                return self._table_lines(page, table_of(unit.node), self._carry.widths)
            if unit.node.type == "fence" and not _code_of(unit):
                return []
        return [*gap, *element_lines(page, unit.node, unit.ordinal)]

    def _table_lines(self, page: Page, table: Table, widths: Widths) -> Lines:
        lines = [] if self._carry.widths is not None else head_lines(table, widths, page.look, page.env)
        for row in table.rows:
            lines.extend(row_lines(table, row, widths, page.width, page.look, page.env))
        return lines

    def _gap(self, first: bool) -> Lines:
        return [[]] if first and self._carry.gap and self._finished else []

    def _emit(self, lines: Lines) -> None:
        self.strips.extend(strip_of(self._gutter, line) for line in lines)


def _tree(source: str, env: dict[str, Any]) -> list[Any]:
    from markdown_it.tree import SyntaxTreeNode

    return SyntaxTreeNode(parser().parse(source, env)).children


def _units(nodes: list[Any], number: int | None) -> list[_Unit]:
    units: list[_Unit] = []
    for node in nodes:
        if node.type == "ordered_list":
            start = number if number is not None and not units else first_number(node)
            units.extend(_Unit(item, start + index) for index, item in enumerate(node.children))
        elif node.type == "bullet_list":
            units.extend(_Unit(item, None) for item in node.children)
        else:
            units.append(_Unit(node, None))
    return units


def _bounded(line: str) -> str:
    if len(line) <= LINE_LIMIT:
        return line
    shown = line[: LINE_LIMIT - 100]
    return f"{shown} … {len(line) - len(shown):,} more characters in this line"


def _code_of(unit: _Unit) -> list[str]:
    content = str(unit.node.content)
    return content.removesuffix("\n").split("\n") if content else []


def _safe_cut(coloured: list[list[Span]], colours: CodeColours) -> int:
    """The last line a new lexer may start at: not indented, not within a string or comment, and after a blank line as
    long as the code is not too long. 0: there is none yet."""
    spanning = (colours.string, colours.comment)
    last = len(coloured) - 1
    for cut in range(last, 0, -1):
        above, here = coloured[cut - 1], coloured[cut]
        starts = here and not here[0][0][:1].isspace() and here[0][1] not in spanning
        if starts and (last >= 2 * CODE_CHUNK or not "".join(text for text, _ in above).strip()):
            return cut
    return last if last >= 3 * CODE_CHUNK else 0


def _before(link: dict[str, Any], line: int) -> bool:
    where = link.get("map")
    return where is None or where[1] <= line
