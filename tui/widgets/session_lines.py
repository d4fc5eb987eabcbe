"""A stored session as a line of the list: pure, with columns that fit the width there is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from tui import format
from tui.look import Look, clip, one_line
from tui.widgets.header import short_folder, short_model

if TYPE_CHECKING:
    from engine.queries import SessionRow

NAMELESS = "nothing said yet"
MARGIN = 2
"""Cells before a line: one for the mark of the chosen row, one of space."""
GAP = 2

Name = Literal["folder", "model", "when", "turns", "calls", "cost", "state"]


@dataclass(frozen=True, slots=True)
class Column:
    name: Name
    width: int
    right: bool = False


def columns(width: int) -> tuple[Column, ...]:
    """The columns beside the title, from left to right."""
    when, turns, cost, state = Column("when", 6, True), Column("turns", 5, True), Column("cost", 7, True), 16
    if width < 56:
        return (when,)
    if width < 100:
        return (when, cost, Column("state", state))
    if width < 160:
        return (Column("folder", 22), Column("model", 16), when, turns, cost, Column("state", state))
    calls = Column("calls", 5, True)
    return (Column("folder", 36), Column("model", 28), when, turns, calls, cost, Column("state", state))


def heading_line(width: int, look: Look) -> Text:
    """The names of the columns."""
    shown = columns(width)
    room = _title_room(shown, width)
    line = Text(" " * MARGIN + f"{'session':<{room}}"[:room], style=look.roles.muted, no_wrap=True)
    for column in shown:
        name = column.name
        line.append(" " * GAP + (f"{name:>{column.width}}" if column.right else f"{name:<{column.width}}"))
    return clip(line, width)


def session_line(row: SessionRow, width: int, look: Look, now: datetime, chosen: bool = False) -> Text:
    """Title, then the columns; what is unusual about a session stands behind its title."""
    shown = columns(width)
    room = _title_room(shown, width)
    line = Text.assemble(" " * MARGIN, _padded(_title(row, room, look, chosen), room), no_wrap=True)
    for column in shown:
        text = clip(_cell(row, column, look, now), column.width, look.signs.ellipsis)
        space = " " * (column.width - text.cell_len)
        line = Text.assemble(line, " " * GAP, space if column.right else "", text, "" if column.right else space)
    return clip(line, width)


def snippet_line(snippet: str, words: str, width: int, look: Look) -> Text:
    """What was found, with the words that were looked for standing out."""
    text = Text(f"    {one_line(snippet)}", style=look.roles.muted, no_wrap=True)
    sought = [word for word in words.replace('"', " ").split() if word]
    if sought:
        text.highlight_words(sought, Style(color=look.roles.accent.color, bold=True), case_sensitive=False)
    return clip(text, width, look.signs.ellipsis)


def when(at: datetime, now: datetime) -> str:
    """``10:02`` today, ``Tue`` within a week, ``28 Nov`` this year, else ``Nov 25``-like month and year."""
    local, today = at.astimezone(), now.astimezone()
    if local.date() == today.date():
        return format.clock(at)
    if timedelta(0) < today - local < timedelta(days=6):
        return local.strftime("%a")
    if local.year == today.year:
        return f"{local.day} {local:%b}"
    return local.strftime("%b %y")


def state_of(row: SessionRow, look: Look) -> tuple[str, Style]:
    """What became of a session as sign and words, and their style."""
    if row.open_elsewhere:
        return f"{look.signs.running} open elsewhere", look.roles.warn
    if row.state == "running":
        return f"{look.signs.running} running", look.roles.tool
    if row.state == "open":
        return f"{look.signs.todo} not started", look.roles.muted
    if row.state == "limit":
        return f"{look.signs.paused} at a limit", look.roles.warn
    return look.stage(row.state)


def _title(row: SessionRow, room: int, look: Look, chosen: bool) -> Text:
    behind = Text(f"  {format.plural(row.skipped, 'damaged row')}" if row.skipped else "", style=look.roles.danger)
    style = look.roles.text if row.title else look.roles.muted
    title = Text(one_line(row.title) or NAMELESS, style=style + Style(bold=chosen), no_wrap=True)
    return Text.assemble(clip(title, max(8, room - behind.cell_len), look.signs.ellipsis), behind)


def _cell(row: SessionRow, column: Column, look: Look, now: datetime) -> Text:
    muted = look.roles.muted
    match column.name:
        case "folder":
            return Text(_end_of(short_folder(Path(one_line(row.folder))), column.width, look), style=muted)
        case "model":
            return Text(short_model(row.model), style=muted)
        case "when":
            return Text(when(row.updated, now), style=look.roles.text)
        case "turns":
            return Text(format.count(row.turns), style=muted)
        case "calls":
            return Text(format.count(row.calls), style=muted)
        case "cost":
            return Text(format.money(row.cost), style=muted)
        case "state":
            words, style = state_of(row, look)
            return Text(words, style=style)


def _end_of(path: str, width: int, look: Look) -> str:
    """A path cut at its beginning: its end is what tells folders apart."""
    if cell_len(path) <= width:
        return path
    while path and cell_len(path) > width - 1:
        path = path[1:]
    return look.signs.ellipsis + path


def _title_room(shown: tuple[Column, ...], width: int) -> int:
    return max(0, width - MARGIN - sum(column.width + GAP for column in shown) - 1)


def _padded(text: Text, width: int) -> Text:
    text = clip(text, width)
    return Text.assemble(text, " " * max(0, width - text.cell_len))
