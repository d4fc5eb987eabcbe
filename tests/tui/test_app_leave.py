"""However the app ends, the engine is closed, the terminal is as it was, and the last word is true."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import pexpect
import pytest

ROOT = Path(__file__).parent.parent.parent
MODES = (b"1000", b"1002", b"1003", b"1004", b"1006", b"1015", b"1049", b"2004")


class Terminal:
    """The workbench in a pseudo-terminal, from its first frame on."""

    def __init__(self, home: Path, does: str) -> None:
        self.closed = home / "closed"
        settings = home / "config" / "config.toml"
        settings.parent.mkdir(parents=True)
        settings.touch()
        env = {**os.environ, "AGENT_TUI_HOME": str(home), "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        argv = ["-m", "tests.tui.live_bench", str(self.closed), does]
        self.child = pexpect.spawn(sys.executable, argv, env=env, cwd=str(home), dimensions=(30, 100), timeout=20)
        self.said = b""

    def expect(self, pattern: bytes) -> None:
        self.child.expect(pattern)
        self.said += self.child.before + self.child.after

    def ends(self) -> int:
        self.child.expect(pexpect.EOF)
        self.said += self.child.before
        self.child.close()
        return self.child.exitstatus if self.child.exitstatus is not None else -(self.child.signalstatus or 0)

    def modes_left_on(self) -> set[bytes]:
        """Private modes that were set and not reset afterwards."""
        on: set[bytes] = set()
        for modes, what in re.findall(rb"\x1b\[\?([\d;]+)([hl])", self.said):
            (on.update if what == b"h" else on.difference_update)(modes.split(b";"))
        return on & set(MODES)

    def last_words(self) -> str:
        return self.said.rpartition(b"\x1b[?1004l")[2].decode()


def test_quit_says_how_to_go_on(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "work")
    terminal.expect(rb"Fix the login test")
    assert {b"1000", b"1049"} <= terminal.modes_left_on()
    assert not terminal.closed.exists()
    terminal.child.send(b"\x11")
    assert terminal.ends() == 0
    assert terminal.closed.exists()
    assert terminal.modes_left_on() == set()
    assert "agent-tui --resume s1" in terminal.last_words(), "the session is one of another folder"


def test_no_promise_when_nothing_could_be_saved(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "unsaved")
    terminal.expect(rb"Fix the login test")
    terminal.child.send(b"\x11")
    assert terminal.ends() == 0
    assert not {"--continue", "--resume"} & set(terminal.last_words().split())
    assert "not saved" in terminal.last_words()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_closes_the_engine_and_resets_the_terminal(tmp_path: Path, number: signal.Signals) -> None:
    terminal = Terminal(tmp_path, "work")
    terminal.expect(rb"Fix the login test")
    terminal.child.kill(number)
    terminal.ends()
    assert terminal.closed.exists()
    assert terminal.modes_left_on() == set()


def test_a_terminal_that_goes_away_takes_the_app_with_it(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "work")
    terminal.expect(rb"Fix the login test")
    pid = terminal.child.pid
    # Through its owner: a number that is closed behind its back would be closed once more, whosever it is then.
    terminal.child.ptyproc.fileobj.close()
    terminal.child.closed = terminal.child.ptyproc.closed = True
    assert _reaped(pid)
    assert terminal.closed.exists()


def test_a_crash_of_the_screen_closes_the_engine_and_resets_the_terminal(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "crash")
    assert terminal.ends() == 1
    assert terminal.closed.exists()
    assert terminal.modes_left_on() == set()


def test_a_crash_of_what_works_beside_the_screen_does_too(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "work")
    terminal.expect(rb"Fix the login test")
    # The settings are read by a worker, and this engine's answer cannot be.
    terminal.child.send(b"\x1b[17~")
    assert terminal.ends() == 1
    assert terminal.closed.exists()
    assert terminal.modes_left_on() == set()


def _reaped(pid: int) -> bool:
    """Wait for the process to end, for a bounded time."""
    import select

    handle = os.pidfd_open(pid)
    try:
        done, _, _ = select.select([handle], [], [], 15)
    finally:
        os.close(handle)
    if not done:
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return bool(done)
