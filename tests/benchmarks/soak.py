"""``python -m tests.benchmarks.soak [MINUTES]``: work at full rate for an hour, and what has become of it.

The real app in a real pseudo-terminal, with a strict server that writes 4,000 characters a second and calls commands
that run in the real sandbox, turn after turn; the window is small, so that the session is compacted again and again.
Every minute the memory is read and a few keys are timed. At the end the log is held against what the server sent.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine.log import LogStore
from engine.paths import Home
from engine.queries import ListSessions
from tests.benchmarks.bench_idle import cpu_seconds, resident
from tests.benchmarks.bench_keys import OURS, PIECE, RATE, Terminal, _terminal, _type
from tests.benchmarks.bench_start import ROOT, environment

MINUTES = 60.0
KEYS = 12
EVERY = 60.0
WINDOW = 32_000
LINES = 22

SERVER = """
import sys
from itertools import count
from tests.benchmarks.soak import answer
from tests.fakes import StrictServer

numbers = count(1)
with StrictServer("openai-chat", lambda body: answer(body, numbers)) as server:
    print(server.base_url, flush=True)
    sys.stdin.read()
    print(len(server.requests), server.rejections, flush=True)
"""


def words(number: int) -> str:
    """What the model says in turn ``number``."""
    says = f"<{number:05d} line {{}} of what there is to say here, **all of it** in `order`."
    return "\n\n".join(says.format(line) for line in range(LINES))


def answer(body: dict[str, object], numbers: Iterator[int]) -> object:
    """A note when the request asks for a summary, else the next turn."""
    from tests.fakes import Call, Turn

    messages = body["messages"]
    assert isinstance(messages, list)
    last = messages[-1]["content"]
    if "[compaction]" in (last if isinstance(last, str) else json.dumps(last)):
        return Turn(text="## Goal\nWork on.\n## Done\nMany steps.\n## Next\nThe next one.")
    number = next(numbers)
    call = Call("shell_run", {"command": f"echo step {number}; seq {number} {number + 40}"})
    return Turn(text=words(number), calls=(call,), piece=PIECE, delay=PIECE / RATE)


@dataclass(frozen=True)
class Sample:
    """Minutes since the start, megabytes, the median and the slowest key in ms, and the newest turn on the screen."""

    minute: float
    megabytes: float
    median: float
    slowest: float
    turn: int


@contextmanager
def _served() -> Iterator[tuple[subprocess.Popen[str], str]]:
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert server.stdout is not None
    try:
        yield server, server.stdout.readline().strip()
    finally:
        server.kill()


def soak(minutes: float) -> dict[str, float | str]:
    """Work for so long; what was measured."""
    with tempfile.TemporaryDirectory() as folder, _served() as (server, url):
        root = Path(folder)
        (root / "work").mkdir()
        env = {**environment(root), "OPENAI_API_KEY": "k"}
        given = ["--model", "openai-chat/test", "--base-url", url, "--approve", "sandboxed", "--context-window",
                 str(WINDOW), "--max-turns", "1000000", "--max-tool-calls", "1000000"]  # fmt: skip
        with _terminal(OURS, [*given, "Work on."], root / "work", env) as terminal:
            terminal.until("<00002")
            began, used = time.monotonic(), cpu_seconds(terminal.process.pid)
            samples = list(_samples(terminal, began, minutes))
            share = (cpu_seconds(terminal.process.pid) - used) / (time.monotonic() - began)
            terminal.press("\x11")
            _ended(terminal)
        said, _ = server.communicate("", timeout=30)
        return {**_flat(samples), "CPU, %": 100 * share, **_kept(root), "server": said.strip()}


def _samples(terminal: Terminal, began: float, minutes: float) -> Iterator[Sample]:
    while (gone := time.monotonic() - began) < 60 * minutes:
        taken = _type(terminal, KEYS)
        terminal.press("\x7f")
        found = Sample(
            gone / 60,
            resident(terminal.process.pid),
            1e3 * statistics.median(taken),
            1e3 * max(taken),
            terminal.numbers[-1][1] if terminal.numbers else 0,
        )
        del terminal.numbers[:-1]
        keys = f"{found.median:5.1f} / {found.slowest:5.1f} ms"
        said = f"{found.minute:5.1f} min  {found.megabytes:6.1f} MB  keys {keys}  turn {found.turn}"
        print(said, file=sys.stderr, flush=True)
        yield found
        terminal.pause(min(EVERY, max(0.0, 60 * minutes - (time.monotonic() - began))))


def _ended(terminal: Terminal) -> None:
    ends = time.monotonic() + 30
    while terminal.process.isalive() and time.monotonic() < ends:
        try:
            terminal.pause(0.2)
        except RuntimeError:
            return


def _flat(samples: list[Sample]) -> dict[str, float | str]:
    """The first and the last fifth side by side; the first minutes, in which caches fill, belong to neither."""
    settled = samples[max(1, len(samples) // 12) :] or samples
    fifth = max(1, len(settled) // 5)
    first, last = settled[:fifth], settled[-fifth:]
    turns = statistics.median(s.turn for s in last) - statistics.median(s.turn for s in first)
    grown = statistics.median(s.megabytes for s in last) - statistics.median(s.megabytes for s in first)
    keys = [statistics.median(s.median for s in part) for part in (first, last)]
    return {
        "minutes": samples[-1].minute,
        "turns": samples[-1].turn,
        "MB at first": statistics.median(s.megabytes for s in first),
        "MB at last": statistics.median(s.megabytes for s in last),
        "MB for 1,000 turns": 1000 * grown / turns if turns else 0.0,
        "key at first, ms": keys[0],
        "key at last, ms": keys[1],
        "key, ratio": keys[1] / keys[0],
        "slowest key, ms": max(s.slowest for s in settled),
    }


def _kept(root: Path) -> dict[str, float | str]:
    """What the log holds, against what was sent: every turn whole and in its place, every call with its result."""
    store = LogStore(Home(root / "data", root / "config", root / "cache"))
    (row,) = store.list(ListSessions())
    loaded = store.load(row.id)
    answers = [e for e in loaded.events if e.type == "assistant_message"]
    whole = [e for e in answers if not e.aborted]
    texts = ["".join(b.text for b in e.blocks if b.kind == "text") for e in whole]
    results = {e.call_id for e in loaded.events if e.type == "tool_result"}
    calls = {call.id for e in whole for call in e.calls}
    wrong = sum(text != words(number) for number, text in enumerate(texts, 1))
    outputs = [e for e in loaded.events if e.type == "tool_result" and e.status == "ok"]
    return {
        "events": len(loaded.events),
        "compactions": sum(e.type == "compacted" for e in loaded.events),
        "answers": len(whole),
        "answers lost or changed": wrong,
        "calls without a result": len(calls - results),
        "commands that ran": sum(bool(re.match(r"step \d+\n", e.text.partition("]\n")[2] or e.text)) for e in outputs),
        "rows that cannot be read": len(loaded.skipped),
        "gaps": sum(b.seq != a.seq + 1 for a, b in zip(loaded.events, loaded.events[1:], strict=False)),
    }


def main() -> int:
    """Soak and print what was found."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else MINUTES
    print(json.dumps(soak(minutes), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
