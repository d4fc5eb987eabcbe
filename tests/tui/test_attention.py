"""Calling a person back: each thing once, only who looks elsewhere, and never with what a task smuggles in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.hands import Plan
from engine.settings import UiSettings
from engine.state import TaskState, Waiting
from tui.attention import Attention

HOSTILE = "x\x07\x1b]2;owned\x1b\\;y\n\u202e"


def state(**fields: Any) -> TaskState:
    return replace(
        TaskState(session="s1", title="fix-login", goal="fix", stage="thinking", running=True),
        **fields,
    )


def waiting(id: str = "a1", title: str = "git push") -> Waiting:
    return Waiting(id, "approval", "c1", title, "shell_run", "high")


class Terminal:
    def __init__(self, settings: UiSettings | None = None, term: str = "xterm-256color") -> None:
        self.written: list[str] = []
        self.attention = Attention(self.written.append, settings or UiSettings(), term)

    def follow(self, now: TaskState, looking: bool = False) -> str:
        self.written.clear()
        self.attention.follow({now.session: now}, "s1", looking)
        return "".join(self.written)


def test_what_waits_is_called_out_once_and_stays_in_the_title() -> None:
    terminal = Terminal()
    assert terminal.follow(state()) == "\x1b]2;thinking · fix-login\x07"
    called = terminal.follow(state(waiting=(waiting(),)))
    assert "\x1b]2;! 1 waiting · fix-login\x07" in called
    assert "\x1b]9;shell_run waits for you: git push\x07" in called
    assert called.count("\x07\x07") == 1, "the bell"
    assert terminal.follow(state(waiting=(waiting(),))) == ""
    assert "git pull" in terminal.follow(state(waiting=(waiting(), waiting("a2", "git pull"))))


def test_who_looks_is_not_called() -> None:
    terminal = Terminal()
    assert terminal.follow(state(waiting=(waiting(),)), looking=True) == "\x1b]2;! 1 waiting · fix-login\x07"
    assert terminal.follow(state(waiting=(waiting(),)), looking=False) == ""


def test_the_end_of_a_run_is_called_out_once() -> None:
    terminal = Terminal()
    terminal.follow(state())
    done = state(running=False, stage="finished")
    assert "finished: fix-login" in terminal.follow(done)
    assert terminal.follow(done) == ""
    assert "9;" not in Terminal().follow(done), "a session that was opened finished is no news"


def test_another_sessions_request_shows_in_the_title_of_the_one_that_is_shown() -> None:
    terminal = Terminal()
    terminal.follow(state())
    other = state(session="s2", title="other", waiting=(waiting(),))
    called = terminal.follow(other)
    assert "! 1 waiting in other · fix-login" in called
    assert "shell_run waits for you in other: git push" in called
    terminal.written.clear()
    terminal.attention.show("s2")
    assert terminal.written == ["\x1b]2;! 1 waiting · other\x07"]
    terminal.attention.forget("s2")
    assert "thinking · fix-login" in terminal.follow(state())


def test_a_plan_calls_once_and_shows_in_the_title_until_it_is_decided() -> None:
    terminal = Terminal()
    terminal.follow(state())
    planned = state(plan=Plan("p", "1. this"))
    assert "a plan waits for you" in terminal.follow(planned)
    assert terminal.follow(planned) == ""
    assert "waiting" not in terminal.follow(state())


@pytest.mark.parametrize("term", ["linux", "dumb", "vt100", ""])
def test_a_plain_console_is_only_rung(term: str) -> None:
    assert Terminal(term=term).follow(state(waiting=(waiting(),))) == "\x07"


def test_each_can_be_turned_off() -> None:
    off = UiSettings(title=False, bell=False, notify=False)
    terminal = Terminal(off)
    terminal.attention.begin()
    assert terminal.follow(state(waiting=(waiting(),))) == ""
    terminal.attention.end()
    assert terminal.written == []


def test_nothing_from_a_task_reaches_the_terminal_as_a_command() -> None:
    terminal = Terminal()
    said = terminal.follow(state(title=HOSTILE, waiting=(waiting(title=HOSTILE * 50),)))
    for sequence in said.split("\x1b]")[1:]:
        body = sequence.removesuffix("\x07").rstrip("\x07")
        assert body.isprintable() and len(body) < 140
    assert said.count("\x1b") == 3
