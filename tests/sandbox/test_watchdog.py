"""The watchdog by itself, without bwrap's own wall behind it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.sandbox.test_processes import ROOT, alive, until

APP = """
import subprocess, sys
from sandbox.backends.watchdog import Watchdog

dog = Watchdog()
def start(mark):
    return subprocess.Popen(["sleep", "600." + mark], start_new_session=True)
groups = [start(sys.argv[1]) for _ in range(5)]
kept = start(sys.argv[2])
for group in (*groups, kept):
    dog.add(group.pid)
dog.remove(kept.pid)
if sys.argv[3] == "restart":
    dog._process.kill()
    dog._process.wait()
    late = start(sys.argv[1])
    dog.add(late.pid)
print(dog._process.pid, flush=True)
sys.stdin.read()
"""


def _run(restart: str) -> None:
    ended, kept = f"{os.getpid()}1{restart == 'restart':d}", f"{os.getpid()}2"
    app = subprocess.Popen(
        [sys.executable, "-c", APP, ended, kept, restart], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert app.stdout is not None
        dog = int(app.stdout.readline())
        assert until(lambda: len(alive(ended)) == 5 + (restart == "restart"))
        os.kill(dog, signal.SIGTERM)  # it does not leave because somebody is polite to it
        app.kill()
        app.wait(10)
        assert until(lambda: alive(ended) == [])
        assert len(alive(kept)) == 1
        assert until(lambda: not Path(f"/proc/{dog}/cmdline").exists() or not Path(f"/proc/{dog}/cmdline").read_bytes())
    finally:
        for pid in alive(kept) + alive(ended):
            os.kill(pid, signal.SIGKILL)
        app.kill()
        app.communicate()


def test_kills_what_it_watches_when_the_app_is_gone() -> None:
    _run("")


def test_is_started_again_and_told_everything() -> None:
    _run("restart")
