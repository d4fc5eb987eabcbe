"""The settings screen's lines: one for each entry, and what there is to know of the chosen one. Pure."""

from __future__ import annotations

from pathlib import PurePath

from rich.style import Style
from rich.text import Text

from tui.look import Look, clip, homely, one_line, wrapped
from tui.settings.rows import PROBLEMS, Entry, Said

GROUP, NAME, VALUE, SOURCE, LABEL, INDENT = 20, 19, 18, 16, 9, 3
WITH_GROUPS, WITH_MEANING, BESIDE = 72, 110, 60
MOST = 12
"""Lines of one text in the explanation."""


def list_line(entry: Entry, first: bool, width: int, look: Look) -> Text:
    """One entry; the ``first`` of a group names it where there is room."""
    roles = look.roles
    line = Text("  ")
    if width >= WITH_GROUPS:
        line.append_text(_cell(entry.group if first else "", GROUP, roles.accent, look))
    if entry.group == PROBLEMS:
        line.append_text(_cell(f"{look.signs.risk} {one_line(entry.name)}", NAME + 2, roles.warn, look))
        return line.append(one_line(f"{_short(entry.source)}  {entry.meaning}"), roles.text)
    own = entry.source != "default"
    line.append_text(_cell(entry.name, NAME, roles.text + Style(bold=own), look))
    value = one_line(entry.value) or look.signs.todo
    line.append_text(_cell(value, VALUE, roles.text + Style(bold=own) if own else roles.muted, look))
    source = f"{entry.source} {look.signs.risk}" if entry.note else entry.source
    style = roles.warn if entry.note else roles.tool if own else roles.muted
    if width < WITH_MEANING:
        return line.append(source, style)
    line.append_text(_cell(source, SOURCE, style, look))
    return line.append(entry.meaning, roles.muted)


def explain(entry: Entry, width: int, look: Look) -> list[Text]:
    """All there is to know of it, what matters most first. What fits beside something else stands beside it."""
    roles, room = look.roles, max(8, width - 2)
    title = clip(Text(f" {one_line(entry.name)}", style=roles.accent + Style(bold=True)), width, look.signs.ellipsis)
    if width >= BESIDE and title.cell_len + len(entry.meaning) + 2 <= width:
        lines = [Text.assemble(title, "  ", (entry.meaning, roles.text))]
    else:
        lines = [title, *_paragraph(entry.meaning, room, roles.text, look)]
    if entry.note:
        lines += _paragraph(f"{look.signs.risk} {entry.note}", room, roles.warn, look)
    for said in entry.said:
        lines += _said(said, width, look)
    for label, words in entry.facts:
        lines += _labelled(label, words, room, look)
    return lines


def _said(said: Said, width: int, look: Look) -> list[Text]:
    """What one source says, and where it does."""
    roles = look.roles
    style = roles.text if said.holds else roles.muted
    value = one_line(said.value) or look.signs.todo
    sign = look.signs.done if said.holds else " "
    line = Text.assemble((f" {sign} ", roles.ok), (f"{said.source:<{SOURCE}}", style), (value, style))
    where = homely(said.where)
    if not where:
        return [line]
    if width >= BESIDE and line.cell_len + len(where) + 3 <= width:
        return [Text.assemble(line, "   ", (where, roles.muted))]
    parts = wrapped(where, width - INDENT - 1, 3, look.signs.ellipsis)
    return [line, *(Text(f"{'':{INDENT}}{part}", style=roles.muted) for part in parts)]


def _labelled(label: str, words: str, room: int, look: Look) -> list[Text]:
    parts = wrapped(words, room - LABEL, MOST, look.signs.ellipsis)
    heads = [label, *[""] * (len(parts) - 1)]
    return [
        Text.assemble((f" {head:<{LABEL}}", look.roles.muted), (part, look.roles.text))
        for head, part in zip(heads, parts, strict=True)
    ]


def _paragraph(words: str, room: int, style: Style, look: Look) -> list[Text]:
    return [Text(f" {part}", style=style) for part in wrapped(words, room, MOST, look.signs.ellipsis)]


def _cell(words: str, width: int, style: Style, look: Look) -> Text:
    """``words`` in a column of ``width`` cells, the last of them empty."""
    cut = clip(Text(words, style=style), width - 1, look.signs.ellipsis)
    return Text.assemble(cut, " " * (width - cut.cell_len))


def _short(where: str) -> str:
    """A file by its last name."""
    return PurePath(where).name or where
