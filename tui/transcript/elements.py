"""Markdown elements as lines: headings, paragraphs, lists, quotes, code, tables, rules. Dense, left aligned, no boxes.

One blank line stands between two elements where the source has one, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from rich.style import Style

from tui.transcript.highlight import highlight
from tui.transcript.inline import inline_lines
from tui.transcript.look import BOLD, EMPTY, ITALIC, CodeColours, Look
from tui.transcript.tables import Table, head_lines, row_lines, widths_for
from tui.transcript.wrap import Span, width_of, wrap_spans

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

Lines = list[list[Segment]]

CODE_INDENT = 2
_NARROWEST = 8


@dataclass(frozen=True)
class Page:
    """What every element needs: width in cells, look, the source lines (for blank lines) and link definitions."""

    width: int
    look: Look
    source: list[str]
    env: dict[str, Any] = field(default_factory=dict)

    def narrower(self, by: int) -> Page:
        return Page(max(_NARROWEST, self.width - by), self.look, self.source, self.env)


def gap_before(page: Page, node: SyntaxTreeNode) -> bool:
    """Whether the source has a blank line (of its quote or list) before the element."""
    line = node.map[0] if node.map else 0
    return line > 0 and not page.source[line - 1].strip("> \t")


def children_lines(page: Page, nodes: list[SyntaxTreeNode]) -> Lines:
    """The lines of elements one after the other."""
    lines: Lines = []
    for number, node in enumerate(nodes):
        if number and gap_before(page, node):
            lines.append([])
        lines.extend(element_lines(page, node))
    return lines


def element_lines(page: Page, node: SyntaxTreeNode, ordinal: int | None = None) -> Lines:
    """The lines of one element. ``ordinal`` numbers a list item when its own number does not count."""
    if node.type == "list_item":
        return _item(page, node, ordinal)
    draw = _ELEMENTS.get(node.type)
    return draw(page, node) if draw else _raw(page, node)


def wrapped(page: Page, lines: list[list[Span]]) -> Lines:
    """Each line wrapped to the page."""
    return [piece for line in lines for piece in wrap_spans(line, page.width)]


def text_of(node: SyntaxTreeNode) -> str:
    """The inline source of a leaf element."""
    return "\n".join(child.content for child in node.children if child.type == "inline")


def _paragraph(page: Page, node: SyntaxTreeNode) -> Lines:
    return wrapped(page, inline_lines(text_of(node), page.look, page.env))


def _heading(page: Page, node: SyntaxTreeNode) -> Lines:
    styles = {"h1": BOLD + page.look.roles.accent, "h2": BOLD}
    return wrapped(page, inline_lines(text_of(node), page.look, page.env, styles.get(node.tag, BOLD + ITALIC)))


def _rule(page: Page, node: SyntaxTreeNode) -> Lines:
    return [[Segment(page.look.signs.rule * page.width, page.look.roles.muted)]]


def _quote(page: Page, node: SyntaxTreeNode) -> Lines:
    mark = Segment(f"{page.look.signs.bar} ", page.look.roles.muted)
    return [[mark, *line] for line in children_lines(page.narrower(2), node.children)]


def _list(page: Page, node: SyntaxTreeNode) -> Lines:
    lines: Lines = []
    for number, item in enumerate(node.children):
        if number and gap_before(page, item):
            lines.append([])
        lines.extend(_item(page, item, first_number(node) + number if node.type == "ordered_list" else None))
    return lines


def first_number(node: SyntaxTreeNode) -> int:
    """The number an ordered list starts with."""
    return int(node.attrs.get("start", 1))


def _item(page: Page, node: SyntaxTreeNode, ordinal: int | None) -> Lines:
    marker = f"{ordinal}{node.markup} " if ordinal is not None else f"{page.look.bullet} "
    indent = width_of(marker)
    lines = children_lines(page.narrower(indent), node.children) or [[]]
    first = [Segment(marker, page.look.roles.muted), *lines[0]]
    return [first, *([Segment(" " * indent), *line] if line else [] for line in lines[1:])]


def _code(page: Page, node: SyntaxTreeNode) -> Lines:
    return code_lines(page, node.content.removesuffix("\n").split("\n"), node.info)


def code_lines(page: Page, source: list[str], language: str) -> Lines:
    """Lines of code, coloured by language, on the faint background of the panel role."""
    return draw_code(page, highlight(source, language, CodeColours.of(page.look.roles)))


def draw_code(page: Page, coloured: list[list[Span]]) -> Lines:
    """Coloured lines of code on their background, cut hard at the width."""
    panel = page.look.roles.panel
    room = max(1, page.width - 2 * CODE_INDENT)
    lines: Lines = []
    for spans in coloured:
        for piece in wrap_spans(spans, room, hard=True):
            used = sum(width_of(segment.text) for segment in piece)
            body = [Segment(segment.text, _on(panel, segment.style)) for segment in piece]
            fill = Segment(" " * max(0, page.width - CODE_INDENT - used), panel)
            lines.append([Segment(" " * CODE_INDENT, panel), *body, fill])
    return lines


def _on(panel: Style, style: Style | None) -> Style:
    return panel + style if style else panel


def _raw(page: Page, node: SyntaxTreeNode) -> Lines:
    return wrapped(page, [[(line, EMPTY)] for line in node.content.removesuffix("\n").split("\n")])


def _table(page: Page, node: SyntaxTreeNode) -> Lines:
    table = table_of(node)
    widths = widths_for(table, page.width, page.look, page.env)
    lines = head_lines(table, widths, page.look, page.env)
    for row in table.rows:
        lines.extend(row_lines(table, row, widths, page.width, page.look, page.env))
    return lines


def table_of(node: SyntaxTreeNode) -> Table:
    """The cells of a table element."""
    rows = [row for part in node.children for row in part.children]
    cells = [tuple(text_of(cell) for cell in row.children) for row in rows]
    styles = [str(cell.attrs.get("style", "")) for cell in rows[0].children]
    return Table(cells[0], tuple(cells[1:]), tuple(style.removeprefix("text-align:") or "left" for style in styles))


_ELEMENTS: dict[str, Callable[[Page, SyntaxTreeNode], Lines]] = {
    "paragraph": _paragraph,
    "heading": _heading,
    "hr": _rule,
    "blockquote": _quote,
    "bullet_list": _list,
    "ordered_list": _list,
    "fence": _code,
    "code_block": _code,
    "table": _table,
}
