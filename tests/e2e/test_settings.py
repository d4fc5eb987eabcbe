"""Settings in a real terminal: changed on the screen, in force at once and at the next start, edited beside."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from tests.e2e.desk import Desk, turn
from tests.e2e.terminal import Terminal


def press_until(term: Terminal, key: str, words: str) -> None:
    """Press a key again and again until ``words`` are on the screen."""
    for _ in range(5):
        term.keys(key)
        with suppress(AssertionError):
            term.wait_for(words, timeout=3)
            return
    term.wait_for(words)


def test_settings_are_changed_and_last(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    model = desk.script(turn(text="hello"))
    editor = tmp_path / "vim"
    editor.write_text('#!/bin/sh\necho "# from the editor" >> "$2"\n')
    editor.chmod(0o755)
    with desk.open("--model", model, env={"VISUAL": str(editor)}) as term:
        term.wait_for("say what should be done")
        term.keys("f6")
        term.wait_for("your file:")
        term.keys("/")
        term.wait_for("words")
        term.send("help")
        term.wait_for("Keys and commands")
        # To the list, and then into the line: a key goes where the one before it has led, once that is done.
        press_until(term, "enter", "Press the new key")
        term.keys("f2")
        term.wait_for("F2 does inspector already")
        term.keys("f11")
        term.wait_for("help = F11, at once")
        term.keys("o")
        term.wait_for(lambda: "# from the editor" in desk.home.settings.read_text())
        term.wait_for("settings")
        term.keys("f11")
        term.wait_for("Talk to the agent")
        term.keys("escape", "escape", "escape")
        term.wait_for("F11 help")
        term.keys("ctrl+q")
        assert term.exit_code() == 0
    assert 'help = "f11"' in desk.home.settings.read_text()
    with desk.open("--model", model) as term:
        term.wait_for("F11 help")
        term.keys("f11")
        term.wait_for("Talk to the agent")
