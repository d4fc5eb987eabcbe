"""The list of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.text import Text

from tui.look import Look
from tui.widgets.row_list import RowList
from tui.widgets.session_lines import session_line, snippet_line

if TYPE_CHECKING:
    from engine.queries import SessionRow


class SessionList(RowList):
    """While ``words`` were searched for a row has two lines: below it stands where they occur."""

    def __init__(self, look: Look, *, id: str) -> None:
        super().__init__(look, id=id)
        self.rows: tuple[SessionRow, ...] = ()
        self.words = ""
        self.saying = ""
        self._now = datetime.now(UTC)

    @property
    def chosen(self) -> SessionRow | None:
        return self.rows[self.index] if self.rows else None

    def show(self, rows: Sequence[SessionRow], words: str = "") -> None:
        """Take the rows found for ``words``; the chosen session stays chosen while it is among them."""
        kept = self.chosen.id if self.chosen else ""
        self.rows, self.words, self.saying = tuple(rows), words.strip(), ""
        self.tall = 2 if self.words else 1
        self._now = datetime.now(UTC)
        self.take(len(rows), next((n for n, row in enumerate(self.rows) if row.id == kept), 0))

    def say(self, words: str) -> None:
        """Show words in place of rows."""
        self.rows, self.saying = (), words
        self.take(0, 0)

    def line(self, index: int, part: int, width: int) -> Text:
        row = self.rows[index]
        if part:
            return snippet_line(row.snippet, self.words, width, self.look)
        return session_line(row, width, self.look, self._now, chosen=index == self.index)

    def beyond(self, y: int) -> Text | None:
        said = self.saying.splitlines()
        return Text(f"  {said[y - 1]}", style=self.look.roles.muted) if 0 < y <= len(said) else None
