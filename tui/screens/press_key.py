"""A small dialog that waits for one key: the new one of an action."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.text import Text
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

import themes
from tui.actions import key_name

if TYPE_CHECKING:
    from textual.app import ComposeResult


class PressKey(ModalScreen[str | None]):
    """Dismisses with the key as Textual calls it, or None for Esc. ``check`` says what is wrong with a key, '' when
    nothing is; then the dialog goes on waiting. The app hands every key to `take`, its own included."""

    CSS_PATH = themes.stylesheet("press_key")
    VERTICAL_BREAKPOINTS = [(0, "-short"), (12, "-tall")]  # noqa: RUF012

    def __init__(self, title: str, present: str, check: Callable[[str], str]) -> None:
        super().__init__()
        self._title, self._present, self._check = title, present, check

    def compose(self) -> ComposeResult:
        with Vertical(id="press"):
            yield Static(Text(self._title), id="press-title")
            yield Static(Text(f"Press the new key (Esc to leave it{self._now}).", no_wrap=False), id="press-help")

    @property
    def _now(self) -> str:
        return f" at {self._present}" if self._present else ""

    def take(self, key: str) -> None:
        """The person pressed ``key``."""
        if key == "escape":
            self.dismiss(None)
        elif wrong := self._check(key):
            self.add_class("-wrong")
            words = f"{wrong[0].upper()}{wrong[1:]}."
            self.query_one("#press-help", Static).update(Text(f"{words} Press another, or Esc."))
        else:
            self.query_one("#press-help", Static).update(Text(key_name(key)))
            self.dismiss(key)
