"""A whole task by lines in a terminal that can do nothing else: asked, approved, denied, saved."""

from __future__ import annotations

import sys
from pathlib import Path

import pexpect

from engine.demo.workspace import make_demo
from tests.e2e.cli import environment


def test_the_demo_by_lines_on_a_dumb_terminal(tmp_path: Path) -> None:
    demo = make_demo(tmp_path / "src")
    env = {**environment(tmp_path), "TERM": "dumb"}
    words = ["-m", "tui", "--cwd", str(demo.folder), "--model", demo.model, demo.task]
    terminal = pexpect.spawn(sys.executable, words, env=env, encoding="utf-8", echo=False, timeout=60)
    terminal.expect("is open")
    terminal.expect("APPROVAL NEEDED, medium risk: shell_run")
    terminal.expect("means deny")
    said = terminal.before
    for answer in ("y", "d not this way"):
        # Too soon does not count, so it is said again until it does.
        while terminal.expect([r"did not count", r"Approval: ", pexpect.TIMEOUT], timeout=0.4) != 1:
            terminal.sendline(answer)
        said += terminal.before
        if answer == "y":
            terminal.expect("APPROVAL NEEDED, medium risk: fs_edit")
            terminal.expect("means deny")
    terminal.expect("ended: something was denied")
    terminal.sendline("/status")
    terminal.expect("turn 5")
    terminal.sendeof()
    terminal.expect("agent-tui --resume")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    assert "\x1b" not in said
    assert "replace(" in (demo.folder / "ledger" / "amounts.py").read_text()
