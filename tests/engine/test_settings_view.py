"""What a person is shown of the settings: each value with every source that says something of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.options import EngineOptions
from engine.paths import Home
from engine.settings import PROJECT_FILE, load
from engine.settings_keys import KEYS
from engine.settings_shown import SettingRow, SettingSaid, SettingsShown
from engine.settings_view import ready_file, shown
from engine.trust import trust


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path / "data", tmp_path / "config", tmp_path / "cache")
    found.config.mkdir()
    return found


@pytest.fixture
def folder(tmp_path: Path, home: Home) -> Path:
    path = tmp_path / "work"
    (path / PROJECT_FILE).parent.mkdir(parents=True)
    trust(home, path, True)
    return path


def row(found: SettingsShown, name: str) -> SettingRow:
    return next(row for row in found.rows if row.name == name)


def test_every_setting_is_there_with_a_group_and_what_it_may_be(home: Home, folder: Path) -> None:
    found = shown(home, folder, {})
    assert [row.name for row in found.rows[: len(KEYS)]] == list(KEYS)
    assert all(row.group and row.meaning and row.may_be for row in found.rows)
    assert {row.source for row in found.rows} == {"default"}
    groups = [row.group for row in found.rows]
    assert all(groups.index(group) + groups.count(group) - 1 == _last(groups, group) for group in groups), "together"


def _last(groups: list[str], group: str) -> int:
    return len(groups) - 1 - groups[::-1].index(group)


def test_all_that_is_said_of_a_value_the_weakest_first_each_with_its_place(home: Home, folder: Path) -> None:
    home.settings.write_text("# mine\n[limits]\nturns = 3\n")
    (folder / PROJECT_FILE).write_text("[limits]\nturns = 4\n")
    found = shown(home, folder, {"AGENT_TUI_LIMITS_TURNS": "5"}, EngineOptions(cwd=folder, max_turns=6))
    turns = row(found, "limits.turns")
    assert (turns.value, turns.source, turns.default) == (6, "command line", None)
    assert turns.said == (
        SettingSaid("user", f"{home.settings}:3", 3),
        SettingSaid("project", f"{folder / PROJECT_FILE}:2", 4),
        SettingSaid("environment", "AGENT_TUI_LIMITS_TURNS", 5),
        SettingSaid("command line", "", 6),
    )
    assert found.file == str(home.settings) and found.project == str(folder / PROJECT_FILE)


def test_a_project_sets_nothing_of_a_persons_own_screen(home: Home, folder: Path) -> None:
    home.settings.write_text('[keys]\nhelp = "f7"\n')
    (folder / PROJECT_FILE).write_text('theme = "loud"\napprove = "rules"\n[ui]\nbell = false\n[keys]\nquit = "f2"\n')
    found = shown(home, folder, {})
    assert row(found, "theme").source == row(found, "ui.bell").source == "default"
    assert row(found, "approve").source == "project"
    assert found.keys == {"help": ("f7", 2)}
    refused = {(problem.key, problem.line) for problem in found.problems if "only your own" in problem.reason}
    assert refused == {("theme", 1), ("ui.bell", 4), ("keys", 5)}


def test_what_is_not_used_is_shown_with_file_line_and_what_may_have_been_meant(home: Home, folder: Path) -> None:
    home.settings.write_text('modle = "x"\n[providers.house]\nwire = "openai"\n')
    found = shown(home, folder, {"AGENT_TUI_LIMITS_COST": "cheap"})
    said = {problem.key: problem for problem in found.problems}
    assert said["modle"].path == str(home.settings) and said["modle"].line == 1
    assert "did you mean model" in said["modle"].reason
    assert said["providers.house"].line == 2
    assert said["AGENT_TUI_LIMITS_COST"].path == "" and "must be a number" in said["AGENT_TUI_LIMITS_COST"].reason
    home.settings.write_text('model = "a/b"\ntheme =\n')
    broken = shown(home, folder, {}).problems[0]
    assert (broken.path, broken.line) == (str(home.settings), 2)


def test_providers_and_task_are_shown_too(home: Home, folder: Path) -> None:
    home.settings.write_text('[providers.house]\nbase_url = "http://h"\n[task]\ndone_when = ["todo_open == 0"]\n')
    found = shown(home, folder, {})
    address = row(found, "providers.house.base_url")
    assert (address.group, address.value, address.source) == ("providers", "http://h", "user")
    done = row(found, "task.done_when")
    assert (done.value, done.source, done.editable) == ("todo_open == 0", "user", False)
    assert done.said[0].where.endswith(":4")


def test_the_file_is_made_with_examples_once(home: Home, folder: Path) -> None:
    assert ready_file(home) == home.settings and "# model" in home.settings.read_text()
    home.settings.write_text("# mine\n")
    assert ready_file(home).read_text() == "# mine\n"
    assert not load(home, folder, {}).warnings
