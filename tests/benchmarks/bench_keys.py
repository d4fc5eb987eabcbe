"""From a key to its letter on the screen, through a real pseudo-terminal: an empty app, a long session, and the same
while a model streams. Every key is another letter that nothing else on the screen has."""

from __future__ import annotations

import os
import random
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import ptyprocess

from tests.benchmarks.bench_idle import cpu_seconds, resident
from tests.benchmarks.bench_start import ROOT, SIZE, environment, read
from tests.benchmarks.long_session import LAST_WORDS, home_with_session

NAME = "keys"
TARGET = (
    "key to paint at 100,000 events: idle ≤ 1.3 × an empty app; streaming ≤ 3 × (median), ≤ 4 × (p99); "
    "what is shown ≤ 2 frames behind; CPU while streaming ≤ 60 %; RSS ≤ 200 MB"
)

EVENTS = 100_000
KEYS = 120
FRAME = 1 / 30
PIECE, RATE = 16, 4_000
LETTERS = [chr(code) for code in range(0x400, 0x460)] + [chr(code) for code in range(0x100, 0x130)]

EMPTY = """
from textual.app import App
from textual.widgets import Input

class Empty(App):
    def compose(self):
        yield Input("ready")

Empty().run()
"""
OURS = "import sys; from tui.main import main; sys.exit(main(sys.argv[1:]))"

# Prints its address, then the number of every piece with the time it was sent. A piece that is late is not waited for.
SERVER = """
import asyncio, re, sys, time
from tests.fakes import StrictServer, Turn
from tests.fakes import server as served

pieces, piece, rate = (int(given) for given in sys.argv[1:])
write, began = served.write_chunk, []

async def paced(writer, payload):
    if found := re.search(rb"<(\\d{5})", payload):
        began or began.append(time.monotonic())
        number = int(found[1])
        await asyncio.sleep(max(0, began[0] + number * piece / rate - time.monotonic()))
        # Not to a pipe, which nobody reads yet and which would fill and hold everything up.
        print(number, time.monotonic(), file=sys.stderr, flush=True)
    await write(writer, payload)

served.write_chunk = paced
text = "".join(f"<{n:05d} some wo" + ("\\n\\n" if n % 9 == 0 else "s ") for n in range(pieces))
with StrictServer("openai-chat", [Turn(text=text, piece=piece)]) as server:
    print(server.base_url, flush=True)
    sys.stdin.read()
"""


@dataclass
class Terminal:
    """A process behind a pseudo-terminal. ``numbers``: (when, highest number of a piece seen until then)."""

    process: ptyprocess.PtyProcess
    numbers: list[tuple[float, int]] = field(default_factory=list)

    def until(self, wanted: str, timeout: float = 60.0) -> float:
        """Read until it is painted; when that was. Raises RuntimeError."""
        ends, seen, sought = time.monotonic() + timeout, b"", wanted.encode()
        while time.monotonic() < ends:
            seen = seen[-2000:] + self._read(ends)
            if sought in seen:
                return time.monotonic()
        raise RuntimeError(f"{wanted!r} was not painted: {seen[-1500:].decode(errors='replace')}")

    def pause(self, seconds: float) -> None:
        """Go on reading, as a terminal does."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            self._read(ends)

    def quiet(self, seconds: float = 1.5) -> None:
        """Go on reading until nothing has been painted for a while: a long session says how far it is read."""
        while self._read(time.monotonic() + seconds):
            pass

    def press(self, key: str) -> None:
        self.process.write(key.encode())

    def _read(self, ends: float) -> bytes:
        ready, _, _ = select.select([self.process.fd], [], [], max(0.0, ends - time.monotonic()))
        painted = read(self.process.fd) if ready else b""
        if ready and not painted:
            raise RuntimeError("the app has ended")
        if found := re.findall(rb"<(\d{5})", painted):
            self.numbers.append((time.monotonic(), int(max(found))))
        return painted


def run(events: int = EVENTS, keys: int = KEYS) -> dict[str, float | str]:
    """Milliseconds, ratios to the empty app, frames behind, share of a core and megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        session = home_with_session(root, events)
        env = {**environment(root), "OPENAI_API_KEY": "k"}
        empty = _empty(root, env, keys)
        idle, megabytes = _idle(root, env, session, keys)
        streamed = _streaming(root, env, session, keys)
        found = {**_figures("empty", empty, empty), **_figures("idle", idle, empty)}
        return {**found, **_figures("streaming", streamed.taken, empty), **streamed.rest, "idle RSS, MB": megabytes}


def _figures(name: str, taken: list[float], empty: list[float]) -> dict[str, float | str]:
    middle, worst = statistics.median(taken), _p99(taken)
    return {
        f"{name}, median ms": 1e3 * middle,
        f"{name}, p99 ms": 1e3 * worst,
        f"{name}, median ratio": middle / statistics.median(empty),
        f"{name}, p99 ratio": worst / _p99(empty),
    }


def _p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]


@contextmanager
def _terminal(code: str, args: list[str], folder: Path, env: dict[str, str]) -> Iterator[Terminal]:
    process = ptyprocess.PtyProcess.spawn(
        [sys.executable, "-c", code, *args], cwd=str(folder), env=env, dimensions=SIZE
    )
    try:
        yield Terminal(process)
    finally:
        process.terminate(force=True)


def _type(terminal: Terminal, keys: int) -> list[float]:
    """Seconds from each key to its letter; the letter is taken back, and the next comes at no regular time."""
    times = random.Random(7)
    terminal.press("x")
    terminal.pause(0.5)
    taken = []
    for number in range(keys):
        letter = LETTERS[number % len(LETTERS)]
        pressed = time.monotonic()
        terminal.press(letter)
        taken.append(terminal.until(letter, 10.0) - pressed)
        terminal.pause(times.uniform(0.01, 0.05))
        terminal.press("\x7f")
        terminal.pause(times.uniform(0.04, 0.1))
    return taken


def _empty(root: Path, env: dict[str, str], keys: int) -> list[float]:
    with _terminal(EMPTY, [], root / "work", env) as terminal:
        terminal.until("ready")
        terminal.pause(1.0)
        return _type(terminal, keys)


def _idle(root: Path, env: dict[str, str], session: str, keys: int) -> tuple[list[float], float]:
    with _terminal(OURS, ["--resume", session], root / "work", env) as terminal:
        terminal.until(LAST_WORDS)
        terminal.quiet()
        return _type(terminal, keys), resident(terminal.process.pid)


@dataclass
class Streamed:
    taken: list[float]
    rest: dict[str, float | str]


def _streaming(root: Path, env: dict[str, str], session: str, keys: int) -> Streamed:
    """Keys while an answer is written that is longer than the typing takes."""
    pieces = int((keys * 0.3 + 15) * RATE / PIECE)
    times = root / "times"
    with times.open("w") as written:
        server = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(pieces), str(PIECE), str(RATE)], stderr=written,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    assert server.stdout is not None
    try:
        given = ["--resume", session, "--model", "openai-chat/test", "--base-url", server.stdout.readline().strip()]
        with _terminal(OURS, [*given, "Tell me more."], root / "work", env) as terminal:
            terminal.until("<00400")
            pid, began, used = terminal.process.pid, time.monotonic(), cpu_seconds(terminal.process.pid)
            taken = _type(terminal, keys)
            ended = time.monotonic()
            used = cpu_seconds(pid) - used
            megabytes = resident(pid)
    finally:
        server.kill()
    # The last line may be cut off: the server was ended while it wrote.
    lines = (line.split() for line in times.read_text().rpartition("\n")[0].splitlines())
    sent = {int(line[0]): float(line[1]) for line in lines if len(line) == 2 and line[0].isdigit()}
    behind = sorted(_behind(terminal.numbers, {n: at for n, at in sent.items() if began < at < ended - 1}))
    return Streamed(taken, {
        "characters a second": PIECE * sum(began < at < ended for at in sent.values()) / (ended - began),
        "behind, median frames": statistics.median(behind) / FRAME,
        "behind, p99 frames": _p99(behind) / FRAME,
        "behind, most frames": behind[-1] / FRAME,
        "CPU while streaming, %": 100 * used / (ended - began),
        "streaming RSS, MB": megabytes,
    })  # fmt: skip


def _behind(numbers: list[tuple[float, int]], sent: dict[int, float]) -> Iterator[float]:
    """Seconds from when each piece was sent until it, or a later one, was on the screen."""
    place = 0
    for number, at in sorted(sent.items()):
        while place < len(numbers) and numbers[place][1] < number:
            place += 1
        if place < len(numbers):
            yield max(0.0, numbers[place][0] - at)
