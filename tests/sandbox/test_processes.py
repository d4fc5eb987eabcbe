"""Commands as process trees: everything a call started ends with it, whatever ends it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.operations import PollBackground, RunArgv, RunCommand, Status
from sandbox.policies import named_policy
from sandbox.policy import Limits
from tests.sandbox.broker_kit import Person, Rig

ROOT = Path(__file__).parent.parent.parent
TREE = "(sleep 600.{mark} &); setsid sleep 600.{mark} & sleep 600.{mark}"


def alive(mark: str) -> list[int]:
    """Processes of this machine with ``sleep 600.MARK`` as their command line; zombies have none."""
    wanted = f"sleep\x00600.{mark}\x00".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cmdline").read_bytes() == wanted:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def until(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Wait for a condition, in a thread that may block."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


async def started(mark: str, count: int = 3) -> None:
    assert await asyncio.to_thread(until, lambda: len(alive(mark)) == count)


@pytest.fixture
def mark() -> str:
    """A number that only this test's processes carry."""
    return f"{os.getpid()}{time.monotonic_ns() % 10**9}"


@pytest.mark.parametrize("backend", ["bwrap", "bare"])
async def test_cancelling_ends_the_whole_tree(rig: Rig, walls: None, mark: str, backend: str) -> None:
    script = TREE.format(mark=mark) if backend == "bwrap" else f"(sleep 600.{mark} &); sleep 600.{mark}"
    async with rig.broker(Person(), backend=backend) as broker:
        call = asyncio.create_task(broker.run(RunCommand(script)))
        await started(mark, 3 if backend == "bwrap" else 2)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert alive(mark) == []


async def test_a_second_cancellation_does_not_leave_anything(rig: Rig, walls: None, mark: str) -> None:
    async with rig.broker(Person()) as broker:
        call = asyncio.create_task(broker.run(RunCommand(f"trap '' TERM; sleep 600.{mark}; sleep 600.{mark}")))
        await started(mark, 1)
        call.cancel()
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert alive(mark) == []


async def test_time_out_ends_the_tree_and_says_so(rig: Rig, walls: None, mark: str) -> None:
    async with rig.broker(Person()) as broker:
        done = await broker.run(RunCommand(f"echo begun; {TREE.format(mark=mark)}", timeout=0.5))
    assert done.status is Status.TIMED_OUT
    assert done.data == b"begun\n"
    assert "0.5 s" in done.error and done.suggestion
    assert alive(mark) == []
    assert 0.4 < done.seconds < 30


async def test_what_ignores_the_polite_signal_is_killed(rig: Rig, walls: None, mark: str) -> None:
    async with rig.broker(Person()) as broker:
        done = await broker.run(RunCommand(f"trap '' TERM; while :; do sleep 600.{mark}; done", timeout=0.2))
    assert done.status is Status.TIMED_OUT
    assert alive(mark) == []


async def test_a_program_may_tidy_up_when_its_time_is_over(rig: Rig, walls: None) -> None:
    script = "trap 'echo tidied > left; exit 0' TERM; sleep 600 & wait"
    async with rig.broker(Person()) as broker:
        done = await broker.run(RunCommand(script, timeout=0.5))
    assert done.status is Status.TIMED_OUT
    assert (rig.workspace / "left").read_text() == "tidied\n"


async def test_what_is_left_behind_ends_with_the_command(rig: Rig, walls: None, mark: str) -> None:
    left = f"setsid sleep 600.{mark} >/dev/null 2>&1 & sleep 0.1; echo done"
    async with rig.broker(Person()) as broker:
        done = await broker.run(RunCommand(left))
    assert done.data == b"done\n" and done.status is Status.OK
    assert alive(mark) == []


APP = """
import asyncio, sys
from pathlib import Path
from tests.sandbox.broker_kit import Person, Rig
from sandbox.operations import RunCommand

async def main():
    async with Rig(Path(sys.argv[1])).broker(Person()) as broker:
        started = await broker.run(RunCommand(sys.argv[2], background=True))
        assert started.handle, started
        print("started", flush=True)
        await broker.run(RunCommand(sys.argv[2]))

asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_killing_the_app_leaves_no_process(tmp_path: Path, walls: None, mark: str, number: signal.Signals) -> None:
    app = subprocess.Popen(
        [sys.executable, "-c", APP, str(tmp_path), TREE.format(mark=mark)], cwd=ROOT, stdout=subprocess.PIPE
    )
    try:
        assert app.stdout is not None and app.stdout.readline() == b"started\n"
        assert until(lambda: len(alive(mark)) == 6)
        app.send_signal(number)
        app.wait(10)
        assert until(lambda: alive(mark) == [])
    finally:
        app.kill()
        app.communicate()


STARTER = """
import asyncio, os, sys
from pathlib import Path
from tests.sandbox.broker_kit import Person, Rig
from sandbox.operations import RunCommand

async def main():
    async with Rig(Path(sys.argv[1])).broker(Person()) as broker:
        await broker.run(RunCommand("true"))
        print("ready", flush=True)
        await asyncio.gather(*(broker.run(RunCommand(sys.argv[2])) for _ in range(4)))

asyncio.run(main())
"""


@pytest.mark.parametrize("after_ms", [0, 1, 2, 4, 7, 12, 20])
def test_killing_the_app_while_a_sandbox_is_being_set_up(tmp_path: Path, walls: None, mark: str, after_ms: int) -> None:
    app = subprocess.Popen(
        [sys.executable, "-c", STARTER, str(tmp_path), f"sleep 600.{mark}"], cwd=ROOT, stdout=subprocess.PIPE
    )
    try:
        assert app.stdout is not None and app.stdout.readline() == b"ready\n"
        time.sleep(after_ms / 1000)  # the moment under test, not a wait for something
        app.kill()
        app.wait(10)
        assert until(lambda: _no_bwrap_of(tmp_path) and alive(mark) == [])
    finally:
        app.kill()
        app.communicate()


def _no_bwrap_of(folder: Path) -> bool:
    """No process holds the workspace as its folder or its mount."""
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(folder) in (entry / "mountinfo").read_text():
                return False
        except OSError:
            continue
    return True


async def test_works_on_a_loop_that_is_not_on_the_main_thread(rig: Rig, walls: None) -> None:
    async def work() -> bytes:
        async with rig.broker(Person()) as broker:
            return (await broker.run(RunCommand("echo hello"))).data

    found: list[bytes] = []
    thread = threading.Thread(target=lambda: found.append(asyncio.run(work())))
    thread.start()
    await asyncio.to_thread(thread.join, 20)
    assert found == [b"hello\n"]


async def test_output_arrives_in_order_and_as_it_is_written(rig: Rig, walls: None) -> None:
    pieces: list[bytes] = []
    first = asyncio.Event()

    def take(data: bytes) -> None:
        pieces.append(data)
        first.set()

    async with rig.broker(Person()) as broker:
        script = "echo one; echo two >&2; until [ -e go ]; do sleep 0.01; done; echo three"
        call = asyncio.create_task(broker.run(RunCommand(script), on_output=take))
        await asyncio.wait_for(first.wait(), 10)
        assert not call.done()
        (rig.workspace / "go").touch()
        done = await call
    assert b"".join(pieces) == done.data == b"one\ntwo\nthree\n"


async def test_output_is_bounded_and_counted(rig: Rig, walls: None) -> None:
    policy = replace(named_policy("workspace", rig.workspace), limits=Limits(output_bytes=1000))
    async with rig.broker(Person(), policy=policy) as broker:
        done = await broker.run(RunCommand("head -c 3000000 /dev/zero"))
    assert len(done.data) == 1000 and done.total == 3_000_000 and done.truncated


async def test_binary_output_is_passed_on_unchanged(rig: Rig, walls: None) -> None:
    async with rig.broker(Person()) as broker:
        done = await broker.run(RunCommand(r"printf '\xff\xfe\x00a'"))
    assert done.data == b"\xff\xfe\x00a"


async def test_stdin_is_empty(rig: Rig, walls: None) -> None:
    async with rig.broker(Person()) as broker:
        assert (await broker.run(RunCommand("cat; echo end"))).data == b"end\n"


@pytest.mark.parametrize(
    ("command", "code"), [("true", 0), ("exit 7", 7), ("kill -9 $$", 137), ("nosuchprogram", 127), ("./nosuch", 127)]
)
async def test_exit_codes(rig: Rig, walls: None, command: str, code: int) -> None:
    async with rig.broker(Person()) as broker:
        done = await broker.run(RunCommand(command))
    assert done.exit_code == code
    assert (done.status is Status.OK) == (code == 0)


async def test_programs_without_a_shell_and_what_cannot_be_started(rig: Rig, walls: None) -> None:
    async with rig.broker(Person()) as broker:
        said = await broker.run(RunArgv(("printf", "%s|", "a b", "$HOME", "*")))
        missing = await broker.run(RunArgv(("nosuchprogram",)))
        nowhere = await broker.run(RunArgv(("true",), cwd="nosuch"))
    assert said.data == b"a b|$HOME|*|"
    assert missing.exit_code == 127 and "nosuchprogram" in missing.error and missing.suggestion
    assert nowhere.status is Status.ERROR and "nosuch" in nowhere.error


async def test_a_file_over_the_limit_names_the_limit(rig: Rig, walls: None) -> None:
    policy = replace(named_policy("workspace", rig.workspace), limits=Limits(file_bytes=1_000_000))
    async with rig.broker(Person(), policy=policy) as broker:
        done = await broker.run(RunArgv(("dd", "if=/dev/zero", "of=big", "bs=1M", "count=3")))
    assert done.status is Status.FAILED
    assert "1,000,000 bytes" in done.error
    assert (rig.workspace / "big").stat().st_size <= 1_000_000


async def test_background_commands_are_read_on_and_stopped(rig: Rig, walls: None, mark: str) -> None:
    async with rig.broker(Person()) as broker:
        script = f"echo one; until [ -e go ]; do sleep 0.01; done; echo two; sleep 600.{mark}"
        begun = await broker.run(RunCommand(script, background=True))
        assert begun.status is Status.OK and begun.handle

        while not (first := await broker.run(PollBackground(begun.handle))).data:
            await asyncio.sleep(0.01)
        assert first.data == b"one\n" and first.handle == begun.handle and first.exit_code is None
        (rig.workspace / "go").touch()
        await started(mark, 1)
        second = await broker.run(PollBackground(begun.handle, offset=4))
        assert second.data == b"two\n"
        stopped = await broker.run(PollBackground(begun.handle, offset=8, stop=True))
        assert stopped.handle == "" and stopped.exit_code is not None and stopped.data == b""
        assert alive(mark) == []


async def test_waiting_for_a_background_command_ends_with_it(rig: Rig, walls: None) -> None:
    async with rig.broker(Person()) as broker:
        begun = await broker.run(RunCommand("sleep 0.1; echo end; exit 3", background=True))
        ended = await broker.run(PollBackground(begun.handle, wait=30))
        again = await broker.run(PollBackground(begun.handle))
        unknown = await broker.run(PollBackground("bg-99"))
    assert ended.data == again.data == b"end\n"
    assert ended.exit_code == 3 and ended.handle == "" and ended.status is Status.FAILED
    assert unknown.status is Status.ERROR and begun.handle in unknown.suggestion


async def test_closing_ends_background_commands(rig: Rig, walls: None, mark: str) -> None:
    async with rig.broker(Person()) as broker:
        await broker.run(RunCommand(TREE.format(mark=mark), background=True))
        await started(mark)
    assert alive(mark) == []


async def test_wall_time_of_the_policy_ends_background_commands(rig: Rig, walls: None, mark: str) -> None:
    policy = replace(named_policy("workspace", rig.workspace), limits=Limits(wall_seconds=0.5))
    async with rig.broker(Person(), policy=policy) as broker:
        begun = await broker.run(RunCommand(f"sleep 600.{mark}", background=True))
        ended = await broker.run(PollBackground(begun.handle, wait=20))
    assert ended.status is Status.TIMED_OUT and ended.handle == ""
    assert alive(mark) == []
