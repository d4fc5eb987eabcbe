"""A list of lines; what a line shows is up to a pure function."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text

from tui.look import Look, one_line
from tui.widgets.row_list import RowList

Draw = Callable[[int, int], Text]
"""(index, width) to the line."""


class LineList(RowList):
    """`show` takes how many lines there are and what draws them."""

    def __init__(self, look: Look, *, id: str) -> None:
        super().__init__(look, id=id)
        self._draw: Draw = lambda index, width: Text()

    def show(self, length: int, draw: Draw, index: int = 0) -> None:
        """Take other lines; ``index`` becomes the chosen one."""
        self._draw = draw
        self.take(length, index)

    def say(self, words: str) -> None:
        """Words where the lines would be."""
        self.show(1, lambda index, width: Text(f"  {one_line(words)}", style=self.look.roles.muted))

    def line(self, index: int, part: int, width: int) -> Text:
        return self._draw(index, width)
