"""Help: the keys of where you are, then every action by group, with its slash command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

import themes
from tui.actions import ACTIONS, Action, key_name
from tui.look import Look

if TYPE_CHECKING:
    from textual.app import ComposeResult

KEYS = 22
SLASH = 12


class HelpScreen(ModalScreen[None]):
    CSS_PATH = themes.stylesheet("help")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,f1,question_mark,enter", "dismiss", "Close")]

    def __init__(self, where: Screen[Any], look: Look) -> None:
        super().__init__()
        self._text = help_text(keys_here(where), look)

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Static(self._text, id="help-text")

    def on_mount(self) -> None:
        self.query_one("#help").focus()


def keys_here(screen: Screen[Any]) -> list[tuple[str, str]]:
    """Keys of the focused widget and what is around it that the table of actions does not list."""
    known = {action.title for action in ACTIONS}
    found: dict[str, list[str]] = {}
    for active in screen.active_bindings.values():
        words = active.binding.description
        if words and words not in known and active.node is not screen.app:
            found.setdefault(words, []).append(key_name(active.binding.key))
    return [(", ".join(keys[:2]), words) for words, keys in found.items()]


def help_text(here: list[tuple[str, str]], look: Look) -> Text:
    """The whole page."""
    page = Text()
    groups: dict[str, list[Action]] = {}
    for action in ACTIONS:
        groups.setdefault(action.group, []).append(action)
    for group, actions in groups.items():
        _heading(page, group, look)
        for action in actions:
            keys = ", ".join(key_name(key) for key in action.keys + action.typed)
            _row(page, keys, f"/{action.slash}" if action.slash else "", action.title, look)
    if here:
        _heading(page, "Here", look)
        for keys, words in here:
            _row(page, keys, "", words, look)
    page.append("\nKeys that are single letters or digits count while nothing is being typed.", look.roles.muted)
    return page


def _heading(page: Text, words: str, look: Look) -> None:
    page.append(f"{chr(10) if page else ''}{words}\n", look.roles.accent)
    page.stylize("bold", len(page) - len(words) - 1)


def _row(page: Text, keys: str, slash: str, words: str, look: Look) -> None:
    page.append(f"  {keys:<{KEYS}}", look.roles.text)
    page.append(f"{slash:<{SLASH}}", look.roles.tool)
    page.append(f"{words}\n", look.roles.muted)
