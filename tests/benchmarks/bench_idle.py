"""What the open workbench costs while nothing happens: share of a core, and memory."""

from __future__ import annotations

import os
import select
import sys
import tempfile
import time
from pathlib import Path

import ptyprocess

from tests.benchmarks.bench_start import LAST, OURS, SIZE, environment, read

NAME = "idle"
TARGET = "the open workbench: CPU ≤ 0.5 % of a core, RSS ≤ 120 MB, nothing painted"
SETTLE, WATCH = 6.0, 20.0


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> float:
    """Megabytes in memory now."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def drain(fd: int, seconds: float) -> bytes:
    """Read what the app paints, as a terminal would, for so long."""
    until, seen = time.monotonic() + seconds, b""
    while (left := until - time.monotonic()) > 0:
        ready, _, _ = select.select([fd], [], [], left)
        if ready:
            painted = read(fd)
            if not painted:
                break
            seen += painted
    return seen


def run(settle: float = SETTLE, watch: float = WATCH) -> dict[str, float | str]:
    """Percent of a core and megabytes, once the engine is up and everything has been painted."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        process = ptyprocess.PtyProcess.spawn(
            [sys.executable, "-c", OURS], cwd=folder, env=environment(home), dimensions=SIZE
        )
        try:
            painted = drain(process.fd, settle)
            if LAST[OURS] not in painted:
                raise RuntimeError(f"the workbench did not open: {painted[-2000:].decode(errors='replace')}")
            before = cpu_seconds(process.pid)
            idle = drain(process.fd, watch)
            used = cpu_seconds(process.pid) - before
            return {"idle CPU, %": 100 * used / watch, "RSS, MB": resident(process.pid), "bytes painted": len(idle)}
        finally:
            process.terminate(force=True)
