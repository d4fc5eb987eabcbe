"""How lines look: roles and signs, and the few styles made from them. One value; a new theme is a new ``Look``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rich.color import Color, blend_rgb
from rich.color_triplet import ColorTriplet
from rich.style import Style

from tui.roles import Roles
from tui.signs import Signs

if TYPE_CHECKING:
    from textual.app import App


@dataclass(frozen=True)
class Look:
    """Roles, signs, and whether colour may carry meaning (``colour`` False: marks stay beside it, as for NO_COLOR).

    added, removed: faint backgrounds of lines in a diff. found: of what a search found. ground: the theme's background,
    None where that is left to the terminal. no_pictures: why the terminal can show none, in words.
    """

    roles: Roles = field(default_factory=Roles)
    signs: Signs = field(default_factory=Signs)
    colour: bool = True
    added: Style = field(default_factory=Style)
    removed: Style = field(default_factory=Style)
    found: Style = field(default_factory=lambda: Style(reverse=True))
    ground: ColorTriplet | None = None
    no_pictures: str = ""

    @classmethod
    def in_app(cls, app: App[Any], signs: Signs) -> Look:
        """The look of the theme an app has on, in the colours its terminal can show."""
        colour = not app.no_color
        why = _why_no_pictures(signs, colour, app.console.color_system)
        return replace(cls.of(app.theme_variables, signs, colour), no_pictures=why)

    @classmethod
    def of(cls, variables: Mapping[str, str], signs: Signs, colour: bool = True) -> Look:
        """The look of a theme, from its CSS variables."""
        roles = Roles.from_variables(variables)
        back = variables.get("background", "")
        return cls(
            roles=roles,
            signs=signs,
            colour=colour,
            ground=Color.parse(back[:7]).get_truecolor() if back.startswith("#") else None,
            added=_tint(roles.ok, back),
            removed=_tint(roles.danger, back),
            found=_thin(roles.accent) + Style(reverse=True),
        )

    @property
    def bullet(self) -> str:
        """The mark of a list item."""
        return "-" if self.signs.bar.isascii() else "•"

    @property
    def sep(self) -> str:
        """What stands between two short facts on one line."""
        return f" {self.signs.todo} "


EMPTY = Style()
BOLD = Style(bold=True)
ITALIC = Style(italic=True)
STRIKE = Style(strike=True)
UNDERLINE = Style(underline=True)


@dataclass(frozen=True)
class CodeColours:
    """Styles of code by kind of token; kept few so that code is calm in every theme."""

    keyword: Style = EMPTY
    string: Style = EMPTY
    number: Style = EMPTY
    comment: Style = EMPTY
    name: Style = EMPTY
    plain: Style = field(default=EMPTY)

    @classmethod
    def of(cls, roles: Roles) -> CodeColours:
        """The roles' own colours, without their weight."""
        return cls(
            keyword=_thin(roles.agent),
            string=_thin(roles.ok),
            number=_thin(roles.warn),
            comment=_thin(roles.muted) + ITALIC,
            name=_thin(roles.tool),
            plain=roles.text,
        )


def _tint(role: Style, background: str, share: float = 0.16) -> Style:
    """A background with a little of a role's colour in it; none where the theme leaves colours to the terminal."""
    if not background.startswith("#") or role.color is None or role.color.triplet is None:
        return EMPTY
    base = Color.parse(background[:7]).get_truecolor()
    return Style(bgcolor=Color.from_triplet(blend_rgb(base, role.color.triplet, share)))


def _why_no_pictures(signs: Signs, colour: bool, colours: str | None) -> str:
    if not colour:
        return "colours are turned off here"
    if signs.bar.isascii():
        return "this terminal shows plain letters only"
    return "" if colours in ("256", "truecolor") else "this terminal has too few colours"


def _thin(style: Style) -> Style:
    return Style(color=style.color)
