"""However a session ends while a command runs: its whole tree is gone, the terminal is as it was, the log can be read
and gone on with."""

from __future__ import annotations

import signal
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
