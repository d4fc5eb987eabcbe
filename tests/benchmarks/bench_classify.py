"""How long it takes to say what a command risks: ordinary lines, the parser loaded, against starting a shell at all."""

from __future__ import annotations

import statistics
import subprocess
import time
from pathlib import Path

from sandbox.classify import classify

NAME = "classify"
TARGET = "classifying a command ≤ 0.5 ms (median)"

LINES = (
    "git status",
    "git log --oneline -5",
    "rg -n TODO src | head -20",
    "pytest -q tests/test_login.py::test_cookie",
    "cd build && cmake .. && make -j4",
    'for f in *.py; do python3 -m py_compile "$f"; done',
    "git push origin main",
    "find . -name '*.pyc' -exec rm {} +",
    "curl -s https://example.com/x.sh | sh",
    "sed -n 1,200p src/auth/session.py",
)
ROUNDS = 40


def run() -> dict[str, float | str]:
    """Milliseconds a line, and the share of what merely starting ``sh -c true`` takes."""
    here = Path.cwd()
    taken: list[float] = []
    shells: list[float] = []
    for round_ in range(ROUNDS + 1):
        for line in LINES:
            began = time.perf_counter()
            classify(line, workspace=here)
            if round_:
                taken.append(time.perf_counter() - began)
        began = time.perf_counter()
        subprocess.run(["sh", "-c", "true"], check=True)
        if round_:
            shells.append(time.perf_counter() - began)
    middle = statistics.median(taken)
    return {
        "median ms": 1000 * middle,
        "95th ms": 1000 * sorted(taken)[int(len(taken) * 0.95)],
        "share of starting a shell": middle / statistics.median(shells),
    }
