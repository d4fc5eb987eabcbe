"""The keys of one screen on a page, for screens with keys of their own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from rich.style import Style
from rich.table import Table
from rich.text import Text

from tui.actions import Action, key_name
from tui.screens.help import KEYS, HelpScreen, keys_here

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.screen import Screen

    from tui.look import Look


class KeysHere(HelpScreen):
    """``actions`` by group, then what the focused widget adds."""

    def __init__(self, where: Screen[Any], actions: Iterable[Action], look: Look) -> None:
        super().__init__(where, look)
        listed = list(actions)
        titles = {action.title for action in listed}
        rest = [(keys, words) for keys, words in keys_here(where) if words not in titles]
        self._page = partial(keys_page, listed, rest)


def keys_page(actions: list[Action], rest: list[tuple[str, str]], look: Look) -> Table:
    """Two columns: keys, and what they do."""
    page = Table.grid(padding=(0, 2, 0, 0), expand=True)
    page.add_column(width=KEYS)
    page.add_column()
    groups: dict[str, list[tuple[str, str]]] = {}
    for action in actions:
        keys = ", ".join(key_name(key) for key in action.keys)
        groups.setdefault(action.group, []).append((keys, action.title))
    if rest:
        groups["Here"] = rest
    for number, (group, rows) in enumerate(groups.items()):
        if number:
            page.add_row()
        page.add_row(Text(group, style=look.roles.accent + Style(bold=True)))
        for keys, words in rows:
            page.add_row(Text(f"  {keys}", style=look.roles.text), Text(words, style=look.roles.muted))
    return page
