"""What the settings come to for the screens is what the file says, every switch of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.options import EngineOptions
from engine.paths import Home
from engine.settings import UI_SWITCHES
from engine.settings_view import shown
from tui import preferences


@pytest.mark.parametrize("off", UI_SWITCHES)
def test_a_switch_that_is_off_is_off_on_the_screen(off: str, tmp_path: Path) -> None:
    home = Home(tmp_path / "data", tmp_path / "config", tmp_path / "cache")
    home.settings.parent.mkdir(parents=True)
    home.settings.write_text(f"[ui]\n{off} = false\n")
    found = preferences.of(shown(home, tmp_path, {}, EngineOptions(cwd=tmp_path)))
    assert {name: getattr(found, name) for name in UI_SWITCHES} == {name: name != off for name in UI_SWITCHES}
