"""A small dialog that asks for one line of text: a model, a title, limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

import themes
from tui.look import one_line
from tui.widgets.text_line import TextLine

if TYPE_CHECKING:
    from textual.app import ComposeResult


class AskText(ModalScreen[str | None]):
    """Dismisses with the text, or None. ``check`` returns what is wrong with it, '' when nothing is; with ``at_once``
    it is said while the person types, else when they are done."""

    CSS_PATH = themes.stylesheet("ask_text")
    VERTICAL_BREAKPOINTS = [(0, "-short"), (12, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel")]

    def __init__(
        self,
        title: str,
        value: str,
        help: str,
        check: Callable[[str], str] | None = None,
        *,
        at_once: bool = False,
    ) -> None:
        super().__init__()
        self._title, self._value, self._help, self._check = title, value, help, check
        self._at_once = at_once

    def compose(self) -> ComposeResult:
        with Vertical(id="ask"):
            yield Static(Text(self._title), id="ask-title")
            yield TextLine(self._value, id="ask-input")
            yield Static(Text(self._help), id="ask-help")

    def on_input_changed(self, message: Input.Changed) -> None:
        if self._at_once:
            self._is_right(message.value.strip())

    def on_input_submitted(self, message: Input.Submitted) -> None:
        text = message.value.strip()
        if self._is_right(text):
            self.dismiss(text)

    def _is_right(self, text: str) -> bool:
        """Whether it can be taken; if not, why stands where the help was."""
        wrong = self._check(text) if self._check else ""
        self.query_one("#ask-help", Static).update(Text(one_line(wrong) or self._help))
        self.set_class(bool(wrong), "-wrong")
        return not wrong

    def action_cancel(self) -> None:
        self.dismiss(None)
