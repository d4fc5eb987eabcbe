"""The list above the composer: files after ``@``, commands after ``/``, or a word about why nothing was sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from rich.console import RenderableType
from rich.style import Style
from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget

from tui.look import clip, one_line
from tui.roles import Roles

if TYPE_CHECKING:
    from tui.theming import Themed

ROWS = 8
NAME = 28


class CompletionList(Widget):
    """Lies over what is above the composer, so that nothing moves when it opens. Never has the focus."""

    class Chosen(Message):
        """A row was clicked."""

    def __init__(self) -> None:
        super().__init__(id="composer-list")
        self._mark = ""
        self._items: Sequence[tuple[str, str]] = ()
        self._words = self._hint = ""
        self._at = 0
        self.display = False

    def on_mount(self) -> None:
        self._mark = cast("Themed", self.app).look.signs.prompt

    @property
    def open(self) -> bool:
        """Whether there is something to choose from."""
        return bool(self._items)

    @property
    def at(self) -> int:
        """The row the mark is on, counted from 0."""
        return self._at

    @property
    def chosen(self) -> str:
        """The name of the row the mark is on."""
        return self._items[self._at][0] if self._items else ""

    def offer(self, items: Sequence[tuple[str, str]], hint: str = "") -> None:
        """Show ``(name, what it is)`` to choose from; the mark stays on what it was on. ``hint``: which keys do what,
        where that is not what one expects."""
        before = self.chosen
        self._items, self._words, self._hint = items, "", hint
        names = [name for name, _ in items]
        self._at = names.index(before) if before in names else 0
        self._place(len(items))

    def say(self, words: str) -> None:
        """Show one line that is no choice."""
        self._items, self._words = (), words
        self._place(1)

    def close(self) -> None:
        self._items, self._words = (), ""
        self.display = False

    def move(self, step: int) -> None:
        """Move the mark, round and round."""
        self._at = (self._at + step) % len(self._items)
        self.refresh()

    def _place(self, wanted: int) -> None:
        rows = min(wanted, ROWS, max(1, self.screen.size.height - 4))
        self.display = rows > 0
        self.styles.height = rows
        self.styles.offset = (0, -rows - 1)
        self.refresh(layout=True)

    def _first(self) -> int:
        """The first row shown, so that the mark is in view."""
        rows = max(1, self.size.height)
        return max(0, min(self._at - rows // 2, len(self._items) - rows))

    def render(self) -> RenderableType:
        roles = Roles.from_variables(self.app.theme_variables)
        width = self.size.width
        if not self._items:
            return clip(Text(f"   {one_line(self._words)}", roles.warn), width)
        first = self._first()
        name_width = min(max(len(name) for name, _ in self._items) + 2, max(NAME, width // 2))
        rows = [
            self._row(number, name_width, width, roles)
            for number in range(first, min(first + self.size.height, len(self._items)))
        ]
        return Text("\n").join(rows)

    def _row(self, number: int, name_width: int, width: int, roles: Roles) -> Text:
        name, words = self._items[number]
        marked = number == self._at
        row = Text(f" {self._mark} " if marked else "   ", roles.accent)
        row.append(one_line(name), roles.text + Style(bold=True) if marked else roles.text)
        row.pad_right(max(0, name_width + 3 - row.cell_len))
        argument, gap, what = words.partition("  ")
        if gap:
            row.append(f"{one_line(argument)}  ", roles.tool)
        row.append(one_line(what if gap else words), roles.muted)
        left = self._aside(number, width) if marked else ""
        row = clip(row, max(1, width - len(left) - 1))
        row.pad_right(max(0, width - row.cell_len - len(left) - 1))
        row.append(left, roles.muted)
        return row

    def _aside(self, number: int, width: int) -> str:
        """What stands at the right of the marked row: the keys, and where in a list that is longer than its rows."""
        parts = [self._hint] if self._hint and width >= 70 else []
        if width >= 40 and len(self._items) > self.size.height:
            parts.append(f"{number + 1}/{len(self._items)}")
        return "".join(f"  {part}" for part in parts)[1:]

    def on_click(self, event: events.Click) -> None:
        event.stop()
        if self._items:
            self._at = min(self._first() + event.y, len(self._items) - 1)
            self.post_message(self.Chosen())
