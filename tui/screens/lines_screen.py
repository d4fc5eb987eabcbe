"""A screen of lists and lines: it follows the theme, and says what its keys do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from textual.screen import Screen

from tui.widgets.line import Line
from tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from tui.actions import Action
    from tui.look import Look
    from tui.theming import Themed

Result = TypeVar("Result")


class LinesScreen(Screen[Result]):
    @property
    def look(self) -> Look:
        """Colours and signs as they are now."""
        return cast("Themed", self.app).look

    def offered(self) -> Sequence[Action]:
        """What the keys do now."""
        raise NotImplementedError

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _: self.dress())

    def dress(self) -> None:
        """Draw everything anew: the theme changed."""
        for part in self.query(RowList):
            part.look = self.look
            part.refresh()
        self.refresh_lines()

    def refresh_lines(self) -> None:
        """What the lines are made from has changed."""
        for line in self.query(Line):
            line.refresh()

    def action_keys(self) -> None:
        from tui.screens.keys_here import KeysHere

        self.app.push_screen(KeysHere(self, self.offered(), self.look))
