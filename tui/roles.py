"""The roles colours play. Widgets that draw lines themselves take their styles from here, CSS from the same variables.

A theme sets ``role-you``, ``role-agent``, … in its variables; see `themes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from rich.style import Style


@dataclass(frozen=True, slots=True)
class Roles:
    """Rich styles by role. Foregrounds only, so that they sit on any pane; ``panel`` is a faint background."""

    you: Style = Style(color="bright_blue", bold=True)
    agent: Style = Style(color="bright_magenta", bold=True)
    tool: Style = Style(color="cyan")
    ok: Style = Style(color="green")
    warn: Style = Style(color="yellow")
    danger: Style = Style(color="bright_red", bold=True)
    muted: Style = Style(color="bright_black")
    accent: Style = Style(color="bright_cyan")
    text: Style = Style()
    panel: Style = Style()

    @classmethod
    def from_variables(cls, variables: Mapping[str, str]) -> Roles:
        """Roles of a theme: its ``role-<name>`` variables, each a Rich style such as ``bold #88aaff``."""
        found = {f.name: Style.parse(variables[key]) for f in fields(cls) if (key := f"role-{f.name}") in variables}
        return cls(**found)
