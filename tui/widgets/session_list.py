"""The list of sessions: draws the lines in view and no others, so that thousands cost what a screenful costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.look import Look, clip
from tui.widgets.session_lines import session_line, snippet_line

if TYPE_CHECKING:
    from textual import events

    from engine.queries import SessionRow


class SessionList(ScrollView, can_focus=True):
    """`show` takes rows; ``chosen`` is the one the keys are for. While ``words`` were searched for a row has two lines:
    below it stands where they occur."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "move(-1000000)", "To the newest", show=False),
        Binding("end", "move(1000000)", "To the oldest", show=False),
    ]

    class Opened(Message):
        """A person wants the chosen session."""

    def __init__(self, look: Look, *, id: str) -> None:
        super().__init__(id=id)
        self.look = look
        self.rows: tuple[SessionRow, ...] = ()
        self.words = ""
        self.saying = ""
        self.index = 0
        self._now = datetime.now(UTC)

    @property
    def chosen(self) -> SessionRow | None:
        return self.rows[self.index] if self.rows else None

    @property
    def tall(self) -> int:
        """Lines a row has."""
        return 2 if self.words else 1

    def show(self, rows: Sequence[SessionRow], words: str = "") -> None:
        """Take the rows found for ``words``; the chosen session stays chosen while it is among them."""
        kept = self.chosen.id if self.chosen else ""
        self.rows, self.words, self.saying = tuple(rows), words.strip(), ""
        self._now = datetime.now(UTC)
        self.index = next((n for n, row in enumerate(self.rows) if row.id == kept), 0)
        self._fit()
        self._reveal()

    def say(self, words: str) -> None:
        """Show words in place of rows."""
        self.rows, self.saying, self.index = (), words, 0
        self._fit()

    def dress(self, look: Look) -> None:
        self.look = look
        self.refresh()

    # --- moving ------------------------------------------------------------------------------------------------------

    def action_move(self, rows: int) -> None:
        if self.rows:
            self.index = min(max(0, self.index + rows), len(self.rows) - 1)
            self._reveal()
            self.refresh()

    def action_page(self, pages: int) -> None:
        self.action_move(pages * max(1, self.size.height // self.tall - 1))

    def on_click(self, event: events.Click) -> None:
        """A click chooses, one on the chosen row opens."""
        index = (event.y + self.scroll_offset.y) // self.tall
        if index >= len(self.rows):
            return
        if index == self.index:
            self.post_message(self.Opened())
        self.index = index
        self.refresh()

    def jump_places(self) -> list[tuple[int, Callable[[], None]]]:
        """The rows in view: where each begins, and what chooses it."""
        top, bottom = self.scroll_offset.y, self.scroll_offset.y + self.size.height
        rows = range(-(-top // self.tall), min(len(self.rows), -(-bottom // self.tall)))
        return [(row * self.tall - top, partial(self._choose, row)) for row in rows]

    def _choose(self, row: int) -> None:
        self.action_move(row - self.index)

    def _reveal(self) -> None:
        top, height, line = self.scroll_offset.y, max(self.tall, self.size.height), self.index * self.tall
        if line < top:
            self.scroll_to(y=line, animate=False)
        elif line + self.tall > top + height:
            self.scroll_to(y=line + self.tall - height, animate=False)

    def _fit(self) -> None:
        self.virtual_size = Size(self.size.width, len(self.rows) * self.tall)
        self.refresh()

    def on_resize(self) -> None:
        self._fit()
        self._reveal()

    # --- drawing -----------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width, base = self.scrollable_content_region.width, self.rich_style
        index, part = divmod(y + self.scroll_offset.y, self.tall)
        if index < len(self.rows):
            line, chosen = self._line(index, part, width), index == self.index
        elif not self.rows and 0 < y <= len(self._said):
            line, chosen = Text(f"  {self._said[y - 1]}", style=self.look.roles.muted), False
        else:
            return Strip.blank(width, base)
        if chosen:
            base += self.look.roles.panel
            mark = self.look.signs.focus if part == 0 else " "
            line = Text.assemble((mark, self.look.roles.accent), line[1:])
        line = clip(line, width, self.look.signs.ellipsis)
        line.stylize_before(line.style)
        return Strip(line.render(self.app.console), line.cell_len).adjust_cell_length(width, base).apply_style(base)

    def _line(self, index: int, part: int, width: int) -> Text:
        row = self.rows[index]
        if part:
            return snippet_line(row.snippet, self.words, width, self.look)
        return session_line(row, width, self.look, self._now, chosen=index == self.index)

    @property
    def _said(self) -> list[str]:
        return self.saying.splitlines()
