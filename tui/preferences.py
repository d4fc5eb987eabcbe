"""What a person set for their own screen, put to use while the app runs: keys, theme, movement, bell and title."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from textual import constants

from engine.settings import UiSettings, ui_of
from tui.actions import ACTIONS, CHOSEN
from tui.keymap import keymap

if TYPE_CHECKING:
    from engine.settings_shown import SettingsShown
    from tui.host import Host

_CHORD = re.compile(r"f\d{1,2}|(?:ctrl|alt|super)\+.+")


@runtime_checkable
class TakesKeys(Protocol):
    """A screen that wants every key for itself."""

    def take(self, key: str) -> None:
        """The person pressed ``key``."""


def of(shown: SettingsShown) -> UiSettings:
    """What the settings come to for the screens."""
    keys = {name: keys for name, (keys, _) in shown.keys.items()}
    return ui_of({row.name: row.value for row in shown.rows}, keys)


def bind(app: Host, keys: Mapping[str, str]) -> None:
    """Let actions go by the keys a person chose."""
    app.keymap = keymap(keys, ACTIONS)
    CHOSEN.clear()
    CHOSEN.update(app.keymap.keys)
    app.set_keymap(app.keymap.bound())


async def took(app: Host, key: str) -> bool:
    """Whether ``key`` is settled before any widget sees it: a dialog waits for one, or it does an action that whoever
    is being typed into would keep it from. Function keys and keys a person chose write nothing, but editing has uses
    for some of them."""
    if not app.screen_stack:
        return False
    if isinstance(app.screen, TakesKeys):
        app.screen.take(key)
        return True
    if app.screen is not app.bench or not _CHORD.fullmatch(key):
        return False
    for action in ACTIONS:
        mine = action.name in CHOSEN or key[0] == "f"
        if mine and action.place == "screen" and key in action.shown:
            await app.run_action(action.click)
            return True
    return False


def apply(app: Host, before: UiSettings, after: UiSettings) -> None:
    """Show at once what changed from ``before`` to ``after``."""
    app.ui_settings = after
    if after.keys != before.keys:
        bind(app, after.keys)
        app.bench.query_one("#keys").refresh()
    if after.theme != before.theme:
        app.put_on(after.theme)
    if after.animations != before.animations:
        app.animation_level = constants.TEXTUAL_ANIMATIONS if after.animations else "none"
    app.attention.change(after)
