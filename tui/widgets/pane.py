"""A pane: a title that stays, lines below it that scroll. State goes in, lines come out of a pure function.

A pane that is not on screen keeps the newest state and draws nothing until it is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.console import Console
from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.look import Look, spread

if TYPE_CHECKING:
    from textual import events

    from engine.state import TaskState


_BOLD = Style(bold=True)


class Pane(ScrollView, can_focus=True):
    """Subclasses give `head` and `body`; both are called with the width there is and must not look anything up."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home", "scroll_home", "To the top", show=False),
        Binding("end", "scroll_end", "To the end", show=False),
        Binding("enter", "open", "Open", show=False),
    ]
    TITLE: ClassVar[str] = ""

    def __init__(self, look: Look, *, id: str) -> None:
        super().__init__(id=id)
        self.look = look
        self.state: TaskState | None = None
        self._lines: list[Strip] = []
        self._drawn = 0
        self._stale = True

    # --- what subclasses say -----------------------------------------------------------------------------------------

    def head(self, width: int) -> Text:
        """What stands to the right of the title."""
        return Text()

    def body(self, width: int) -> list[Text]:
        """The lines below the title, each at most ``width`` cells."""
        return []

    def action_open(self) -> None:
        """Enter on the pane."""

    # --- what callers do ---------------------------------------------------------------------------------------------

    def show(self, state: TaskState) -> None:
        """Take the newest task state."""
        self.state = state
        self.redraw()

    def dress(self, look: Look) -> None:
        """Take other colours or signs."""
        self.look = look
        self.redraw()

    def redraw(self) -> None:
        """Draw anew, when on screen; otherwise when shown."""
        self._stale = True
        if self.is_on_screen:
            self._draw(self.scrollable_content_region.width)

    @property
    def is_on_screen(self) -> bool:
        """Whether the pane has a place on the screen now; a hidden pane costs nothing."""
        return self.is_mounted and self.size.width > 0 and all(node.display for node in self.ancestors_with_self)

    # --- drawing -----------------------------------------------------------------------------------------------------

    def _draw(self, width: int) -> None:
        if width > 0:
            self._make(width)
            self.virtual_size = Size(width, len(self._lines))
            self.refresh()

    def _make(self, width: int) -> None:
        console = self.app.console
        self._lines = [_strip(line, width, console) for line in (self._title(width), *self.body(width))]
        self._drawn, self._stale = width, False

    def _title(self, width: int) -> Text:
        signs, roles = self.look.signs, self.look.roles
        title = Text(f" {self.TITLE}", style=roles.muted + _BOLD)
        if self.has_focus:
            title = Text(f"{signs.focus}{self.TITLE}", style=roles.accent + _BOLD)
        return spread(title, self.head(width), width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        # The layout asks from here, so that nothing may be refreshed; `on_resize` follows when the size changed.
        width -= self.scrollbar_size_vertical if self.show_vertical_scrollbar else 0
        if self._stale or self._drawn != width:
            self._make(width)
        return max(1, len(self._lines))

    def on_resize(self, event: events.Resize) -> None:
        width = self.scrollable_content_region.width
        if self._stale or width != self._drawn:
            self._draw(width)

    def watch_show_vertical_scrollbar(self) -> None:
        """What the bar takes is no longer there for the lines."""
        self.call_after_refresh(self.redraw)

    def on_show(self) -> None:
        if self._stale:
            self._draw(self.scrollable_content_region.width)

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.redraw()

    def render_line(self, y: int) -> Strip:
        """The title at the top whatever is scrolled, the body under it."""
        width = self.scrollable_content_region.width
        index = y if y == 0 else y + self.scroll_offset.y
        if index < len(self._lines):
            return self._lines[index].adjust_cell_length(width, self.rich_style).apply_style(self.rich_style)
        return Strip.blank(width, self.rich_style)


def _strip(line: Text, width: int, console: Console) -> Strip:
    line.no_wrap, line.end = True, ""
    # Rich leaves the style of the whole line to whoever prints it; here nobody does.
    line.stylize_before(line.style)
    return Strip(line.render(console), line.cell_len).adjust_cell_length(width)
