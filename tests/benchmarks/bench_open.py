"""How long until the end of a stored session is on the screen: a long one and one of a few events, by turns, in a real
pseudo-terminal; and what the long one takes once all of it is read."""

from __future__ import annotations

import select
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import ptyprocess

from tests.benchmarks.bench_idle import resident
from tests.benchmarks.bench_start import SIZE, environment, read
from tests.benchmarks.long_session import LAST_WORDS, home_with_session

NAME = "open"
TARGET = "a session of 100,000 events: first paint ≤ 1.5 × one of a few events; RSS ≤ 200 MB"
EVENTS, FEW = 100_000, 12
ROUNDS = 7
QUIET = 1.5
"""Seconds without anything painted after which all has been read: how far it is is shown meanwhile."""

RESUME = "import sys; from tui.main import main; sys.exit(main(['--resume', sys.argv[1]]))"


@dataclass(frozen=True)
class Opened:
    """Seconds until the end was painted and until all was read; megabytes then."""

    painted: float
    read: float
    megabytes: float


def opened(root: Path, session: str, *, wait: bool) -> Opened:
    """Open ``session`` of the home below ``root``; ``wait`` until all of it is read. Raises RuntimeError."""
    started = time.perf_counter()
    process = ptyprocess.PtyProcess.spawn(
        [sys.executable, "-c", RESUME, session], cwd=str(root / "work"), env=environment(root), dimensions=SIZE
    )
    try:
        painted = _until(process.fd, LAST_WORDS.encode(), started + 60) - started
        return Opened(painted, (_quiet(process.fd) if wait else 0.0) - started, resident(process.pid))
    finally:
        process.terminate(force=True)


def _until(fd: int, wanted: bytes, ends: float) -> float:
    seen = b""
    while time.perf_counter() < ends:
        ready, _, _ = select.select([fd], [], [], 0.5)
        if ready and not (painted := read(fd)):
            break
        seen = seen[-1000:] + (painted if ready else b"")
        if wanted in seen:
            return time.perf_counter()
    raise RuntimeError(f"the end of the session was not painted: {seen.decode(errors='replace')}")


def _quiet(fd: int) -> float:
    """When the last thing was painted before a pause."""
    last = time.perf_counter()
    while True:
        ready, _, _ = select.select([fd], [], [], QUIET)
        if not ready or not read(fd):
            return last
        last = time.perf_counter()


def run(events: int = EVENTS, rounds: int = ROUNDS) -> dict[str, float | str]:
    """Medians in seconds, their ratio, and megabytes. One run of each beforehand warms the disk."""
    with tempfile.TemporaryDirectory() as folder:
        sizes = {FEW: Path(folder) / "few", events: Path(folder) / "many"}
        sessions = {size: home_with_session(root, size) for size, root in sizes.items()}
        taken: dict[int, list[float]] = {FEW: [], events: []}
        for round_ in range(rounds + 1):
            for size, root in sizes.items():
                found = opened(root, sessions[size], wait=False)
                if round_:
                    taken[size].append(found.painted)
        whole = opened(sizes[events], sessions[events], wait=True)
        few = opened(sizes[FEW], sessions[FEW], wait=True)
    short, long = statistics.median(taken[FEW]), statistics.median(taken[events])
    return {
        "a few events, s": short,
        f"{events:,} events, s": long,
        "first paint, ratio": long / short,
        "until all is read, s": whole.read,
        "a few events, RSS MB": few.megabytes,
        f"{events:,} events, RSS MB": whole.megabytes,
    }
