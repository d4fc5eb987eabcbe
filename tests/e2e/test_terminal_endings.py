"""However a session ends while a command runs: its whole tree is gone, the terminal is as it was, the log can be read
and gone on with."""

from __future__ import annotations

import signal
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.desk import Desk, Marked, shell, turn
from tests.e2e.terminal import MOUSE_AND_SCREEN, Terminal


def stop(term: Terminal) -> None:
    """The first Esc asks, since the command may be changing something; the second stops it."""
    term.keys("escape")
    term.wait_for("Stop it now")
    term.keys("escape")


ENDS: dict[str, Callable[[Terminal], None]] = {
    "esc": stop,
    "ctrl+q": lambda term: term.keys("ctrl+q"),
    "SIGTERM": lambda term: term.kill(signal.SIGTERM),
    "SIGHUP": lambda term: term.kill(signal.SIGHUP),
    "SIGKILL": lambda term: term.kill(signal.SIGKILL),
    "window closed": lambda term: term.hang_up(),
}


@pytest.mark.parametrize("end", list(ENDS))
def test_nothing_outlives_it_and_the_session_goes_on(end: str, tmp_path: Path) -> None:
    desk, marked = Desk(tmp_path), Marked.new()
    model = desk.script(turn(shell(marked.orphans)), turn(text="I looked: it had not finished.", label="look"))
    with desk.open("--model", model, "--approve", "sandboxed", "Wait for it.") as term:
        term.wait_for(marked.sleeping)
        term.wait_for("running")
        ENDS[end](term)
        if end == "esc":
            term.wait_for("interrupted")
            term.wait_for(lambda: not marked.alive())
            term.keys("ctrl+q")
        code = term.exit_code()
        term.wait_for(lambda: not marked.alive())
        if end not in ("SIGKILL", "window closed"):
            assert code == 0
            assert term.modes & MOUSE_AND_SCREEN == set()
            assert "agent-tui --continue" in term.text

    with desk.open("--continue", "--model", model, "--approve", "sandboxed") as term:
        term.wait_for("Wait for it.")
        term.say("Go on, please.")
        term.wait_for("I looked: it had not finished.")
        term.wait_for(lambda: desk.of("run_finished")[-1].reason == "finished")
        term.keys("ctrl+q")
        assert term.exit_code() == 0
    results = desk.of("tool_result")
    assert [result.status for result in results] == ["cancelled"], "said as it was: cut short, not refused"
    assert "side effects" in results[0].text
    assert not marked.alive(), "it was not run again"


def test_a_draft_outlives_an_app_that_is_killed(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    model, drafts = desk.script(turn(text="hello")), desk.home.state / "drafts.json"

    def kept() -> str:
        return drafts.read_text() if drafts.exists() else ""

    with desk.open("--model", model) as term:
        term.wait_for("say what should be done")
        term.send("half a thought, 你好")
        term.wait_for(lambda: "half a thought" in kept())
        assert stat.S_IMODE(drafts.stat().st_mode) == 0o600
        with desk.open("--model", model) as other:
            other.wait_for("say what should be done")
            other.say("Hello?")
            other.wait_for("hello")
            assert "half a thought" not in other.text, "somebody is at work on it"
            other.keys("ctrl+q")
            assert other.exit_code() == 0
        term.kill(signal.SIGKILL)
        assert term.exit_code() == -signal.SIGKILL
    with desk.open("--model", model) as term:
        term.wait_for("half a thought, 你好")
        term.wait_for("Ctrl+C clears it")
        term.keys("enter")
        term.wait_for("hello")
        term.wait_for(lambda: "half a thought" not in kept())
