"""A list that draws the lines in view and no others; what a line shows is up to a pure function."""

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

from tui.look import Look, clip

if TYPE_CHECKING:
    from textual import events

Draw = Callable[[int, int], Text]
"""(index, width) to the line."""


class LineList(ScrollView, can_focus=True):
    """`show` takes how many lines there are and what draws them; ``index`` is the one the keys are for."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "move(-1000000)", "To the top", show=False),
        Binding("end", "move(1000000)", "To the bottom", show=False),
    ]

    class Opened(Message):
        """A person wants the chosen line."""

    class Moved(Message):
        """Another line was chosen."""

    def __init__(self, look: Look, *, id: str) -> None:
        super().__init__(id=id)
        self.look = look
        self.length = 0
        self.index = 0
        self._draw: Draw = lambda index, width: Text()

    def show(self, length: int, draw: Draw, index: int = 0) -> None:
        """Take other lines; ``index`` becomes the chosen one."""
        self.length, self._draw = length, draw
        self.index = min(max(0, index), max(0, length - 1))
        self._fit()
        self._reveal()

    def action_move(self, lines: int) -> None:
        if self.length:
            self._go(min(max(0, self.index + lines), self.length - 1))
            self._reveal()

    def _go(self, index: int) -> None:
        self.index = index
        self.refresh()
        self.post_message(self.Moved())

    def action_page(self, pages: int) -> None:
        self.action_move(pages * max(1, self.size.height - 1))

    def on_click(self, event: events.Click) -> None:
        """A click chooses, one on the chosen line opens."""
        index = event.y + self.scroll_offset.y
        if index < self.length:
            if index == self.index:
                self.post_message(self.Opened())
            self._go(index)

    def jump_places(self) -> list[tuple[int, Callable[[], None]]]:
        """The lines in view, and what chooses each."""
        top = self.scroll_offset.y
        lines = range(top, min(self.length, top + self.size.height))
        return [(line - top, partial(self._go, line)) for line in lines]

    def on_resize(self) -> None:
        self._fit()
        self._reveal()

    def _fit(self) -> None:
        self.virtual_size = Size(self.size.width, self.length)
        self.refresh()

    def _reveal(self) -> None:
        top, height = self.scroll_offset.y, max(1, self.size.height)
        if self.index < top:
            self.scroll_to(y=self.index, animate=False)
        elif self.index >= top + height:
            self.scroll_to(y=self.index + 1 - height, animate=False)

    def render_line(self, y: int) -> Strip:
        width, base = self.scrollable_content_region.width, self.rich_style
        index = y + self.scroll_offset.y
        if index >= self.length:
            return Strip.blank(width, base)
        line = clip(self._draw(index, width), width, self.look.signs.ellipsis)
        if index == self.index:
            base += self.look.roles.panel
            line = Text.assemble((self.look.signs.focus, self.look.roles.accent), line[1:])
        line.stylize_before(line.style)
        return Strip(line.render(self.app.console), line.cell_len).adjust_cell_length(width, base).apply_style(base)
