"""kill -9 of the app at any moment: no process of a call, no mount and no cgroup is left."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from sandbox.backends import starting
from tests.sandbox.test_processes import ROOT, _no_bwrap_of, alive, until

ROUNDS = 10
LATEST = 0.25

APP = """
import asyncio, sys
from pathlib import Path
from tests.sandbox.broker_kit import Person, Rig
from sandbox.limits import owners
from sandbox.operations import ReadFile, RunCommand

mark = sys.argv[2]
LINES = (
    f"sleep 600.{mark}",
    f"setsid sleep 600.{mark} & (sleep 600.{mark} &) ; true",
    f"for i in 1 2 3 4 5 6 7 8; do sleep 600.{mark} & done; wait",
    "true",
)

async def busy(broker, line):
    while True:
        await broker.run(RunCommand(line, timeout=0.1))

async def main():
    async with Rig(Path(sys.argv[1])).broker(Person()) as broker:
        await broker.run(RunCommand("true"))
        await broker.run(ReadFile("nosuch"))
        print(owners.own_name(), flush=True)
        await asyncio.gather(*(busy(broker, line) for line in LINES))

asyncio.run(main())
"""


def test_killing_the_app_at_random_moments_leaves_nothing(tmp_path: Path, walls: None) -> None:
    seed = int.from_bytes(os.urandom(4))
    moments = random.Random(seed)
    bases = {one.base for one in starting.allotments.found()}
    for number in range(ROUNDS):
        mark = f"{os.getpid()}{number}{seed % 10**6}"
        folder = tmp_path / str(number)
        app = subprocess.Popen([sys.executable, "-c", APP, str(folder), mark], cwd=ROOT, stdout=subprocess.PIPE)
        try:
            assert app.stdout is not None
            name = app.stdout.readline().decode().strip()
            assert name
            time.sleep(moments.uniform(0, LATEST))  # the moment under test, not a wait for something
            app.kill()
            app.wait(10)
            gone = until(partial(_nothing_left, mark, folder, [base / name for base in bases]))
            assert gone, f"seed {seed}, round {number}: {alive(mark)}"
        finally:
            app.kill()
            app.communicate()


def _nothing_left(mark: str, folder: Path, cgroups: list[Path]) -> bool:
    return alive(mark) == [] and _no_bwrap_of(folder) and not any(cgroup.exists() for cgroup in cgroups)


@pytest.mark.parametrize("ends", ["exec sleep 600.{mark}", "while :; do sleep 600.{mark}; done"])
def test_children_inherit_the_namespace_and_end_with_the_first(tmp_path: Path, walls: None, ends: str) -> None:
    """Killing what stands first inside, from outside, ends all of it: nothing can step out of its own namespace."""
    mark = f"{os.getpid()}{time.monotonic_ns() % 10**9}"
    script = (
        f"setsid sleep 600.{mark} & (setsid sh -c 'trap \"\" TERM HUP; {ends.format(mark=mark)}' &); sleep 600.{mark}"
    )
    app = subprocess.Popen(
        [sys.executable, "-m", "tui", "sandbox", "exec", "--", "bash", "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "AGENT_TUI_HOME": str(tmp_path / "home")},
        stdout=subprocess.DEVNULL,
    )
    try:
        assert until(lambda: len(alive(mark)) == 3)
        spaces = {Path(f"/proc/{pid}/ns/pid").readlink() for pid in alive(mark)}
        assert len(spaces) == 1 and spaces != {Path("/proc/self/ns/pid").readlink()}
        app.terminate()
        app.wait(20)
        assert until(lambda: alive(mark) == [])
    finally:
        app.kill()
        app.wait()
