"""Rows to choose from. Only the lines in view are drawn: thousands of rows cost what a screenful costs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

import themes
from tui.look import Look, clip

if TYPE_CHECKING:
    from textual import events


class RowList(ScrollView, can_focus=True):
    """``index`` is the row the keys are for, ``length`` how many there are, ``tall`` how many lines each has."""

    DEFAULT_CSS = themes.stylesheet("row_list").read_text(encoding="utf-8")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "move(-1000000)", "To the top", show=False),
        Binding("end", "move(1000000)", "To the bottom", show=False),
    ]

    class Opened(Message):
        """A person wants the chosen row."""

    class Moved(Message):
        """Another row was chosen."""

    def __init__(self, look: Look, *, id: str) -> None:
        super().__init__(id=id)
        self.look = look
        self.length = 0
        self.index = 0
        self.tall = 1

    def line(self, index: int, part: int, width: int) -> Text:
        """A line of a row, the first of them being ``part`` 0."""
        raise NotImplementedError

    def take(self, length: int, index: int) -> None:
        """There are other rows; ``index`` is to be the chosen one."""
        self.length = length
        self.index = min(max(0, index), max(0, length - 1))
        self._fit()
        self._reveal()

    # --- moving ------------------------------------------------------------------------------------------------------

    def action_move(self, rows: int) -> None:
        if self.length:
            self._go(min(max(0, self.index + rows), self.length - 1))
            self._reveal()

    def _go(self, index: int) -> None:
        self.index = index
        self.refresh()
        self.post_message(self.Moved())

    def action_page(self, pages: int) -> None:
        self.action_move(pages * max(1, self.size.height // self.tall - 1))

    def on_click(self, event: events.Click) -> None:
        """A click chooses, one on the chosen row opens."""
        index = (event.y + self.scroll_offset.y) // self.tall
        if index < self.length:
            if index == self.index:
                self.post_message(self.Opened())
            self._go(index)

    def jump_places(self) -> list[tuple[int, Callable[[], None]]]:
        """The rows in view: where each begins, and what chooses it."""
        top, bottom = self.scroll_offset.y, self.scroll_offset.y + self.size.height
        rows = range(-(-top // self.tall), min(self.length, -(-bottom // self.tall)))
        return [(row * self.tall - top, partial(self._go, row)) for row in rows]

    def on_resize(self) -> None:
        self._fit()
        self._reveal()

    def _fit(self) -> None:
        self.virtual_size = Size(self.size.width, self.length * self.tall)
        self.refresh()

    def _reveal(self) -> None:
        top, height, line = self.scroll_offset.y, max(self.tall, self.size.height), self.index * self.tall
        if line < top:
            self.scroll_to(y=line, animate=False)
        elif line + self.tall > top + height:
            self.scroll_to(y=line + self.tall - height, animate=False)

    # --- drawing -----------------------------------------------------------------------------------------------------

    def beyond(self, y: int) -> Text | None:
        """What stands on line ``y`` of the screen, where there is no row; None for nothing."""
        return None

    def render_line(self, y: int) -> Strip:
        width, base = self.scrollable_content_region.width, self.rich_style
        index, part = divmod(y + self.scroll_offset.y, self.tall)
        line = self.line(index, part, width) if index < self.length else self.beyond(y)
        if line is None:
            return Strip.blank(width, base)
        line = clip(line, width, self.look.signs.ellipsis)
        if index == self.index and index < self.length:
            base += self.look.roles.panel
            mark = self.look.signs.focus if part == 0 else " "
            line = Text.assemble((mark, self.look.roles.accent), line[1:])
        line.stylize_before(line.style)
        return Strip(line.render(self.app.console), line.cell_len).adjust_cell_length(width, base).apply_style(base)
