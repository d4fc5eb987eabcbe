"""The wall clock jumps two hours to and fro while it runs: nothing times out, no duration is negative."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.e2e.desk import Desk, shell, turn

# Every look at the wall clock is two hours later or earlier than the one before; the monotonic one is left alone.
JUMPY = """
import datetime, itertools, sys, time
jumps = itertools.cycle((0, 7200, -7200, 7200))
real_time, real_now = time.time, datetime.datetime.now
class Jumpy(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return real_now(tz) + datetime.timedelta(seconds=next(jumps))
datetime.datetime = Jumpy
time.time = lambda: real_time() + next(jumps)
from tui.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_jumping_clock_changes_no_duration_and_expires_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    model = desk.script(turn(shell("sleep 0.2")), turn(shell("rm -rf kept")), turn(text="Time flies."))
    flags = ("--model", model, "--approve", "ask", "--max-seconds", "60", "Wait a little.")
    with desk.open(*flags, command=(sys.executable, "-c", JUMPY)) as term:
        desk.answer(term, "n")
        term.wait_for("Time flies.")
        term.wait_for("something was denied")
        assert "-7" not in term.text
        term.keys("ctrl+q")
        assert term.exit_code() == 0
    events = desk.events()
    times = [event.at for event in events]
    assert times != sorted(times), "the clock did jump"
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    slept, denied = desk.of("tool_result")
    assert 0.2 <= slept.seconds < 30
    assert denied.status == "denied"
    assert all(0 <= e.timing.total < 30 for e in desk.of("assistant_message"))
    assert [e.by for e in desk.of("approval_decided")] == ["person"]
