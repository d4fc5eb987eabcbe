"""Every hard limit, reached for real: the command is stopped or refused, and the outcome says which limit it was.

Once with the cgroups this user may have, once without any. `test_limits_ordinary` runs all of it without rights.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.backends import starting, watchdog
from sandbox.limits.allotment import Allotments
from sandbox.operations import Outcome, PollBackground, RunArgv, RunCommand, Status
from sandbox.policies import named_policy
from sandbox.policy import Limits
from tests.sandbox.broker_kit import Person, Rig
from tests.sandbox.test_processes import ROOT, alive

PY = (os.path.realpath(sys.executable), "-I", "-S", "-c")
MB = 1_000_000


@pytest.fixture(params=["cgroups", "no cgroups"])
def layers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which layers hold the limits. Asking for cgroups where there are none is the same as going without."""
    if request.param == "no cgroups":
        without = Allotments(watch=watchdog.shared.remove_at_the_end, detect=lambda: ())
        monkeypatch.setattr(starting, "allotments", without)
    elif not starting.allotments.found():
        pytest.skip("this user may not make cgroups here")
    return str(request.param)


async def run(rig: Rig, command: str | tuple[str, ...], **limits: float) -> Outcome:
    policy = replace(named_policy("workspace", rig.workspace), limits=replace(Limits(), **limits))  # type: ignore[arg-type]
    operation = RunCommand(command, timeout=30) if isinstance(command, str) else RunArgv(command, timeout=30)
    async with rig.broker(Person(), policy=policy) as broker:
        return await broker.run(operation)


def says(done: Outcome, name: str, number: str) -> None:
    assert done.status is Status.FAILED, done
    assert f"limit: {name}" in done.error and number in done.error, done
    assert done.suggestion


BOMB = """
import os, sys, time
bombs = 0
while True:
    try:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        bombs += 1
    except OSError:
        print('forks', bombs, flush=True)
        time.sleep(0.5)
        sys.exit(1)
"""


async def test_a_fork_bomb_stops_at_the_limit(rig: Rig, walls: None, layers: str) -> None:
    done = await run(rig, (*PY, BOMB), processes=60)
    says(done, "processes", "60")
    counted = int(done.data.split()[1]) if done.data else 0
    # As root and without cgroups nothing refuses: the meter ends it, a little later.
    assert counted <= 60


async def test_a_bomb_that_multiplies_is_over_when_its_time_is(rig: Rig, walls: None, layers: str) -> None:
    bomb = (*PY, "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass")
    policy = replace(named_policy("workspace", rig.workspace), limits=Limits(processes=50))
    async with rig.broker(Person(), policy=policy) as broker:
        done = await broker.run(RunArgv(bomb, timeout=1))
        after = await broker.run(RunArgv(("/bin/echo", "usable")))
    assert done.status in (Status.TIMED_OUT, Status.FAILED)
    assert "limit: processes" in done.error
    assert after.data == b"usable\n"


async def test_threads_count_as_processes(rig: Rig, walls: None, layers: str) -> None:
    body = (
        "import threading, time\n"
        "for _ in range(100): threading.Thread(target=time.sleep, args=(5,), daemon=True).start()\n"
        "time.sleep(5)"
    )
    says(await run(rig, (*PY, body), processes=40), "processes", "40")


async def test_one_process_that_wants_too_much_memory(rig: Rig, walls: None, layers: str) -> None:
    says(await run(rig, (*PY, "x = bytearray(400_000_000)"), memory_bytes=200 * MB), "memory_bytes", "200,000,000")


async def test_many_that_want_too_much_memory_together(rig: Rig, walls: None, layers: str) -> None:
    body = (
        "import os, time\n"
        "for _ in range(6):\n"
        "    if os.fork() == 0:\n"
        "        x = bytearray(b'x' * 60_000_000); time.sleep(20); os._exit(0)\n"
        "for _ in range(6):\n"
        "    _, status = os.wait()\n"
        "    if status: raise SystemExit(1)\n"
    )
    says(await run(rig, (*PY, body), memory_bytes=200 * MB), "memory_bytes", "200,000,000")


async def test_memory_that_is_shared_between_processes_counts_too(rig: Rig, walls: None, layers: str) -> None:
    body = (
        "import mmap, time\nm = mmap.mmap(-1, 400_000_000)\n"
        "for i in range(0, len(m), 4096): m[i] = 1\ntime.sleep(20)"
    )  # fmt: skip
    says(await run(rig, (*PY, body), memory_bytes=200 * MB), "memory_bytes", "200,000,000")


async def test_processor_time_of_one_process(rig: Rig, walls: None, layers: str) -> None:
    says(await run(rig, (*PY, "while True: pass"), cpu_seconds=1), "cpu_seconds", "1 s")


async def test_processor_time_of_many_short_ones(rig: Rig, walls: None, layers: str) -> None:
    body = "import os\nwhile True:\n    if os.fork() == 0:\n        sum(range(300_000)); os._exit(0)\n    os.wait()"
    says(await run(rig, (*PY, body), cpu_seconds=0.5), "cpu_seconds", "0.5 s")


async def test_open_files(rig: Rig, walls: None, layers: str) -> None:
    done = await run(rig, (*PY, "x = [open('/dev/null') for _ in range(200)]"), open_files=100)
    says(done, "open_files", "100")


async def test_the_size_of_a_file(rig: Rig, walls: None, layers: str) -> None:
    says(await run(rig, "head -c 3000000 /dev/zero > big", file_bytes=MB), "file_bytes", "1,000,000")
    assert (rig.workspace / "big").stat().st_size <= MB


async def test_what_is_written_in_all(rig: Rig, walls: None, layers: str) -> None:
    script = "i=0; while :; do i=$((i+1)); head -c 1000000 /dev/urandom > f$i; done"
    says(await run(rig, script, written_bytes=30 * MB), "written_bytes", "30,000,000")


async def test_what_is_written_to_a_file_without_a_name(rig: Rig, walls: None, layers: str) -> None:
    body = (
        "import os, time\nf = open('gone', 'wb')\nos.unlink('gone')\n"
        "for _ in range(60): f.write(os.urandom(1_000_000))\nf.flush(); time.sleep(20)"
    )
    says(await run(rig, (*PY, body), written_bytes=30 * MB), "written_bytes", "30,000,000")


async def test_the_number_of_files(rig: Rig, walls: None, layers: str) -> None:
    says(await run(rig, "mkdir d; i=0; while :; do i=$((i+1)); : > d/$i; done", files=1000), "files", "1,000")


async def test_other_programs_that_fill_the_disk_do_not_count(rig: Rig, walls: None, layers: str) -> None:
    stop = asyncio.Event()

    async def fill() -> None:
        with (rig.base / "other").open("wb") as other:
            while not stop.is_set():
                other.write(os.urandom(1_000_000))
                other.flush()
                await asyncio.sleep(0.01)

    filling = asyncio.create_task(fill())
    done = await run(rig, "sleep 0.6; echo undisturbed", written_bytes=5 * MB)
    stop.set()
    await filling
    assert done.data == b"undisturbed\n" and done.status is Status.OK


@pytest.mark.parametrize("folder", ["/tmp", "$HOME", "/dev/shm"])
async def test_private_folders_hold_so_much_and_no_more(rig: Rig, walls: None, folder: str) -> None:
    done = await run(rig, f'head -c 30000000 /dev/zero > "{folder}/x"', scratch_bytes=10 * MB)
    says(done, "scratch_bytes", "10,000,000")


async def test_nothing_else_that_lives_in_memory_can_be_written(rig: Rig, walls: None) -> None:
    script = "for d in / /dev /run /usr /proc /dev/pts; do touch $d/x 2>/dev/null && echo $d; done; true"
    assert (await run(rig, script)).data == b""


async def test_output_in_all(rig: Rig, walls: None, layers: str) -> None:
    done = await run(rig, "yes", printed_bytes=5 * MB, output_bytes=1000)
    says(done, "printed_bytes", "5,000,000")
    assert len(done.data) == 1000 and done.truncated


async def test_a_background_command_is_held_as_well(rig: Rig, walls: None, layers: str) -> None:
    policy = replace(named_policy("workspace", rig.workspace), limits=Limits(cpu_seconds=0.5))
    async with rig.broker(Person(), policy=policy) as broker:
        begun = await broker.run(RunCommand("(while :; do :; done) & (while :; do :; done) & wait", background=True))
        ended = await broker.run(PollBackground(begun.handle, wait=20))
    says(ended, "cpu_seconds", "0.5 s")


async def test_what_keeps_within_its_limits_is_left_alone(rig: Rig, walls: None, layers: str) -> None:
    """The same command again and again: what one used up, the next one has again."""
    body = "x = bytearray(b'x' * 40_000_000); sum(range(2_000_000)); import time; time.sleep(0.1)"
    policy = replace(
        named_policy("workspace", rig.workspace), limits=Limits(memory_bytes=200 * MB, cpu_seconds=3, processes=20)
    )
    async with rig.broker(Person(), policy=policy) as broker:
        for _ in range(4):
            done = await broker.run(RunArgv((*PY, body)))
            assert done.status is Status.OK and not done.error, done


@pytest.mark.parametrize("limit", ["output_bytes", "written_bytes", "files", "scratch_bytes"])
async def test_small_limits_do_not_stop_what_needs_nothing(rig: Rig, walls: None, limit: str) -> None:
    done = await run(rig, "sleep 0.2", **{limit: 4096})
    assert done.status is Status.OK


async def test_what_a_refused_command_started_is_gone(rig: Rig, walls: None, layers: str) -> None:
    mark = f"{os.getpid()}77"
    done = await run(rig, f"for i in 1 2 3 4 5; do sleep 600.{mark} & done; yes", printed_bytes=MB)
    says(done, "printed_bytes", "1,000,000")
    assert alive(mark) == []


def test_sandbox_exec_says_it_too(tmp_path: Path, walls: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))
    (tmp_path / "work").mkdir()
    policy = tmp_path / "p.toml"
    policy.write_text('extends = "workspace"\n[limits]\ncpu_seconds = 1\nprocesses = 20\n')
    words = [sys.executable, "-m", "tui", "sandbox", "exec", "--policy", str(policy), "--", *PY]
    for body, name in (("while True: pass", "cpu_seconds"), (BOMB, "processes")):
        done = subprocess.run([*words, body], cwd=tmp_path / "work", capture_output=True, text=True, timeout=60)
        assert done.returncode != 0 and f"limit: {name}" in done.stderr, done
