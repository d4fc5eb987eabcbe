"""A command through the broker against the same bwrap line started bare, and a small read through the helper."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from sandbox import open_broker
from sandbox.backends import pick_backend
from sandbox.backends.running import Launch
from sandbox.broker import Broker
from sandbox.operations import Outcome, ReadFile, RunArgv, Status
from sandbox.policies import named_policy
from tests.benchmarks.harness import interleaved, medians, ratio, timed

NAME = "sandbox"
TARGET = "Broker.run of /bin/true ≤ 1.3 × the same bwrap line bare; fs_read of 10 kB ≤ 1 ms"

ROUNDS = 60
READS = 200


def run() -> dict[str, float | str]:
    """The ratio, and milliseconds for orientation. The filter is read from a file by the bare line as well."""
    found = pick_backend().capabilities()
    if not found.contained:
        return {"skipped": found.why}
    with tempfile.TemporaryDirectory() as root, asyncio.Runner() as runner:
        base = Path(root)
        workspace = base / "workspace"
        workspace.mkdir()
        (workspace / "a").write_bytes(b"x" * 10_000)
        broker = runner.run(_open(base))
        try:
            return _measure(runner, broker, base)
        finally:
            runner.run(broker.close())


async def _open(base: Path) -> Broker:
    return await open_broker(
        named_policy("workspace", base / "workspace"),
        mode="deny",
        asker=None,
        rules_path=base / "config" / "rules.toml",
        audit_dir=base / "audit",
        state_dir=base / "state",
    )


def _measure(runner: asyncio.Runner, broker: Broker, base: Path) -> dict[str, float | str]:
    def through(work: Callable[[], Coroutine[Any, Any, Outcome]], times: int) -> float:
        async def several() -> None:
            for _ in range(times):
                done = await work()
                assert done.status is Status.OK, done

        return timed(lambda: runner.run(several())) / times

    line = _bare_line(broker, base)
    measured = interleaved(
        {
            "broker": lambda: through(lambda: broker.run(RunArgv(("/bin/true",))), 1),
            "bare": lambda: timed(lambda: _run_bare(line, base / "filter")),
            "read": lambda: through(lambda: broker.run(ReadFile("a")), READS // ROUNDS + 1),
        },
        rounds=ROUNDS,
        warm_up=5,
    )
    middle = medians(measured)
    return {
        "broker / bare": round(ratio(measured, "broker", "bare"), 3),
        "broker ms": round(middle["broker"] * 1000, 2),
        "bare ms": round(middle["bare"] * 1000, 2),
        "read 10 kB ms": round(middle["read"] * 1000, 3),
    }


def _bare_line(broker: Broker, base: Path) -> list[str]:
    """The command line the backend would use, with its options spelled out."""
    launch: Launch = broker._sandbox._wrap.launch(("/bin/true",), ".", {}, ())  # type: ignore[attr-defined]
    assert launch.options is not None
    options = launch.options.decode().split("\0")[:-1]
    (base / "filter").write_bytes(launch.filter)
    words = list(launch.argv)
    at = words.index("--args")
    return [*words[:at], *options, "--seccomp", "{filter}", *words[at + 2 :]]


def _run_bare(line: list[str], filter_file: Path) -> None:
    with filter_file.open("rb") as file:
        words = [str(file.fileno()) if word == "{filter}" else word for word in line]
        done = subprocess.run(words, env={}, stdin=subprocess.DEVNULL, capture_output=True, pass_fds=(file.fileno(),))
    assert done.returncode == 0, done.stderr
