"""Help: the keys of where you are, then every action by group, with its slash command."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.style import Style
from rich.table import Table
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, Static, TextArea

import themes
from tui.actions import ACTIONS, Action, key_name
from tui.look import Look

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from tui.theming import Themed

KEYS = 20
SLASH = 10
UNSAID = ("scroll_left", "scroll_right", "screen.copy_text")
"""Actions every widget or screen has from its ancestors, which do nothing a person looks for."""


class HelpScreen(ModalScreen[None]):
    CSS_PATH = themes.stylesheet("help")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,f1,question_mark,enter", "dismiss", "Close")]

    def __init__(self, where: Screen[Any], look: Look) -> None:
        super().__init__()
        typing = isinstance(where.focused, Input | TextArea)
        self._page: Callable[[Look], Table] = partial(help_page, keys_here(where), typing)
        self._look = look

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Static(self._page(self._look), id="help-text")

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _: self._dress())
        page = self.query_one("#help")
        page.border_subtitle = "Esc closes"
        page.focus()

    def _dress(self) -> None:
        self.query_one("#help-text", Static).update(self._page(cast("Themed", self.app).look))


def keys_here(screen: Screen[Any]) -> list[tuple[str, str]]:
    """Keys of the focused widget and what is around it that the table of actions does not list."""
    known = {action.title for action in ACTIONS}
    found: dict[str, list[str]] = {}
    for active in screen.active_bindings.values():
        words = active.binding.description
        if words and words not in known and active.node is not screen.app and active.binding.action not in UNSAID:
            found.setdefault(words, []).append(key_name(active.binding.key))
    return [(", ".join(keys[:2]), words) for words, keys in found.items()]


def help_page(here: list[tuple[str, str]], typing: bool, look: Look) -> Table:
    """The whole page: keys, slash command, what it does. Where one types, the keys of an editor come last: everybody
    knows them."""
    page = Table.grid(padding=(0, 2, 0, 0), expand=True)
    for width in (KEYS, SLASH, None):
        page.add_column(width=width)
    if not typing:
        _here(page, here, look)
    groups: dict[str, list[Action]] = {}
    for action in ACTIONS:
        groups.setdefault(action.group, []).append(action)
    for group, actions in groups.items():
        _heading(page, group, look)
        for action in actions:
            keys = ", ".join(key_name(key) for key in action.shown)
            _row(page, keys, f"/{action.slash}" if action.slash else "", action.title, look)
    if typing:
        _here(page, here, look)
    page.add_row()
    page.add_row("", "", Text("Single letters and digits count while nothing is being typed.", style=look.roles.muted))
    return page


def _here(page: Table, here: list[tuple[str, str]], look: Look) -> None:
    if here:
        _heading(page, "Here", look)
        for keys, words in here:
            _row(page, keys, "", words, look)


def _heading(page: Table, words: str, look: Look) -> None:
    if page.row_count:
        page.add_row()
    page.add_row(Text(words, style=look.roles.accent + Style(bold=True)))


def _row(page: Table, keys: str, slash: str, words: str, look: Look) -> None:
    page.add_row(
        Text(f"  {keys}", style=look.roles.text),
        Text(slash, style=look.roles.tool),
        Text(words, style=look.roles.muted),
    )
