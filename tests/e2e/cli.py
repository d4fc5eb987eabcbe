"""Runs the installed command as a person's script would: a process of its own, a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMMAND = (sys.executable, "-m", "tui")
SECONDS = 120


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a machine with nothing configured: no keys, no proxies, everything below ``home``."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL", "TMPDIR")}
    return {**kept, "HOME": str(home), "AGENT_TUI_HOME": str(home / "app"), "TERM": "xterm-256color", **more}


@dataclass(frozen=True)
class Finished:
    """How a run of the command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def agent_tui(
    arguments: Sequence[str], home: Path, cwd: Path, env: Mapping[str, str] | None = None, stdin: str = ""
) -> Finished:
    """Run ``agent-tui`` to its end."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd,
        env=environment(home, PYTHONPATH=str(Path(__file__).parents[2]), **(env or {})),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    return Finished(done.returncode, done.stdout, done.stderr)
