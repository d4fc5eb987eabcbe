"""Appending an event against a raw sqlite3 insert of the same bytes, each its own commit, with the same durability."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path

from engine import events as ev
from engine.log import LogStore, rows
from engine.paths import Home
from tests.benchmarks.harness import interleaved, medians, ratio, timed

NAME = "append"
TARGET = "append ≤ 2 × a raw sqlite3 insert, in WAL mode with synchronous NORMAL and FULL"

ROUNDS = 11
BATCH = {"NORMAL": 3_000, "FULL": 100}

EVENT = ev.ToolResult(
    call_id="call_12",
    turn=3,
    name="fs_read",
    status="ok",
    text="def area(width, height):\n    return width * height\n" * 15,
    summary="30 lines",
    files_read=("shapes/area.py",),
    seconds=0.012,
)


def run() -> dict[str, float | str]:
    """Ratios, and microseconds an append for orientation. The baseline has the plainest table there can be."""
    found: dict[str, float | str] = {}
    with tempfile.TemporaryDirectory() as root:
        for level, batch in BATCH.items():
            folder = Path(root) / level
            ours, close_ours = _append(folder, batch, durable=level == "FULL")
            raw, close_raw = _insert(folder / "raw.db", batch, level)
            measured = interleaved({"append": ours, "raw insert": raw}, rounds=ROUNDS)
            close_ours()
            close_raw()
            found[f"{level} ratio"] = ratio(measured, "append", "raw insert")
            for name, seconds in medians(measured).items():
                found[f"{level} {name} µs"] = seconds * 1e6
    return found


def _append(folder: Path, batch: int, *, durable: bool) -> tuple[Callable[[], float], Callable[[], None]]:
    """Seconds an append through the log takes, of ``batch`` in a row; and what closes it."""
    writer = LogStore(Home(folder / "data", folder / "config", folder / "cache")).create()

    def work() -> None:
        for _ in range(batch):
            writer.append(EVENT, durable=durable)

    return lambda: timed(work) / batch, writer.close


def _insert(path: Path, batch: int, level: str) -> tuple[Callable[[], float], Callable[[], None]]:
    """Seconds a raw insert takes, of ``batch`` in a row; and what closes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(f"PRAGMA synchronous={level}")
    connection.execute("CREATE TABLE events (session TEXT, seq INTEGER, type TEXT, at TEXT, body TEXT)")
    row = ("20261130-102233-x7k2", 12_345, "tool_result", "2026-11-30T10:22:33.123456+00:00", rows.dump(EVENT))

    def work() -> None:
        for _ in range(batch):
            connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?)", row)

    return lambda: timed(work) / batch, connection.close
