"""A text area that moves and deletes by what a person sees: graphemes, and chips that stand for something longer."""

from __future__ import annotations

import sys
from typing import Any

from rich.text import Text
from textual.binding import Binding

from tui.widgets.composer_graphemes import after, before, grapheme_at


def _without_syntax_parser() -> None:
    """Import what Textual's TextArea colours code with while the parser it would load looks absent.

    Nobody colours code while typing a message, and loading the parser takes longer than the rest of the first frame.
    """
    if "tree_sitter" in sys.modules or "textual._tree_sitter" in sys.modules:
        return
    modules: dict[str, Any] = sys.modules
    modules["tree_sitter"] = None
    try:
        import textual._tree_sitter
        import textual.document._syntax_aware_document  # noqa: F401
    finally:
        del modules["tree_sitter"]


_without_syntax_parser()

from textual.document._document import EditResult, Location, Selection  # noqa: E402
from textual.widgets import TextArea  # noqa: E402

from tui.widgets.removable import Removable  # noqa: E402

JOINERS = ("\u200c", "\u200d")
"""Typed as part of a word or an emoji, though Python does not call them printable."""


class Area(Removable, TextArea):
    """Text a person edits. Nothing blinks, so that nothing is drawn while nobody types."""

    BINDINGS = [Binding("ctrl+v", "paste", "Paste", show=False)]  # noqa: RUF012

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(text, id=id, highlight_cursor_line=False)
        self.cursor_blink = False
        self.match_cursor_bracket = False

    def chips(self, line: str) -> list[tuple[int, int]]:
        """Parts of a line that are one thing: (start, end). None here."""
        return []

    def put(self, text: str) -> None:
        """Replace what is selected, or insert where the cursor is."""
        if result := self._replace_via_keyboard(text, *self.selection):
            self.move_cursor(result.end_location)

    # --- one step is one grapheme or one chip ------------------------------------------------------------------------

    def _whole(self, location: Location) -> tuple[int, int]:
        """The grapheme or chip that holds the column of ``location``, or begins there."""
        row, column = location
        line = self.document[row]
        for start, end in self.chips(line):
            if start <= column < end:
                return start, end
        return grapheme_at(line, column)

    def get_cursor_left_location(self) -> Location:
        row, column = self.cursor_location
        if not column:
            return super().get_cursor_left_location()
        left = self._whole((row, before(self.document[row], column)))[0]
        return row, left

    def get_cursor_right_location(self) -> Location:
        row, column = self.cursor_location
        if column >= len(self.document[row]):
            return super().get_cursor_right_location()
        right = max(self._whole((row, column))[1], after(self.document[row], column))
        return row, right

    def get_cursor_word_left_location(self) -> Location:
        row, column = super().get_cursor_word_left_location()
        return row, self._whole((row, column))[0]

    def get_cursor_word_right_location(self) -> Location:
        return self._rounded_up(super().get_cursor_word_right_location())

    def _rounded_up(self, location: Location) -> Location:
        row, column = location
        start, end = self._whole(location)
        return row, column if column == start else end

    def _validate_selection(self, selection: Selection) -> Selection:
        start, end = super()._validate_selection(selection)
        return Selection(self._nearest(start), self._nearest(end))

    def _nearest(self, location: Location) -> Location:
        row, column = location
        start, end = self._whole(location)
        return row, end if column - start > end - column else start

    def _delete_via_keyboard(self, start: Location, end: Location) -> EditResult | None:
        first, last = sorted((start, end))
        if first != last:
            first, last = (first[0], self._whole(first)[0]), self._rounded_up(last)
        return super()._delete_via_keyboard(first, last)

    # --- drawing -----------------------------------------------------------------------------------------------------

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        if self.cursor_location[0] == line_index and self.has_focus and self._on_cluster and self._theme:
            style = self._theme.cursor_style
            if style:
                line.stylize(style, *self._whole(self.cursor_location))
        return line

    @property
    def _on_cluster(self) -> bool:
        """Whether the cursor is on several code points drawn as one: styled apart they would fall apart."""
        row, column = self.cursor_location
        start, end = grapheme_at(self.document[row], column)
        return end - start > 1

    @property
    def _draw_cursor(self) -> bool:
        return super()._draw_cursor and not self._on_cluster

    # --- keys --------------------------------------------------------------------------------------------------------

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        return character in JOINERS or super().check_consume_key(key, character)
