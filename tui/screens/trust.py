"""Trust: files of a project that can make the app execute something are used only when a person says so, once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

import themes
from tui.look import one_line

if TYPE_CHECKING:
    from textual.app import ComposeResult

SHOWN = 12


class TrustScreen(ModalScreen[bool | None]):
    """Dismisses with the person's word; None when they put it off, which means no for now."""

    CSS_PATH = themes.stylesheet("trust")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "decide(True)", "Trust this folder"),
        Binding("n", "decide(False)", "Do not trust it"),
        Binding("escape", "later", "Later"),
    ]

    def __init__(self, folder: str, files: Sequence[str] = ()) -> None:
        super().__init__()
        self._folder, self._files = one_line(folder), [one_line(name) for name in files]

    def compose(self) -> ComposeResult:
        with Vertical(id="trust"):
            yield Static(Text(f"Trust {self._folder}?"), id="trust-title")
            yield Static(Text(self._words()), id="trust-text")
            yield Static(Text("y trust it   n do not   Esc later"), id="trust-keys")

    def _words(self) -> str:
        listed = [f"  {name}" for name in self._files[:SHOWN]]
        if len(self._files) > SHOWN:
            listed.append(f"  and {len(self._files) - SHOWN} more")
        return "\n".join(
            [
                "Files of this project can make the app start programs:",
                *(listed or ["  hooks, tool servers and skills below .agent-tui, .mcp.json and the like"]),
                "They are not used unless you trust the folder. Everything else works either way.",
            ]
        )

    def action_decide(self, trusted: bool) -> None:
        self.dismiss(trusted)

    def action_later(self) -> None:
        self.dismiss(None)
