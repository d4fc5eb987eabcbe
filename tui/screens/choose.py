"""A small dialog with a few choices, each with what it means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

import themes
from tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from tui.look import Look
    from tui.theming import Themed

NAME = 22


class Choose(ModalScreen[str | None]):
    """Dismisses with the name of a choice, or None. ``choices``: name and meaning; ``present`` is the one there is now.
    ``tried`` is called with each choice a person comes to, to show what it would be like."""

    CSS_PATH = themes.stylesheet("choose")
    VERTICAL_BREAKPOINTS = [(0, "-short"), (12, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", "Take this one"),
        Binding("escape,q", "cancel", "Leave it as it is"),
    ]

    def __init__(
        self,
        title: str,
        choices: Sequence[tuple[str, str]],
        present: str,
        tried: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__()
        self._title, self._choices, self._present, self._tried = title, tuple(choices), present, tried

    @property
    def look(self) -> Look:
        return cast("Themed", self.app).look

    def compose(self) -> ComposeResult:
        with Vertical(id="choose"):
            yield Static(Text(self._title), id="choose-title")
            self.list = LineList(self.look, id="choose-list")
            yield self.list
            yield Static(Text("Enter takes it   Esc leaves it"), id="choose-keys")

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _: self._dress())
        names = [name for name, _ in self._choices]
        self.list.styles.max_height = len(names)
        self.list.show(len(names), self._line, names.index(self._present) if self._present in names else 0)
        self.list.focus()

    def _line(self, index: int, width: int) -> Text:
        name, meaning = self._choices[index]
        roles, signs = self.look.roles, self.look.signs
        sign = signs.done if name == self._present else " "
        return Text.assemble((f" {sign} ", roles.ok), (f"{name:<{NAME}}", roles.text), (meaning, roles.muted))

    def _dress(self) -> None:
        self.list.look = self.look
        self.list.refresh()

    def on_row_list_moved(self) -> None:
        if self._tried is not None:
            self._tried(self._choices[self.list.index][0])

    def on_row_list_opened(self) -> None:
        self.action_take()

    def action_take(self) -> None:
        self.dismiss(self._choices[self.list.index][0])

    def action_cancel(self) -> None:
        if self._tried is not None:
            self._tried(self._present)
        self.dismiss(None)
