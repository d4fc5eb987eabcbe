"""How long until the first frame: the workbench and a bare Textual app, by turns, in a real pseudo-terminal."""

from __future__ import annotations

import os
import select
import statistics
import sys
import tempfile
import time
from pathlib import Path

import ptyprocess

ROOT = Path(__file__).parent.parent.parent
NAME = "start"
TARGET = "first paint ≤ 1.6 × a bare Textual app with five static panes"
ROUNDS = 11
SIZE = (40, 120)

BARE = """
from textual.app import App
from textual.widgets import Static

class Bare(App):
    def compose(self):
        for n in range(5):
            yield Static(f"pane {n}")

Bare().run()
"""
OURS = "import sys; from tui.main import main; sys.exit(main([]))"
# The last word each paints, at the bottom of its screen: when it has come, so has everything above it.
LAST = {BARE: b"pane 4", OURS: b"help"}


def environment(home: Path) -> dict[str, str]:
    """A terminal with colours, and settings so that the workbench itself is what opens."""
    settings = home / "config" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.touch()
    terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    return {**os.environ, **terminal, "AGENT_TUI_HOME": str(home), "PYTHONPATH": str(ROOT)}


def read(fd: int) -> bytes:
    """What was painted; nothing when the process has ended."""
    try:
        return os.read(fd, 65536)
    except OSError:
        return b""


def first_frame(code: str, home: Path, timeout: float = 30.0) -> float:
    """Seconds from the start of the process until its first frame has arrived. Raises RuntimeError."""
    started = time.perf_counter()
    process = ptyprocess.PtyProcess.spawn(
        [sys.executable, "-c", code], cwd=str(home), env=environment(home), dimensions=SIZE
    )
    seen = b""
    try:
        while time.perf_counter() - started < timeout:
            ready, _, _ = select.select([process.fd], [], [], 0.5)
            if ready:
                painted = read(process.fd)
                seen += painted
                if LAST[code] in seen:
                    return time.perf_counter() - started
                if not painted:
                    break
        raise RuntimeError(f"no first frame: {seen[-2000:].decode(errors='replace')}")
    finally:
        process.terminate(force=True)


def run(rounds: int = ROUNDS) -> dict[str, float | str]:
    """Medians in seconds and their ratio. One run of each beforehand warms the disk and writes the byte code."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        taken: dict[str, list[float]] = {BARE: [], OURS: []}
        for round_ in range(rounds + 1):
            for code in taken:
                seconds = first_frame(code, home)
                if round_:
                    taken[code].append(seconds)
    bare, ours = statistics.median(taken[BARE]), statistics.median(taken[OURS])
    return {"bare app, s": bare, "workbench, s": ours, "first paint, ratio": ours / bare}
