"""Cgroups: found by controller, made for a command, used again, and gone with the app, however it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.backends import starting
from sandbox.limits import controllers, owners
from sandbox.limits.allotment import Allotments
from sandbox.limits.controllers import CPU, MEMORY, PIDS, Controller
from sandbox.operations import RunArgv
from sandbox.policy import Limits
from tests.sandbox.broker_kit import Person, Rig
from tests.sandbox.test_processes import ROOT, until

MOUNTINFO = """\
30 25 0:27 / {root}/memory rw,relatime - cgroup cgroup rw,memory
31 25 0:28 / {root}/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct
32 25 0:29 / {root}/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate
"""


def fake(base: Path, mountinfo: str, cgroup: str) -> Path:
    """A stand-in for /proc/self."""
    proc = base / "proc"
    proc.mkdir()
    (proc / "mountinfo").write_text(mountinfo.format(root=base))
    (proc / "cgroup").write_text(cgroup)
    return proc


def test_each_controller_is_found_by_itself(tmp_path: Path) -> None:
    """Memory and CPU time in version 1, the number of processes in version 2, beside our own cgroup."""
    for folder in ("memory/a", "cpu/a b", "unified/slice/scope"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "unified" / "slice" / "cgroup.subtree_control").write_text("pids\n")
    (tmp_path / "unified" / "slice" / "cgroup.procs").touch()
    proc = fake(tmp_path, MOUNTINFO, "3:memory:/a\n2:cpu,cpuacct:/a b\n0::/slice/scope\n")
    assert controllers.detect(proc) == (
        Controller(MEMORY, 1, tmp_path / "memory/a", tmp_path / "memory/a"),
        Controller(PIDS, 2, tmp_path / "unified/slice/scope", tmp_path / "unified/slice"),
        Controller(CPU, 1, tmp_path / "cpu/a b", tmp_path / "cpu/a b"),
    )
    assert not list(tmp_path.rglob("agent-tui-*"))


def test_what_may_not_be_written_is_not_used(tmp_path: Path) -> None:
    proc = fake(tmp_path, MOUNTINFO, "3:memory:/nosuch\n0::/\n")
    assert controllers.detect(proc) == ()
    assert controllers.detect(tmp_path / "nosuch") == ()


def test_a_hierarchy_mounted_from_a_folder_of_it(tmp_path: Path) -> None:
    (tmp_path / "memory" / "inner").mkdir(parents=True)
    line = "30 25 0:27 /docker/1 {root}/memory rw - cgroup cgroup rw,memory\n"
    found = controllers.detect(fake(tmp_path, line, "3:memory:/docker/1/inner\n"))
    assert [one.base for one in found] == [tmp_path / "memory" / "inner"]


def test_version_2_files_get_the_limits_and_give_the_counts(tmp_path: Path) -> None:
    """On plain files: what is written where, and what is read from it. No kernel takes part."""
    base = tmp_path / "slice"
    group = base / owners.own_name() / "1"
    group.mkdir(parents=True)
    for name in ("memory.max", "memory.swap.max", "pids.max", "cgroup.procs"):
        (group / name).touch()
    (group / "memory.events").write_text("low 0\noom 1\noom_kill 3\n")
    (group / "pids.events").write_text("max 2\n")
    (group / "cpu.stat").write_text("usage_usec 500000\nuser_usec 1\n")
    found = tuple(Controller(name, 2, base / "scope", base) for name in (MEMORY, PIDS, CPU))
    watched: list[Path] = []
    all_of_them = Allotments(watch=watched.append, detect=lambda: found)
    allotment = all_of_them.take(Limits(memory_bytes=1000, processes=10))
    assert allotment is not None and watched == [base / owners.own_name()]
    assert (group / "memory.max").read_text() == "1000" and (group / "memory.swap.max").read_text() == "0"
    assert int((group / "pids.max").read_text()) == 13  # what holds the sandbox up is not the command's
    (group / "memory.events").write_text("low 0\noom 1\noom_kill 4\n")
    (group / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    counts = allotment.counts()
    assert (counts.killed, counts.refused, counts.cpu) == (1, 0, 2.0)
    allotment.admit(12345)
    assert (group / "cgroup.procs").read_text() == "12345"
    (group / "cgroup.procs").write_text("")
    all_of_them.give_back(allotment)
    assert all_of_them.take(Limits(memory_bytes=1000, processes=10)) is allotment
    assert allotment.counts().killed == 0


@pytest.fixture
def cgroups() -> tuple[Controller, ...]:
    found = starting.allotments.found()
    if not found:
        pytest.skip("this user may not make cgroups here")
    return found


async def test_commands_run_in_them_and_one_after_the_other_in_the_same(
    rig: Rig, walls: None, cgroups: tuple[Controller, ...]
) -> None:
    seen: set[str] = set()

    def where(_output: bytes) -> None:
        folders = [one.base / owners.own_name() for one in cgroups]
        for folder in folders:
            seen.update(str(file.parent) for file in folder.glob("*/cgroup.procs") if file.read_text().strip())

    async with rig.broker(Person()) as broker:
        for _ in range(3):
            await broker.run(RunArgv(("sh", "-c", "echo 1; sleep 0.2")), on_output=where)
    assert len(seen) == len(cgroups)


APP = """
import asyncio, sys
from pathlib import Path
from tests.sandbox.broker_kit import Person, Rig
from sandbox.limits import owners
from sandbox.operations import RunCommand

async def main():
    async with Rig(Path(sys.argv[1])).broker(Person()) as broker:
        await broker.run(RunCommand("true"))
        if sys.argv[2] == "long":
            await broker.run(RunCommand("sleep 600", background=True))
        print(owners.own_name(), flush=True)
        if sys.argv[2] != "end":
            sys.stdin.read()

asyncio.run(main())
"""


@pytest.mark.parametrize("how", ["end", "killed", "long"])
def test_none_is_left_when_the_app_is_gone(
    tmp_path: Path, walls: None, cgroups: tuple[Controller, ...], how: str
) -> None:
    app = _app(tmp_path, how)
    try:
        assert app.stdout is not None
        name = app.stdout.readline().decode().strip()
        folders = [one.base / name for one in cgroups]
        if how != "end":
            assert all(folder.is_dir() for folder in folders)
            app.kill()
        app.wait(20)
        assert until(lambda: not any(folder.exists() for folder in folders))
    finally:
        app.kill()
        app.communicate()


def test_what_nobody_was_left_to_remove_is_swept_at_the_next_start(cgroups: tuple[Controller, ...]) -> None:
    """In a folder of its own: every app that starts meanwhile sweeps the usual one."""
    base = cgroups[0].base / f"test-{os.getpid()}"
    gone = subprocess.Popen(["true"])
    gone.wait()
    namespace = owners.own_name().split("-")[2]
    stale, own = base / f"agent-tui-{namespace}-{gone.pid}-1", base / owners.own_name()
    foreign = base / f"agent-tui-1-{gone.pid}-1"
    left = subprocess.Popen(["sleep", "600"])
    try:
        for folder in (stale / "1", own, foreign):
            folder.mkdir(parents=True)
        (stale / "1" / "cgroup.procs").write_text(str(left.pid))
        Allotments(watch=lambda _folder: None, detect=lambda: (replace(cgroups[0], base=base),)).found()
        assert left.wait(10) == -9
        assert not stale.exists() and own.exists()
        assert foreign.exists(), "another PID namespace's folder says nothing about who is gone"
    finally:
        left.kill()
        for folder in (stale, own, foreign, base):
            owners.remove(folder)


def _app(base: Path, how: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", APP, str(base), how]
    return subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
