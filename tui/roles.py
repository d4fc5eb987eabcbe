"""The roles colours play. Widgets that draw lines themselves take their styles from here, CSS from the same variables.

A theme sets ``role-you``, ``role-agent``, … in its variables; see `themes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from rich.errors import StyleSyntaxError
from rich.style import Style

BOLD = frozenset({"you", "agent", "danger"})


@dataclass(frozen=True, slots=True)
class Roles:
    """Rich styles by role. Foregrounds only, so that they sit on any pane; ``panel`` is a background and ``faint`` is
    for what is not read: rules, the empty part of a gauge."""

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
    faint: Style = Style(color="bright_black", dim=True)

    @classmethod
    def from_variables(cls, variables: Mapping[str, str]) -> Roles:
        """Roles of a theme: its ``role-<name>`` variables, each a colour such as ``#88aaff`` (or a Rich style).

        A variable that is no colour (a theme of somebody else's) leaves the role as it is by default.
        """
        found = {f.name: style for f in fields(cls) if (style := _style(f.name, variables.get(f"role-{f.name}", "")))}
        return cls(**found)


def _style(role: str, value: str) -> Style | None:
    if not value:
        return None
    value = value.removeprefix("ansi_")
    try:
        style = Style.parse(f"on {value}" if role == "panel" else value)
    except StyleSyntaxError:
        return None
    return style + Style(bold=True) if role in BOLD else style


SOURCES = {
    "role-you": "text-secondary",
    "role-agent": "text-primary",
    "role-tool": "foreground",
    "role-ok": "text-success",
    "role-warn": "text-warning",
    "role-danger": "text-error",
    "role-accent": "text-accent",
    "role-text": "foreground",
    "role-panel": "panel",
}
QUIET = {"role-faint": "panel-lighten-2", "rule": "panel-lighten-2"}
DEFAULT, GREY = "ansi_default", "ansi_bright_black"


def fallbacks(theme: Mapping[str, str]) -> dict[str, str]:
    """``role-…`` and ``rule`` variables for a theme that has none of its own, from Textual's generated colours.

    Every value is a plain colour that both a stylesheet and Rich understand.
    """
    made = {name: _solid(theme.get(source, "")) or DEFAULT for name, source in SOURCES.items()}
    made |= {name: _solid(theme.get(source, "")) or GREY for name, source in QUIET.items()}
    made["role-muted"] = _muted(theme)
    return {name: value for name, value in made.items() if name not in theme}


def _solid(value: str) -> str:
    """The colour without alpha; '' for ``auto`` and ``transparent``, which only a stylesheet understands."""
    if value.startswith("#"):
        return value[:7]
    return value.split()[0] if value.startswith("ansi_") else ""


def _muted(theme: Mapping[str, str]) -> str:
    """Foreground drawn 35 % towards the background; the terminal's own grey where those are not plain colours."""
    fore, back = theme.get("foreground", ""), theme.get("background", "")
    if not (fore.startswith("#") and back.startswith("#")):
        return GREY
    pairs = [(int(fore[i : i + 2], 16), int(back[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(f + (b - f) * 0.35):02x}" for f, b in pairs)
