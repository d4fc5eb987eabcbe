"""Colours and stylesheets, as data: one TOML file a theme, one ``.tcss`` file a screen.

This room imports none of the others, and nothing heavy: it is read before the first frame.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_COLOUR = re.compile("#[0-9a-fA-F]{6}")
HERE = Path(__file__).parent
DARK = "lamplight"
LIGHT = "daybook"
COLOURS = (
    "background", "surface", "panel", "foreground", "primary", "secondary", "accent", "success", "warning", "error",
)  # fmt: skip
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
    return tuple(read(path) for path in sorted(folder.glob("*.toml")))


def usable(*folders: Path) -> tuple[tuple[ThemeData, ...], tuple[str, ...]]:
    """The themes of all ``folders`` that can be used, a later one taking the place of an earlier one of its name, and
    a line about each file that cannot."""
    found: dict[str, ThemeData] = {}
    problems = []
    for path in (path for folder in folders for path in sorted(folder.glob("*.toml"))):
        try:
            found[path.stem] = read(path)
        except (ValueError, OSError) as error:
            problems.append(str(error))
    return tuple(found.values()), tuple(problems)


def stylesheet(screen: str) -> Path:
    """The stylesheet of a screen, as ``CSS_PATH`` takes it."""
    return HERE / f"{screen}.tcss"


def default_name(environ: Mapping[str, str]) -> str:
    """Our dark theme, or the light one where ``COLORFGBG`` says that the terminal's background is light."""
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if background in ("7", "15") else DARK


def read(path: Path) -> ThemeData:
    """One theme file. Raises ValueError, naming the file and what is wrong with it, or OSError."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name}: not a theme file: {error}") from error
    return ThemeData(
        name=path.stem,
        title=str(data.get("title", path.stem)),
        dark=bool(data.get("dark", True)),
        colours=_colours(path, data, "colours", COLOURS),
        roles=_colours(path, data, "roles", ROLES),
        variables={str(name): str(value) for name, value in _table(path, data, "variables").items()},
    )


def _table(path: Path, data: Mapping[str, object], name: str) -> Mapping[str, object]:
    table = data.get(name, {})
    if not isinstance(table, dict):
        raise ValueError(f"{path.name}: [{name}] is not a table")
    return table


def _colours(path: Path, data: Mapping[str, object], name: str, wanted: tuple[str, ...]) -> dict[str, str]:
    """The table ``name`` with all of ``wanted`` in it and nothing but colours."""
    table = _table(path, data, name)
    if missing := [key for key in wanted if key not in table]:
        raise ValueError(f"{path.name}: [{name}] lacks {', '.join(missing)}")
    if unknown := [key for key in table if key not in wanted]:
        raise ValueError(f"{path.name}: [{name}] has no {', '.join(unknown)}; it takes {', '.join(wanted)}")
    wrong = [key for key, value in table.items() if not (isinstance(value, str) and _COLOUR.fullmatch(value))]
    if wrong:
        raise ValueError(f"{path.name}: [{name}] {wrong[0]} is not a colour such as #1f6feb")
    return {key: str(value) for key, value in table.items()}
