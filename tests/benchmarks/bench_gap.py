"""From the end of an answer to the next request, with a trivial tool between, less the tool's own time.

The whole engine runs, sandbox and log included, against a strict local server in a process of its own.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from engine.commands import OpenSession, SendMessage
from engine.engine import Engine
from engine.events import AnyEvent, Stored
from engine.options import EngineOptions

NAME = "gap"
TARGET = "from the end of an answer to the next request ≤ 15 ms above the tool's own time (median), each wire format"

TURNS = 60
MODELS = {"anthropic": "anthropic/claude-test", "openai": "openai/gpt-test", "openai-chat": "openai-chat/test"}

# Prints its address, then when each request had come, before it is looked at, and when each answer was sent.
SERVER = """
import json, sys, time
from tests.fakes import Call, StrictServer, Turn
format, turns = sys.argv[1], int(sys.argv[2])

class Timed(StrictServer):
    def _check(self, request):
        came = time.monotonic()
        status, problem, body = super()._check(request)
        print(json.dumps({"came": came, "problem": problem}), flush=True)
        return status, problem, body

    async def _play(self, turn, body, reader, writer):
        goes_on = await super()._play(turn, body, reader, writer)
        print(json.dumps({"ended": time.monotonic()}), flush=True)
        return goes_on

steps = [Turn(calls=(Call("fs_read", {"path": "a.txt", "offset": n}),)) for n in range(1, turns + 1)]
with Timed(format, [*steps, Turn(text="Done.")], by_history=True) as server:
    print(server.base_url, flush=True)
    sys.stdin.read()
"""


@dataclass
class Served:
    """The server's own account: when answers ended and requests came, in seconds of the monotonic clock."""

    base_url: str
    process: subprocess.Popen[str]

    def account(self) -> tuple[list[float], list[float]]:
        """End it; the times answers ended and the times requests came. Raises RuntimeError when one was refused."""
        import json

        out, _ = self.process.communicate()
        rows = [json.loads(line) for line in out.splitlines()]
        if problems := [row["problem"] for row in rows if row.get("problem")]:
            raise RuntimeError(f"the server refused a request: {problems[0]}")
        return [row["ended"] for row in rows if "ended" in row], [row["came"] for row in rows if "came" in row]


def run() -> dict[str, float | str]:
    """Milliseconds, median and 95th of a hundred, for each wire format, of one session of many short turns."""
    found: dict[str, float | str] = {}
    for format in MODELS:
        gaps = sorted(_gaps(format))
        found[f"{format} median ms"] = statistics.median(gaps)
        found[f"{format} 95th ms"] = gaps[int(len(gaps) * 0.95)]
    return found


def _gaps(format: str) -> list[float]:
    with tempfile.TemporaryDirectory() as root, _server(format) as served:
        env = {"AGENT_TUI_HOME": f"{root}/home", "ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "HOME": root}
        with patch.dict(os.environ, env):
            tools = asyncio.run(_session(format, served.base_url, Path(root)))
        ended, came = served.account()
    if len(tools) != TURNS:
        raise RuntimeError(f"{len(tools)} of {TURNS} tools ran")
    return [1000 * (after - end - tool) for end, after, tool in zip(ended[:-1], came[1:], tools, strict=True)]


async def _session(format: str, base_url: str, root: Path) -> list[float]:
    """Run one task to its end; the seconds each tool says it took."""
    folder = root / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("line\n" * (TURNS + 1))
    tools: list[float] = []

    def publish(event: AnyEvent) -> None:
        if isinstance(event, Stored) and event.type == "tool_result":
            tools.append(event.seconds)

    options = EngineOptions(cwd=folder, model=MODELS[format], base_url=base_url, approve="sandboxed")
    engine = Engine(options, publish, headless=True)
    try:
        runner = await engine.open(OpenSession())
        await engine.handle(SendMessage(runner.session.id, "Read it line by line."))
        await runner.idle()
    finally:
        await engine.close()
    return tools


@contextmanager
def _server(format: str) -> Iterator[Served]:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, format, str(TURNS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield Served(process.stdout.readline().strip(), process)
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    began = time.monotonic()
    for key, value in run().items():
        print(f"{key:<24} {value:8.2f}")
    print(f"in {time.monotonic() - began:.1f} s")
