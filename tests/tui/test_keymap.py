"""Keys of one's own: they work, they are shown everywhere, and what cannot work is refused with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.bench import workbench
from tui.actions import ACTIONS
from tui.keymap import keymap


def write(home: Path, keys: str) -> None:
    (home / "config").mkdir()
    (home / "config" / "config.toml").write_text(f"[keys]\n{keys}\n")


async def test_a_chosen_key_does_it_and_the_old_one_does_not(tmp_path: Path) -> None:
    write(tmp_path, 'help = "f11"\ntab_task = "alt+t,T"')
    async with workbench(tmp_path, size=(120, 70)) as bench:
        await bench.pilot.press("f1")
        await bench.pilot.pause()
        assert len(bench.app.screen_stack) == 1
        await bench.pilot.press("f11")
        await bench.until(lambda: len(bench.app.screen_stack) == 2, "the help is open")
        assert "Alt+T, T" in bench.screen_text()
        await bench.pilot.press("escape")
        await bench.until(lambda: len(bench.app.screen_stack) == 1, "it is shut")
        assert "F11" in bench.screen_text().splitlines()[-1]
        await bench.pilot.press("alt+t")
        await bench.until(lambda: bench.app.bench.tab == "task", "the task pane")
        await bench.pilot.press("1", "T")
        await bench.until(lambda: bench.app.bench.tab == "task", "by the other key, while nothing is typed")
        await bench.pilot.press("1", "i", "T")
        await bench.pilot.pause()
        assert bench.app.bench.composer.text == "T"


async def test_a_chosen_key_works_while_a_message_is_typed(tmp_path: Path) -> None:
    write(tmp_path, 'tab_todo = "f11"\ntab_cache = "ctrl+k"\ntab_task = "T"')
    async with workbench(tmp_path, real=True) as bench:
        await bench.until(lambda: bench.app.bench.composer.is_mounted, "the composer")
        await bench.pilot.press("a", "b", "home", "f11")
        await bench.until(lambda: bench.app.bench.tab == "todo", "a function key")
        await bench.pilot.press("i", "ctrl+k")
        await bench.until(lambda: bench.app.bench.tab == "cache", "a key the composer has a use for")
        assert bench.app.bench.composer.text == "ab"
        await bench.pilot.press("2")
        await bench.pilot.pause()
        assert bench.app.bench.tab == "cache", "the letter it had does it no more"
        await bench.pilot.press("T")
        await bench.until(lambda: bench.app.bench.tab == "task", "its new letter does")


@pytest.mark.parametrize(
    ("name", "keys", "said"),
    [
        ("hlep", "f11", "did you mean help"),
        ("help", "", "no key is named"),
        ("help", "ctrl+", "is no key"),
        ("help", "x", "a character people type"),
        ("inspector", "enter", "a character people type"),
        ("help", "ctrl+q", "stays with quit"),
        ("help", "f2", "does inspector already"),
        ("help", "?", "a character people type"),
        ("copy", "?", "does help already"),
        ("inspector", "alt+enter", "does follow_up already"),
    ],
)
def test_what_cannot_work_is_refused_with_a_reason(name: str, keys: str, said: str) -> None:
    found = keymap({name: keys}, ACTIONS)
    assert not found.keys
    assert len(found.problems) == 1 and said in found.problems[0]


def test_two_actions_may_change_places() -> None:
    found = keymap({"inspector": "f3", "replay": "f2"}, ACTIONS)
    assert found.bound() == {"inspector": "f3", "replay": "f2"} and not found.problems


def test_two_wishes_for_one_key_are_one_too_many() -> None:
    found = keymap({"inspector": "f11", "replay": "f11"}, ACTIONS)
    assert found.bound() == {"inspector": "f11"} and "replay" in found.problems[0]


async def test_a_mistake_is_said_and_the_key_stays(tmp_path: Path) -> None:
    write(tmp_path, 'help = "x"\nnothing = 7')
    async with workbench(tmp_path, size=(80, 24)) as bench:
        assert "character people type" in " ".join(note.message for note in bench.app._notifications)
        await bench.pilot.press("f1")
        await bench.until(lambda: len(bench.app.screen_stack) == 2, "the help is open")
