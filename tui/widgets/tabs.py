"""The tab strip of narrow terminals: one pane at a time, with a badge where something waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text
from textual.widget import Widget

from tui.asking import waits_for_you
from tui.look import Look, clip

if TYPE_CHECKING:
    from engine.state import TaskState

TABS = ("transcript", "task", "todo", "cache", "approvals", "tools")


class TabStrip(Widget):
    # A word that can be clicked keeps the colour of its role.
    auto_links = False

    def __init__(self, look: Look, *, id: str = "tabs") -> None:
        super().__init__(id=id)
        self.look = look
        self.active = TABS[0]
        self.badges: dict[str, int] = {}

    def show(self, state: TaskState) -> None:
        """Take the newest task state."""
        self.badge("approvals", waits_for_you(state))

    def badge(self, tab: str, count: int) -> None:
        """Something waits in ``tab``, or (0) nothing does."""
        if self.badges.get(tab, 0) != count:
            self.badges[tab] = count
            self.refresh()

    def activate(self, tab: str) -> None:
        self.active = tab
        self.badges.pop("transcript" if tab == "transcript" else "", None)
        self.refresh()

    def dress(self, look: Look) -> None:
        self.look = look
        self.refresh()

    def render(self) -> Text:
        return tab_line(self.active, self.badges, self.size.width, self.look)


def tab_line(active: str, badges: dict[str, int], width: int, look: Look) -> Text:
    """``1 transcript  2 task  …``; numbers alone for the tabs that are not active where the words do not fit."""
    for words in (True, False):
        line = _tabs(active, badges, words, look)
        if line.cell_len <= width:
            return line
    return clip(line, width, look.signs.ellipsis)


def _tabs(active: str, badges: dict[str, int], words: bool, look: Look) -> Text:
    line = Text(no_wrap=True)
    for number, tab in enumerate(TABS, 1):
        label = f"{number} {tab}" if words or tab == active else str(number)
        style = look.roles.accent + Style(bold=True, underline=True) if tab == active else look.roles.muted
        line.append(" ")
        line.append(label, style + Style(meta={"@click": f"screen.tab('{tab}')"}))
        if badges.get(tab):
            line.append(f" {look.signs.waits}{badges[tab]}", look.roles.warn)
        line.append(" ")
    return line
