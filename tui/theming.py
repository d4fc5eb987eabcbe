"""Our themes beside Textual's, every one of them with a colour for each role."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.theme import Theme

import themes
from engine.paths import Home
from engine.settings import ui_settings
from tui import roles
from tui.listeners import ThemeSignal
from tui.look import Look
from tui.roles import Roles
from tui.signs import signs_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.driver import Driver


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
        self.theme_changed_signal = ThemeSignal(self, "theme-changed")
        self.home = Home.here()
        self._ours: tuple[str, ...] = ()
        self._stop_following: Callable[[], None] = lambda: None
        self.theme_problems = self.load_themes()
        self.ui_settings = settings = ui_settings(self.home, env)
        self._default_theme = themes.default_name(env)
        self.put_on(theme, settings.theme)
        if not settings.animations:
            self.animation_level = "none"
        self._signs = signs_for(env)

    def put_on(self, *wanted: str) -> None:
        """The first theme of these that there is, else what fits the terminal."""
        self.theme = next((name for name in wanted if name in self.available_themes), self._default_theme)

    def get_driver_class(self) -> type[Driver]:
        """Ours where Textual would take its own for this system's terminals."""
        chosen = super().get_driver_class()
        if chosen.__name__ == "LinuxDriver":
            from tui.driver import LastingDriver

            return LastingDriver
        return chosen

    def on_command_palette_opened(self) -> None:
        """Nothing of ours blinks, so that nothing is drawn while nobody types."""
        from textual.widgets import Input

        for field in self.screen.query(Input):
            field.cursor_blink = False

    @property
    def theme_folders(self) -> tuple[Path, ...]:
        """Where theme files are: those of the app, then the person's own."""
        return (themes.HERE, self.home.config / "themes")

    def load_themes(self) -> tuple[str, ...]:
        """Read the theme files, again if need be; the one that is on shows at once. What is wrong with the others."""
        found, problems = themes.usable(*self.theme_folders)
        self._ours = tuple(data.name for data in found)
        for data in found:
            self.register_theme(textual_theme(data))
        return problems

    def follow_themes(self) -> None:
        """From now on a theme file shows as it is saved, until the app ends."""
        from tui.theme_watch import watch

        loop = asyncio.get_running_loop()

        def changed() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._themes_changed)

        self._stop_following = watch(self.theme_folders, changed)

    def _themes_changed(self) -> None:
        problems = self.load_themes()
        self.mutate_reactive(App.theme)
        if problems:
            self.notify("\n".join(problems), title="Theme files", severity="warning", markup=False)

    def on_unmount(self) -> None:
        self._stop_following()

    @property
    def look(self) -> Look:
        """Colours by role as the theme has them now, and the signs of this terminal."""
        return Look(Roles.from_variables(self.get_css_variables()), self._signs)

    def theme_names(self) -> list[str]:
        """Ours first, then Textual's."""
        ours = sorted(self._ours, key=lambda name: name != themes.DARK)
        return ours + sorted(name for name in self.available_themes if name not in ours)

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        self.theme_variables = {**roles.fallbacks(variables), **variables}
        return self.theme_variables
