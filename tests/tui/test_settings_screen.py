"""The settings: shown with where they come from, changed in the person's own file, and put to use at once."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

import pytest

from engine import events as ev
from engine import settings_view
from engine.options import EngineOptions
from engine.paths import Home
from engine.queries import SettingsFile, ShowSettings, WriteSetting
from engine.settings import PROJECT_FILE, write_setting
from engine.trust import trust
from tests.tui.bench import Bench, workbench
from tests.tui.fake_engine import FakeHandle

MINE = """\
# what I like
theme = "overcast"

[limits]
turns = 40  # enough
"""


@asynccontextmanager
async def settings(
    tmp_path: Path, text: str = MINE, size: tuple[int, int] = (120, 40), options: EngineOptions | None = None
) -> AsyncIterator[Bench]:
    """The settings screen over real files and the real answers."""
    found = options or EngineOptions(cwd=tmp_path / "work")
    found.cwd.mkdir(exist_ok=True)
    home = Home(tmp_path / "data", tmp_path / "config", tmp_path / "cache")
    home.config.mkdir(exist_ok=True)
    home.settings.write_text(text)
    engine = FakeHandle(found)
    engine.answers |= {
        ShowSettings: lambda asked: settings_view.shown(home, Path(asked.folder), os.environ, found),
        WriteSetting: lambda asked: write_setting(home, asked.name, asked.value),
        SettingsFile: lambda _: settings_view.ready_file(home),
    }
    async with workbench(tmp_path, size=size, engine=engine, options=found) as bench:
        await bench.pilot.press("f6")
        await bench.until(lambda: getattr(bench.app.screen, "found", None), "the settings are read")
        yield bench


async def at(bench: Bench, name: str) -> None:
    """Go to the line of a setting."""
    screen = bench.app.screen
    names = [entry.name for entry in screen.shown]
    screen.list.action_move(names.index(name) - screen.list.index)
    await bench.pilot.pause()


def file(tmp_path: Path) -> str:
    return (tmp_path / "config" / "config.toml").read_text()


def line(bench: Bench, name: str) -> str:
    """The line of the list that shows a setting."""
    return next(line for line in bench.screen_text().splitlines() if f" {name} " in line)


def about(bench: Bench) -> str:
    """What is said beside the list, without white space: long paths are broken anywhere."""
    return "".join("".join(line.partition("│")[2].split()) for line in bench.screen_text().splitlines())


def told(bench: Bench) -> str:
    return " ".join(note.message for note in bench.app._notifications)


async def test_every_value_with_where_it_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_TUI_LIMITS_TURNS", "9")
    project = tmp_path / "work" / PROJECT_FILE
    project.parent.mkdir(parents=True)
    project.write_text("[limits]\ntokens = 5000\nturns = 20\n")
    trust(Home(tmp_path / "data", tmp_path / "config", tmp_path / "cache"), tmp_path / "work", True)
    options = EngineOptions(cwd=tmp_path / "work", max_cost=0.5)
    async with settings(tmp_path, options=options) as bench:
        assert "your file" in line(bench, "theme") and "overcast" in line(bench, "theme")
        assert "project's file" in line(bench, "limits.tokens") and "5000" in line(bench, "limits.tokens")
        assert "command line" in line(bench, "limits.cost") and "0.5" in line(bench, "limits.cost")
        assert "environment !" in line(bench, "limits.turns"), "a sign beside the word: the person's own does not hold"
        assert "default" in line(bench, "approve")
        await at(bench, "limits.turns")
        shown = about(bench)
        assert "turnsofonerun" in shown and "awholenumbermorethan0" in shown and "fromthenextsessionon" in shown
        assert "yourfilesays40,butenvironmentAGENT_TUI_LIMITS_TURNSisstronger" in shown
        assert "yourfile40" in shown and "config/config.toml:5" in shown
        assert "project'sfile20" in shown and ".agent-tui/config.toml:3" in shown


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (20, 5), (50, 12)])
async def test_it_fits(tmp_path: Path, size: tuple[int, int]) -> None:
    async with settings(tmp_path, "modle = 'x'\n[keys]\nhlep = 'f7'\n", size=size) as bench:
        for key in ("tab", "down", "end", "pageup", "home", "shift+tab"):
            await bench.pilot.press(key)
        assert bench.app.screen.shown
        if size[0] >= 80:
            await bench.pilot.press("home")
            await bench.pilot.pause()
            assert "! modle" in bench.screen_text() and "not used: there is no such" in bench.screen_text()
            assert size[0] < 100 or "didyoumeanmodel?" in about(bench)


async def test_the_dialogs_fit_the_smallest_screen(tmp_path: Path) -> None:
    async with settings(tmp_path, size=(20, 5)) as bench:
        for name, shown in (("approve", "sandboxed"), ("limits.turns", "40"), ("help", "Press the new")):
            await at(bench, name)
            await bench.pilot.press("enter")
            await bench.until(lambda shown=shown: shown in bench.screen_text(), name)
            await bench.pilot.press("escape")
            await bench.until(lambda: type(bench.app.screen).__name__ == "SettingsScreen", "it is left")


async def test_what_is_not_used_comes_first_with_its_place_and_opens_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = 'modle = "x"\ntheme = "overcats"\n[keys]\n# mine\nhlep = "f11"\ncopy = "f2"\n'
    monkeypatch.setenv("AGENT_TUI_UI_BELL", "loud")
    async with settings(tmp_path, bad) as bench:
        problems = {entry.name: entry for entry in bench.app.screen.shown if entry.problem}
        assert list(bench.app.screen.shown[: len(problems)]) == list(problems.values())
        assert (problems["modle"].line, problems["theme"].line, problems["keys.hlep"].line) == (1, 2, 5)
        assert "did you mean model" in problems["modle"].meaning and "overcast" in problems["theme"].meaning
        assert "did you mean help" in problems["keys.hlep"].meaning
        assert "does inspector already" in problems["keys.copy"].meaning and problems["keys.copy"].line == 6
        assert problems["AGENT_TUI_UI_BELL"].source == "environment"
        assert "! 5 not used" in bench.screen_text()


async def test_a_broken_line_is_named_and_nothing_is_written_over_it(tmp_path: Path) -> None:
    broken = 'approve = "ask"\ntheme = \n'
    async with settings(tmp_path, broken) as bench:
        assert bench.app.screen.shown[0].line == 2 and "not TOML" in bench.app.screen.shown[0].meaning
        await at(bench, "ui.animations")
        await bench.pilot.press("enter")
        await bench.until(lambda: "was left alone" in told(bench), "it is said")
        assert file(tmp_path) == broken


async def test_a_switch_is_turned_and_the_file_keeps_the_rest(tmp_path: Path) -> None:
    async with settings(tmp_path) as bench:
        await at(bench, "ui.bell")
        await bench.pilot.press("enter")
        await bench.until(lambda: "ui.bell = false, at once" in bench.screen_text(), "it is said")
        assert file(tmp_path) == MINE + "\n[ui]\nbell = false\n"
        assert "false" in line(bench, "ui.bell") and "your file" in line(bench, "ui.bell")
        assert bench.app.attention.settings.bell is False and bench.app.ui_settings.bell is False
        await bench.pilot.press("delete")
        await bench.until(lambda: "default" in line(bench, "ui.bell"), "the default again")
        assert bench.app.attention.settings.bell is True and "bell" not in file(tmp_path)
        await bench.pilot.press("backspace")
        await bench.until(lambda: "your file does not set it" in bench.screen_text(), "there is nothing to take away")


async def test_a_number_is_checked_while_it_is_typed(tmp_path: Path) -> None:
    async with settings(tmp_path) as bench:
        await at(bench, "limits.turns")
        await bench.pilot.press("enter")
        await bench.until(lambda: "A whole number more than 0" in bench.screen_text(), "what it may be")
        await bench.pilot.press("x")
        await bench.until(lambda: "must be a whole number, not '40x'" in bench.screen_text(), "at once")
        await bench.pilot.press("enter")
        await bench.pilot.pause()
        assert file(tmp_path) == MINE
        await bench.pilot.press("backspace", "0")
        await bench.until(lambda: "must be" not in bench.screen_text(), "it is right again")
        await bench.pilot.press("enter")
        await bench.until(lambda: "limits.turns = 400, from the next session on" in bench.screen_text(), "it is kept")
        assert file(tmp_path) == MINE.replace("40 ", "400 ")
        await bench.pilot.press("enter", "backspace", "backspace", "backspace", "enter")
        await bench.until(lambda: "default" in line(bench, "limits.turns"), "nothing is the default")
        assert "# what I like" in file(tmp_path) and "turns" not in file(tmp_path)


async def test_a_choice_is_made_in_a_list(tmp_path: Path) -> None:
    async with settings(tmp_path) as bench:
        await at(bench, "approve")
        await bench.pilot.press("enter")
        await bench.until(lambda: "every risky operation waits" in bench.screen_text(), "with what they mean")
        await bench.pilot.press("escape", "enter", "down", "down", "enter")
        await bench.until(lambda: "approve = rules" in bench.screen_text(), "it is kept")
        assert file(tmp_path).startswith('# what I like\ntheme = "overcast"\napprove = "rules"\n')


async def test_a_model_is_one_that_was_found_or_one_that_is_written(tmp_path: Path) -> None:
    async with settings(tmp_path, "") as bench:
        await at(bench, "model")
        await bench.pilot.press("enter")
        await bench.until(lambda: "key in ANTHROPIC_API_KEY" in bench.screen_text(), "what can be used is listed")
        assert "no server answers" not in bench.screen_text()
        await bench.pilot.press("enter")
        await bench.until(lambda: "model = anthropic/claude-x, from the next" in bench.screen_text(), "it is kept")
        await bench.pilot.press("enter")
        await bench.until(lambda: "write it as provider/model" in bench.screen_text(), "the list again")
        await bench.pilot.press("end", "enter")
        await bench.until(lambda: type(bench.app.screen).__name__ == "AskText", "a line to write")
        await bench.pilot.press("end", "2", "enter")
        await bench.until(lambda: "model = anthropic/claude-x2" in bench.screen_text(), "it is kept")
        assert file(tmp_path) == 'model = "anthropic/claude-x2"\n'


async def test_two_quick_presses_switch_there_and_back(tmp_path: Path) -> None:
    async with settings(tmp_path, "") as bench:
        await at(bench, "ui.title")
        await bench.pilot.press("enter", "enter", "enter")
        await bench.until(lambda: not bench.app.screen._under_way, "all is written")
        assert "title = false" in file(tmp_path) and bench.app.attention.settings.title is False


async def test_a_theme_is_seen_before_it_is_taken(tmp_path: Path) -> None:
    async with settings(tmp_path) as bench:
        assert bench.app.theme == "overcast"
        await at(bench, "theme")
        await bench.pilot.press("enter", "home")
        await bench.until(lambda: bench.app.theme != "overcast", "it is tried")
        await bench.pilot.press("escape")
        await bench.until(lambda: bench.app.theme == "overcast", "and taken off")
        await bench.pilot.press("enter", "home", "enter")
        await bench.until(lambda: "your file" in line(bench, "theme") and "at once" in bench.screen_text(), "kept")
        assert f'theme = "{bench.app.theme}"' in file(tmp_path) and bench.app.theme != "overcast"


async def test_what_a_stronger_source_says_is_told_after_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TUI_UI_BELL", "true")
    async with settings(tmp_path) as bench:
        await at(bench, "ui.bell")
        await bench.pilot.press("enter")
        await bench.until(lambda: "environment is stronger: it says true" in bench.screen_text(), "it is said")
        assert bench.app.attention.settings.bell is True and "bell = false" in file(tmp_path)


async def test_a_read_only_file_is_said_and_left_alone(tmp_path: Path) -> None:
    async with settings(tmp_path) as bench:
        (tmp_path / "config" / "config.toml").chmod(0o444)
        await at(bench, "ui.bell")
        await bench.pilot.press("enter")
        await bench.until(lambda: "it is read-only" in told(bench), "it is said")
        assert file(tmp_path) == MINE and "true" in line(bench, "ui.bell")


async def test_the_projects_file_is_never_written(tmp_path: Path) -> None:
    project = tmp_path / "work" / PROJECT_FILE
    project.parent.mkdir(parents=True)
    project.write_text("[limits]\nturns = 20\n[ui]\nbell = false\n")
    trust(Home(tmp_path / "data", tmp_path / "config", tmp_path / "cache"), tmp_path / "work", True)
    async with settings(tmp_path, "") as bench:
        assert "only your own settings file" in bench.app.screen.shown[0].meaning
        await at(bench, "limits.turns")
        await bench.pilot.press("delete")
        await bench.until(lambda: "your file does not set it" in bench.screen_text(), "there is nothing to take away")
        await bench.pilot.press("enter", "enter")
        await bench.until(lambda: "project's file is stronger: it says 20" in bench.screen_text(), "it is said")
        assert project.read_text() == "[limits]\nturns = 20\n[ui]\nbell = false\n"
        assert "turns = 20" in file(tmp_path)


async def test_a_key_is_given_to_an_action_and_works_at_once(tmp_path: Path) -> None:
    async with settings(tmp_path) as bench:
        await at(bench, "help")
        await bench.pilot.press("enter")
        await bench.until(lambda: "Press the new key" in bench.screen_text(), "it waits")
        await bench.pilot.press("f2")
        await bench.until(lambda: "F2 does inspector already" in bench.screen_text(), "the conflict is named")
        await bench.pilot.press("ctrl+q")
        await bench.until(lambda: "Ctrl+Q stays with quit" in bench.screen_text(), "no action has it first")
        await bench.pilot.press("x")
        await bench.until(lambda: "a character people type" in bench.screen_text(), "nor a letter")
        assert file(tmp_path) == MINE
        await bench.pilot.press("f11")
        await bench.until(lambda: "help = F11, at once" in bench.screen_text(), "it is kept")
        assert file(tmp_path).endswith('\n[keys]\nhelp = "f11"\n') and "F11" in line(bench, "help")
        await bench.pilot.press("f11")
        await bench.until(lambda: type(bench.app.screen).__name__ == "HelpScreen", "it works")
        await bench.pilot.press("escape", "f1")
        await bench.pilot.pause()
        assert type(bench.app.screen).__name__ == "SettingsScreen", "the old one does not"
        await bench.pilot.press("delete")
        await bench.until(lambda: "F1" in line(bench, "help"), "the default is back")
        await bench.pilot.press("f1")
        await bench.until(lambda: type(bench.app.screen).__name__ == "HelpScreen", "and works")


async def test_esc_leaves_a_key_as_it_is_and_some_cannot_be_changed(tmp_path: Path) -> None:
    async with settings(tmp_path) as bench:
        await at(bench, "inspector")
        await bench.pilot.press("enter")
        await bench.until(lambda: "Press the new key" in bench.screen_text(), "it waits")
        await bench.pilot.press("escape")
        await bench.until(lambda: "Press the new key" not in bench.screen_text(), "it is left")
        await at(bench, "follow_up")
        await bench.pilot.press("enter")
        await bench.until(lambda: "cannot be changed" in bench.screen_text().splitlines()[-2], "it is said")
        assert file(tmp_path) == MINE
        await at(bench, "copy_part")
        await bench.pilot.press("enter", "question_mark")
        await bench.until(lambda: "? does help already" in bench.screen_text(), "characters conflict too")


async def test_search_and_the_way_back(tmp_path: Path) -> None:
    async with settings(tmp_path) as bench:
        await bench.pilot.press("slash", *"desktop notif")
        await bench.until(lambda: len(bench.app.screen.shown) == 1, "only what has the words")
        assert "ui.notify" in bench.screen_text() and "1 of " in bench.screen_text()
        await bench.pilot.press("x")
        await bench.until(lambda: "no setting has these words" in bench.screen_text(), "nothing")
        await bench.pilot.press("enter", "e", "delete", "escape")
        await bench.until(lambda: len(bench.app.screen.shown) > 40, "all again")
        await bench.pilot.press("question_mark")
        await bench.until(lambda: "Read the files again" in bench.screen_text(), "the keys of here")
        await bench.pilot.press("escape", "escape")
        await bench.until(lambda: bench.app.screen is bench.app.bench, "it is left")


async def test_the_file_opens_in_the_editor_at_the_line_and_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "vim"
    editor.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/opened\nsed -i s/40/41/ "$2"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    async with settings(tmp_path) as bench:
        monkeypatch.setattr(bench.app, "suspend", nullcontext)
        await at(bench, "limits.turns")
        await bench.pilot.press("o")
        await bench.until(lambda: "41" in line(bench, "limits.turns"), "what was changed shows")
        assert (tmp_path / "opened").read_text() == f"+5 {tmp_path}/config/config.toml\n"


async def test_what_the_open_session_has_is_told(tmp_path: Path) -> None:
    async with settings(tmp_path) as bench:
        await bench.pilot.press("escape")
        bench.engine.tell(ev.SettingChanged(name="approve", value="rules", by="person"))
        await bench.settled()
        await bench.pilot.press("f6")
        await bench.until(lambda: getattr(bench.app.screen, "shown", None), "the settings are read")
        await at(bench, "approve")
        assert "theopenonehasrules;/approvechangesit" in about(bench)


async def test_an_engine_that_cannot_answer_is_said(tmp_path: Path) -> None:
    engine = FakeHandle(EngineOptions(cwd=tmp_path))
    engine.answers[ShowSettings] = RuntimeError("the disk is gone")
    async with workbench(tmp_path, engine=engine) as bench:
        bench.app.run_slash("settings", "")
        await bench.until(lambda: "the disk is gone" in bench.screen_text(), "it is said")
        await bench.pilot.press("enter", "delete")
        home = Home(tmp_path / "data", tmp_path / "config", tmp_path / "cache")
        engine.answers[ShowSettings] = settings_view.shown(home, tmp_path, {})
        engine.tell(ev.Notice(level="info", text="here again"))
        await bench.until(lambda: "limits.turns" in bench.screen_text(), "it is asked again")
        await bench.pilot.press("escape")
        await bench.until(lambda: bench.app.screen is bench.app.bench, "it can be left")
