"""The strip of session tabs, there while more than one session is open: which is shown, what each does, who waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text
from textual.widget import Widget

from tui.look import STAGE_ROLES, STAGE_SIGNS, Look, clip, one_line

if TYPE_CHECKING:
    from tui.session_tabs import Tabs

TITLES = (28, 20, 14, 9, 5, 0)
"""Cells a title may take, from roomy to none, until all tabs fit."""


@dataclass(frozen=True, slots=True)
class Row:
    """One session: ``stage`` as in the task state, ``waiting`` requests for a person."""

    title: str
    stage: str = "idle"
    waiting: int = 0


class SessionStrip(Widget):
    """Takes no line while one session is open."""

    # A word that can be clicked keeps the colour of its role.
    auto_links = False

    def __init__(self, look: Look, *, id: str = "sessions-strip") -> None:
        super().__init__(id=id)
        self.look = look
        self.rows: tuple[Row, ...] = ()
        self.shown = 0

    def follow(self, tabs: Tabs) -> None:
        """Take the sessions as they are now; drawn only when something about them differs."""
        rows = tuple(Row(tab.title, tab.state.stage if tab.state else "starting", tab.waiting) for tab in tabs.all)
        shown = tabs.all.index(tabs.shown)
        if (rows, shown) != (self.rows, self.shown):
            self.rows, self.shown = rows, shown
            self.set_class(tabs.several, "-some")
            self.refresh()

    def dress(self, look: Look) -> None:
        self.look = look
        self.refresh()

    def render(self) -> Text:
        return strip_line(self.rows, self.shown, self.size.width, self.look)


def strip_line(rows: Sequence[Row], shown: int, width: int, look: Look) -> Text:
    """Number, title and state of each session; words for the state where there is room. Where not all fit, those
    around the one that is shown, and a sign for the rest."""
    for words, title in ((True, TITLES[0]), *((False, most) for most in TITLES)):
        cells = [_cell(row, number, number == shown, title, words, look) for number, row in enumerate(rows)]
        if sum(cell.cell_len for cell in cells) <= width:
            return Text.assemble(*cells, no_wrap=True)
    return _around(cells, shown, width, look)


def _cell(row: Row, number: int, shown: bool, most: int, words: bool, look: Look) -> Text:
    roles = look.roles
    style = roles.accent + Style(bold=True, underline=True) if shown else roles.muted
    click = Style(meta={"@click": f"screen.show_session({number})"})
    cell = Text(look.signs.focus if shown else " ", style=roles.accent if shown else roles.muted)
    cell.append(str(number + 1), style + click)
    if most:
        title = clip(Text(one_line(row.title)), most, look.signs.ellipsis)
        cell.append(" ", style + click)
        cell.append_text(Text(title.plain, style + click))
    if said := _said(row, words, look):
        cell.append(" ")
        cell.append_text(said)
    cell.append(" ")
    return cell


def _said(row: Row, words: bool, look: Look) -> Text:
    """What a session does: its sign, and in words; how many requests wait, which comes before all else."""
    if row.waiting:
        verb = "waits" if row.waiting == 1 else "wait"
        said = f" {row.waiting} {verb} for you" if words else str(row.waiting)
        return Text(f"{look.signs.waits}{said}", look.roles.warn)
    if words:
        said, style = look.stage(row.stage)
        return Text("" if row.stage == "idle" else said, style)
    sign = STAGE_SIGNS.get(row.stage, "")
    return Text(getattr(look.signs, sign) if sign else "", getattr(look.roles, STAGE_ROLES.get(row.stage, "muted")))


def _around(cells: Sequence[Text], shown: int, width: int, look: Look) -> Text:
    """As many cells as fit around the one that is shown; a sign stands for those that are cut off."""
    first = last = shown
    room = width - cells[shown].cell_len - 2
    while True:
        wider = [(first - 1, cells[first - 1])] if first else []
        wider += [(last + 1, cells[last + 1])] if last + 1 < len(cells) else []
        fitting = [(at, cell) for at, cell in wider if cell.cell_len <= room]
        if not fitting:
            break
        at, cell = fitting[-1]
        room -= cell.cell_len
        first, last = min(first, at), max(last, at)
    more = (look.signs.more, look.roles.muted)
    before, after = (more if first else " "), (more if last + 1 < len(cells) else " ")
    return clip(Text.assemble(before, *cells[first : last + 1], after, no_wrap=True), width, look.signs.ellipsis)
