"""Our themes beside Textual's, every one of them with a colour for each role."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.theme import Theme

import themes
from engine.paths import Home
from engine.settings import ui_settings
from tui import roles
from tui.look import Look
from tui.roles import Roles
from tui.signs import signs_for

if TYPE_CHECKING:
    from collections.abc import Mapping


def textual_theme(data: themes.ThemeData) -> Theme:
    """A theme as Textual takes it; a role is the CSS variable ``role-<name>``."""
    variables = {**data.variables, **{f"role-{name}": colour for name, colour in data.roles.items()}}
    theme = Theme(name=data.name, primary=data.colours["primary"], dark=data.dark, variables=variables)
    colours: dict[str, Any] = dict(data.colours)
    return replace(theme, **colours)


class Themed(App[str]):
    """An app with our themes. Without colour (``NO_COLOR``) the terminal's own two colours are all that is used.

    ``theme`` is the one asked for on the command line; the settings come after it, then what fits the terminal.
    """

    def __init__(self, theme: str = "", environ: Mapping[str, str] | None = None) -> None:
        env = os.environ if environ is None else environ
        super().__init__(ansi_color=True if "NO_COLOR" in env else None)
        self.home = Home.here()
        for data in themes.load():
            self.register_theme(textual_theme(data))
        settings = ui_settings(self.home, env)
        wanted = (name for name in (theme, settings.theme) if name in self.available_themes)
        self.theme = next(wanted, themes.default_name(env))
        if not settings.animations:
            self.animation_level = "none"
        self._signs = signs_for(env)

    @property
    def look(self) -> Look:
        """Colours by role as the theme has them now, and the signs of this terminal."""
        return Look(Roles.from_variables(self.get_css_variables()), self._signs)

    def theme_names(self) -> list[str]:
        """Ours first, then Textual's."""
        ours = [data.name for data in themes.load()]
        ours.sort(key=lambda name: name != themes.DARK)
        return ours + sorted(name for name in self.available_themes if name not in ours)

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        self.theme_variables = {**roles.fallbacks(variables), **variables}
        return self.theme_variables
