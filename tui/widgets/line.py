"""A line, or a few, made anew from the width there is by a pure function."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text
from textual.widget import Widget

Make = Callable[[int], Text]


class Line(Widget):
    """Shows what ``make(width)`` returns; `show` takes another maker."""

    # A word that can be clicked keeps the colour of its role.
    auto_links = False

    def __init__(self, make: Make, *, id: str) -> None:
        super().__init__(id=id)
        self._make = make

    def show(self, make: Make) -> None:
        self._make = make
        self.refresh()

    def render(self) -> Text:
        return self._make(self.size.width)
