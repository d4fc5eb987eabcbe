"""Two sessions at once in one terminal: approvals in both, and all a person does to one of them while both work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.e2e.desk import Desk, shell, turn
from tests.e2e.terminal import MOUSE_AND_SCREEN, Terminal

ONE, TWO = "Begin the first.", "Begin the second."
STEER = "keep the old name"
WORDS = "word after word " * 4000
WAITS = "until [ -e {0} ]; do sleep 0.02; done; echo {0} went"


def model(desk: Desk) -> str:
    """The first waits, is steered and wants to remove something; the second waits, is paused and talks at length."""
    return desk.script(
        turn(shell(WAITS.format("one")), label="one", to=[{"when": {"says": STEER}, "goto": "steered"}]),
        turn(text="Nobody steered me.", to="end"),
        turn(shell("rm -rf kept"), label="steered", to="end"),
        turn(shell(WAITS.format("two")), label="two", to="talk"),
        turn(text=WORDS, label="talk", pace=0.03, to="end"),
        turn(text="Welcome back.", label="again", to="end"),
        next=[
            {"when": {"says": "the first"}, "goto": "one", "times": 1},
            {"when": {"says": "the second"}, "goto": "two", "times": 1},
            {"when": {"says": "another day"}, "goto": "again", "times": 1},
        ],
    )


class Both:
    """The two sessions as stored: found by what was said first in them."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def of(self, said: str, *types: str) -> list[Any]:
        for session in self.desk.sessions:
            events = self.desk.events(session)
            if any(event.type == "user_message" and event.text == said for event in events):
                return [event for event in events if event.type in types]
        return []


def approve(term: Terminal, both: Both, said: str) -> None:
    """Press y until it counts."""
    while not both.of(said, "approval_decided"):
        term.wait_gone("keys count")
        term.keys("y")
        term.wait_for(lambda: both.of(said, "approval_decided") or "keys count" in term.text)


def test_two_sessions_at_once_from_the_first_task_to_another_day(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    both, spec = Both(desk), model(desk)
    (desk.folder / "kept").mkdir()
    with desk.open("--model", spec, "--approve", "ask", env={"AGENT_TUI_SCRIPT_WAITING": "1"}) as term:
        approvals_in_both(term, both)
        steer_and_take_back(term, both)
        pause_resize_and_interrupt(term, both, desk)
        (desk.folder / "one").touch()
        term.wait_for("rm -rf kept")
        term.wait_for("in Begin the first. · tab 1")
        assert "▌2 Begin the second." in term.screen[1], "it asks over the other session"
        term.keys("ctrl+q")
        assert term.exit_code() == 0, "leaving with the dialog open is safe"
        assert term.modes & MOUSE_AND_SCREEN == set()
        term.wait_for("2 sessions are saved")
        assert term.text.count("agent-tui --resume") == 2
    (*_, last) = both.of(ONE, "approval_decided")
    assert (last.choice, last.by) == ("deny", "close")
    assert (desk.folder / "kept").exists()
    assert [e.text for e in both.of(ONE, "user_message")] == [ONE, STEER]
    assert [e.reason for e in both.of(ONE, "run_finished")] == ["interrupted"]
    for session in desk.sessions:
        assert desk.store.verify(session).ok

    with desk.open("--continue", "--model", spec, "--approve", "ask") as term:
        term.wait_for(TWO)
        term.say("It is another day.")
        term.wait_for("Welcome back.")
        term.keys("ctrl+q")
        assert term.exit_code() == 0
    assert len(desk.sessions) == 2, "the same session went on"


def approvals_in_both(term: Terminal, both: Both) -> None:
    """The first is put aside; the second, in sight, is asked about and answered; then the first is gone back to."""
    term.wait_for("say what should be done")
    term.say(ONE)
    term.wait_for("Approve?")
    assert "tab 1" not in term.text, "there is one session only"
    term.wait_for(lambda: "keys count" not in term.text)
    while "Approve?" in term.text:
        term.keys("escape")
        term.wait_for(lambda: "Approve?" not in term.text or "keys count" in term.text)
        term.wait_gone("keys count")
    term.keys("ctrl+n")
    term.wait_for("▌2 new session")
    term.say(TWO)
    term.wait_for("in Begin the second. · tab 2")
    term.wait_for("1 Begin the first. ◌ 1 waits for you")
    approve(term, both, TWO)
    term.wait_for("Alt+G go to it")
    term.keys("alt+g")
    term.wait_for("▌1 Begin the first.")
    term.wait_for("in Begin the first. · tab 1")
    approve(term, both, ONE)
    term.wait_for(lambda: both.of(ONE, "tool_started") and both.of(TWO, "tool_started"))
    term.wait_gone("Approve?")


def steer_and_take_back(term: Terminal, both: Both) -> None:
    term.say(STEER)
    term.wait_for(f"steer: {STEER}")
    term.keys("alt+up")
    term.wait_for(f" › {STEER}")
    term.wait_gone("steer:")
    assert both.of(ONE, "message_withdrawn") and not both.of(TWO, "message_queued")
    term.keys("enter")
    term.wait_for(f"steer: {STEER}")


def pause_resize_and_interrupt(term: Terminal, both: Both, desk: Desk) -> None:
    """The second is paused after its command, goes on, talks while the window changes, and is cut; the first works."""
    term.keys("ctrl+pagedown")
    term.wait_for("▌2 Begin the second.")
    term.keys("f8")
    term.wait_for(lambda: both.of(TWO, "paused"))
    (desk.folder / "two").touch()
    term.wait_for("‖ paused")
    term.keys("f8")
    term.wait_for("word after word")
    for columns, lines in ((80, 24), (200, 50), (120, 40)):
        term.resize(columns, lines)
        term.wait_for(lambda columns=columns: drawn_for(term, columns))  # type: ignore[misc]
    term.keys("escape")
    term.wait_for(lambda: [e.reason for e in both.of(TWO, "run_finished")] == ["interrupted"])
    term.wait_for("2 Begin the second. ‖ interrupted")
    assert not both.of(ONE, "run_finished"), "the other was not cut"


def drawn_for(term: Terminal, columns: int) -> bool:
    """Whether the second session is drawn as wide as the window is, in the midst of its words."""
    header, strip, *rest = term.screen
    return columns - 2 <= len(header) <= columns and "▌2 Begin the second." in strip and "word after word" in rest[-5]
