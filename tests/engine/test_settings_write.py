"""Changing one setting leaves everything else of the file as it is."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as bounded
from hypothesis import strategies as st

from engine.paths import Home
from engine.settings import SettingError, write_setting


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path / "data", tmp_path / "config", tmp_path / "cache")
    found.config.mkdir()
    return found


def changed(home: Home, before: str, key: str, value: str | float | bool | None) -> str:
    home.settings.write_bytes(before.encode())
    write_setting(home, key, value)
    return home.settings.read_bytes().decode()


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        (
            "# top\n[limits]\nturns = 5 # few\n\n# about looks\n[ui]\nbell = true\n",
            "limits.cost",
            1.5,
            "# top\n[limits]\nturns = 5 # few\ncost = 1.5\n\n# about looks\n[ui]\nbell = true\n",
        ),
        ("[limits]\n# turns = 5\n# [ui]\n", "limits.turns", 4, "[limits]\nturns = 4\n# turns = 5\n# [ui]\n"),
        (
            "# a\r\n[ui]\r\nbell = true # b\r\n",
            "ui.title",
            False,
            "# a\r\n[ui]\r\nbell = true # b\r\ntitle = false\r\n",
        ),
        ("\ufeff# a\ntheme = 'x'\n", "theme", "y", '\ufeff# a\ntheme = "y"\n'),
        ("[ui]\nbell = true", "ui.bell", False, "[ui]\nbell = false"),
        ("limits.turns = 5\n[ui]\n", "limits.turns", 6, "limits.turns = 6\n[ui]\n"),
        ("limits = {turns = 5}\n", "limits.turns", 6, "limits = {turns = 6}\n"),
        ("# a\n[limits]\n# why\nturns = 5\ncost = 1.0\n", "limits.turns", None, "# a\n[limits]\n# why\ncost = 1.0\n"),
        ("# a\n", "limits.turns", None, "# a\n"),
        ("[keys]\nhelp = 'f7'\n", "keys.copy", "f6", "[keys]\nhelp = 'f7'\ncopy = \"f6\"\n"),
    ],
)
def test_only_the_line_changes(home: Home, before: str, key: str, value: str | float | None, after: str) -> None:
    assert changed(home, before, key, value) == after


LINES = st.lists(
    st.sampled_from(
        [
            "# a comment", "", "[limits]", "[ui]", "[keys]", "[providers.a]", "turns = 5 # few", "cost = nan",
            "bell = true", 'theme = "x"', "limits.turns = 7", "ui = {bell = false}", "notes = '''\n[ui]\nbell = 1\n'''",
            "list = [\n 1, # one\n]",
        ]
    ),
    max_size=9,
)  # fmt: skip


def is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


@given(
    lines=LINES,
    change=st.sampled_from([("theme", "new"), ("theme", None), ("limits.turns", 9), ("limits.cost", 0.5),
                            ("limits.turns", None), ("ui.bell", True), ("keys.help", "f7"), ("ui.bell", None)]),
)  # fmt: skip
@bounded(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_file_holds_every_comment_stays_and_the_value_is_set_or_nothing_happens(
    home: Home, lines: list[str], change: tuple[str, str | float | None]
) -> None:
    before = "\n".join(lines)
    key, value = change
    try:
        after = changed(home, before, key, value)
    except SettingError as error:
        assert home.settings.read_text() == before
        assert not is_toml(before) or "is no table" in str(error)
        return
    found: object = tomllib.loads(after)
    for part in key.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    assert found == value
    assert after.count("# a comment") == before.count("# a comment")


def test_a_read_only_file_is_left_alone_and_it_is_said(home: Home) -> None:
    home.settings.write_text("# mine\n")
    home.settings.chmod(0o444)
    with pytest.raises(SettingError, match=r"config\.toml cannot be written: it is read-only"):
        write_setting(home, "theme", "x")
    assert home.settings.read_text() == "# mine\n"
    assert list(home.config.iterdir()) == [home.settings]


def test_a_folder_that_is_none_is_said(home: Home) -> None:
    home.config.rmdir()
    home.config.write_text("in the way")
    with pytest.raises(SettingError, match="config"):
        write_setting(home, "theme", "x")


def test_who_may_read_the_file_and_where_it_lies_stay(home: Home, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("# mine\n")
    real.chmod(0o640)
    home.settings.symlink_to(real)
    write_setting(home, "theme", "x")
    assert home.settings.is_symlink() and 'theme = "x"' in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
