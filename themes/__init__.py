"""Colours and stylesheets, as data: one TOML file a theme, one ``.tcss`` file a screen.

This room imports none of the others, and nothing heavy: it is read before the first frame.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
DARK = "lamplight"
LIGHT = "daybook"
ROLES = ("you", "agent", "tool", "ok", "warn", "danger", "muted", "accent", "text", "panel", "faint")


@dataclass(frozen=True, slots=True)
class ThemeData:
    """A theme as its file says it. ``colours``: Textual's names (background, primary, …) to ``#rrggbb``;
    ``roles``: what a colour means, one of ``ROLES``, to ``#rrggbb``;
    ``variables``: further CSS variables."""

    name: str
    title: str
    dark: bool
    colours: Mapping[str, str]
    roles: Mapping[str, str]
    variables: Mapping[str, str]


def load(folder: Path = HERE) -> tuple[ThemeData, ...]:
    """Every theme file of ``folder``, by name. Raises ValueError, naming the file, when one cannot be used."""
    return tuple(_read(path) for path in sorted(folder.glob("*.toml")))


def stylesheet(screen: str) -> Path:
    """The stylesheet of a screen, as ``CSS_PATH`` takes it."""
    return HERE / f"{screen}.tcss"


def default_name(environ: Mapping[str, str]) -> str:
    """Our dark theme, or the light one where ``COLORFGBG`` says that the terminal's background is light."""
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if background in ("7", "15") else DARK


def _read(path: Path) -> ThemeData:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name}: not a theme file: {error}") from error
    roles = data.get("roles", {})
    missing = [role for role in ROLES if role not in roles]
    if missing:
        raise ValueError(f"{path.name}: [roles] lacks {', '.join(missing)}")
    return ThemeData(
        name=path.stem,
        title=str(data.get("title", path.stem)),
        dark=bool(data.get("dark", True)),
        colours=data.get("colours", {}),
        roles=roles,
        variables=data.get("variables", {}),
    )
