"""Lines to read in a dialog: as high as they are, up to what there is room for; only what is in sight is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip


class Lines(ScrollView, can_focus=False):
    """Its column on the right is kept free for the scroll bar."""

    class Moved(Message):
        """Other lines are in sight."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._strips: list[Strip] = []

    def show(self, lines: Sequence[Sequence[Segment]], rows: int) -> None:
        """Show ``lines`` in at most ``rows`` rows; where one was reading stays."""
        self._strips = [Strip(line) for line in lines]
        self.styles.height = min(len(lines), max(1, rows))
        self.virtual_size = Size(1, len(lines))
        self.refresh(layout=True)

    @property
    def hidden(self) -> tuple[int, int]:
        """Lines out of sight above and below."""
        top = self.scroll_offset.y
        return top, max(0, len(self._strips) - top - self.scrollable_content_region.height)

    def reveal(self, line: int) -> None:
        """Scroll as little as needed to bring a line into sight."""
        top, rows = self.scroll_offset.y, self.scrollable_content_region.height
        if not top <= line < top + rows:
            self.scroll_to(y=line if line < top else line - rows + 1, animate=False)

    def watch_scroll_y(self, old: float, new: float) -> None:
        super().watch_scroll_y(old, new)
        self.post_message(self.Moved())

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        style = self.rich_style
        number = self.scroll_offset.y + y
        if number >= len(self._strips):
            return Strip.blank(width, style)
        return self._strips[number].apply_style(style).adjust_cell_length(width, style)
