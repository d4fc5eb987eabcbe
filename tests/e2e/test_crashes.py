"""kill -9 at every event boundary of the twelve-step task: nothing acknowledged is lost, the run goes on validly."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.cli import environment
from tests.e2e.task import STEPS
from tests.fakes import StrictServer

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("format", ["anthropic"])
def test_no_kill_at_any_event_loses_anything(format: str, tmp_path: Path) -> None:
    with StrictServer(format, STEPS, by_history=True) as server:  # type: ignore[arg-type]
        done = subprocess.run(
            [sys.executable, "-m", "tests.e2e.crasher", format, server.base_url, str(tmp_path)],
            cwd=ROOT,
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            timeout=600,
        )
        lives = [json.loads(line) for line in done.stdout.splitlines()]
        assert done.returncode == 0, done.stderr
        assert server.rejections == []
    assert len(lives) > 50, "the task has that many events"
    assert [life for life in lives if life["lost"] or life["skipped"] or life["unpaired"]] == []
    assert [life for life in lives if life["stage"] != "finished"] == []
