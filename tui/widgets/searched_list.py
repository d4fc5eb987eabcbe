"""A list of lines with a search that is there while somebody searches: the words typed leave only lines with them."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

import themes
from tui.look import Look
from tui.widgets.line_list import LineList
from tui.widgets.text_line import TextLine


class SearchedList(Vertical):
    """Which lines have the words is up to the screen: it hears `Searched`, looks at ``words`` and shows others."""

    DEFAULT_CSS = themes.stylesheet("searched_list").read_text(encoding="utf-8")

    class Searched(Message):
        """Other words are searched for."""

    def __init__(self, look: Look, *beside: Widget, id: str) -> None:
        """``beside``: what stands under the lines, or beside them; the screen's stylesheet says where."""
        super().__init__(id=id)
        self._beside = beside
        self.list = LineList(look, id=f"{id}-lines")
        self._input = TextLine(placeholder="words", id=f"{id}-words", compact=True)
        self._input.display = False

    def compose(self) -> ComposeResult:
        yield self._input
        with Container():
            yield self.list
            yield from self._beside

    @property
    def words(self) -> list[str]:
        """What a line must have, in small letters."""
        return self._input.value.casefold().split()

    def search(self) -> None:
        self._input.display = True
        self._input.focus()

    def end_search(self) -> bool:
        """Whether there was one to end."""
        searching = bool(self._input.display)
        if searching:
            self._input.value = ""
            self._input.display = False
            self.list.focus()
        return searching

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Searched())

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.list.focus()
