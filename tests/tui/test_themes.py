"""Themes are data: every file loads, every colour can be read, every role is there in every theme."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.style import Style
from textual.color import Color

import themes
from tests.tui.bench import workbench
from tui.roles import Roles

OURS = themes.load()
GROUNDS = ("background", "surface", "panel")
READ = [role for role in themes.ROLES if role not in ("panel", "faint")]


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [part / 255 for part in Color.parse(colour).rgb]
    red, green, blue = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_there_are_dark_and_light_ones() -> None:
    dark = {theme.name: theme.dark for theme in OURS}
    assert len(dark) >= 4
    assert dark[themes.DARK] and not dark[themes.LIGHT]


@pytest.mark.parametrize("theme", OURS, ids=lambda theme: theme.name)
@pytest.mark.parametrize("ground", GROUNDS)
def test_every_role_can_be_read_on_every_ground(theme: themes.ThemeData, ground: str) -> None:
    poor = {
        role: round(contrast(theme.roles[role], theme.colours[ground]), 2)
        for role in READ
        if contrast(theme.roles[role], theme.colours[ground]) < 4.5
    }
    assert not poor
    assert contrast(theme.colours["foreground"], theme.colours[ground]) >= 7


@pytest.mark.parametrize("theme", OURS, ids=lambda theme: theme.name)
def test_the_cursor_can_be_seen(theme: themes.ThemeData) -> None:
    for kind in ("input-cursor", "block-cursor"):
        assert contrast(theme.variables[f"{kind}-background"], theme.variables[f"{kind}-foreground"]) >= 4.5


def test_a_light_terminal_gets_the_light_theme() -> None:
    assert themes.default_name({"COLORFGBG": "0;15"}) == themes.LIGHT
    assert themes.default_name({"COLORFGBG": "15;0"}) == themes.DARK
    assert themes.default_name({}) == themes.DARK


@pytest.mark.parametrize("text", ["dark = ", 'title = "x"', "\x00"])
def test_a_file_that_is_no_theme_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(ValueError, match=r"mine\.toml"):
        themes.load(tmp_path)


COMPLETE = (themes.HERE / "harbour.toml").read_text()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('ok = "#', 'ok = "bright ', "roles"),
        ('you = "#8fd0f5"', "", "lacks you"),
        ('you = "#8fd0f5"', 'you = "#8fd0f5"\nhim = "#8fd0f5"', "no him"),
        ('primary = "#7cc7f2"', "primary = 7", "primary is not a colour"),
        ("[variables]", "[[variables]]", "variables"),
    ],
)
def test_what_is_wrong_with_a_theme_file_is_said(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "mine.toml").write_text(COMPLETE.replace(old, new))
    (tmp_path / "good.toml").write_text(COMPLETE)
    found, problems = themes.usable(tmp_path)
    assert [theme.name for theme in found] == ["good"]
    assert len(problems) == 1 and "mine.toml" in problems[0] and said in problems[0]


async def test_a_theme_of_ones_own_is_offered_and_follows_its_file(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "themes"
    folder.mkdir(parents=True)
    mine = folder / "mine.toml"
    mine.write_text(COMPLETE)
    async with workbench(tmp_path, size=(80, 24)) as bench:
        assert "mine" in bench.app.theme_names()
        bench.app.theme = "mine"
        bench.app.follow_themes()
        ground = lambda: bench.app.theme_variables["background"]  # noqa: E731
        # The thread that watches may begin a moment later, so the file is saved until that is seen.
        changed = COMPLETE.replace("#1b242d", "#012345")
        await bench.until(lambda: mine.write_text(changed) and ground() == "#012345", "the new colour is on")
        mine.write_text("[colours")
        said = lambda: [note.message for note in bench.app._notifications]  # noqa: E731
        await bench.until(lambda: any("mine.toml" in text for text in said()), "the mistake is said")
        assert bench.app.theme_variables["background"] == "#012345"


async def test_a_damaged_theme_file_does_not_keep_the_app_from_starting(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "themes"
    folder.mkdir(parents=True)
    (folder / "lamplight.toml").write_bytes(b"\xff[/]")
    async with workbench(tmp_path, size=(80, 24)) as bench:
        assert bench.app.theme == themes.DARK
        assert "lamplight.toml" in bench.app.theme_problems[0]


def test_a_role_that_is_no_colour_keeps_its_default() -> None:
    roles = Roles.from_variables({"role-ok": "no colour at all", "role-warn": "#123456", "role-you": "ansi_blue"})
    assert roles.ok == Roles().ok
    assert roles.warn == Style.parse("#123456")
    assert roles.you.bold and roles.you.color is not None and roles.you.color.name == "blue"


async def test_every_theme_can_be_put_on_and_gives_every_role(tmp_path: Path) -> None:
    async with workbench(tmp_path, size=(80, 24)) as bench:
        for name in bench.app.theme_names():
            bench.app.theme = name
            await bench.pilot.pause()
            missing = [role for role in themes.ROLES if f"role-{role}" not in bench.app.theme_variables]
            assert not missing, name
            assert bench.app.bench.task_pane.look == bench.app.look


async def test_a_chosen_theme_is_there_next_time(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.app.choose_theme(themes.LIGHT)
        settings = tmp_path / "config" / "config.toml"
        await bench.until(lambda: themes.LIGHT in settings.read_text(), "the theme is kept")
    async with workbench(tmp_path) as bench:
        assert bench.app.theme == themes.LIGHT


async def test_an_unknown_theme_is_refused_with_a_near_miss(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        before = bench.app.theme
        said: list[str] = []
        bench.app.say = lambda text, warn=False: said.append(text)  # type: ignore[method-assign]
        bench.app.choose_theme("lamplihgt")
        assert bench.app.theme == before
        assert "lamplight" in said[0]
