"""``audit tail -f`` and ``audit query`` on a log that goes on in new files while they read it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.audit import Audit
from sandbox.risk import Risk
from tests.sandbox.test_processes import ROOT


@pytest.fixture
def audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Audit:
    """A log that begins a new file after a few records, where the command line looks for it."""
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))
    return Audit(tmp_path / "data" / "audit", rotate_at=1500)


def words(*more: str) -> list[str]:
    return [sys.executable, "-m", "tui", "audit", *more]


def test_following_goes_on_from_file_to_file(audit: Audit) -> None:
    audit.write("command", subject="before")
    app = subprocess.Popen(words("tail", "-f", "--json"), stdout=subprocess.PIPE)
    try:
        assert app.stdout is not None
        seen = [json.loads(app.stdout.readline())["subject"]]
        for number in range(40):
            audit.write("command", subject=f"echo {number}")
        while len(seen) < 41:
            record = json.loads(app.stdout.readline())
            if record["type"] == "command":
                seen.append(record["subject"])
        assert seen == ["before", *(f"echo {number}" for number in range(40))]
        assert len(list(audit.folder.glob("audit-*.jsonl"))) > 1
    finally:
        app.kill()
        app.communicate()


def test_queries_reach_into_older_files(audit: Audit) -> None:
    for number in range(20):
        audit.write("denied" if number == 1 else "command", subject=f"echo {number}", risk=Risk(1 + number % 3))

    def asked(*more: str) -> list[str]:
        done = subprocess.run(words(*more, "--json"), capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return [record["subject"] for record in map(json.loads, done.stdout.splitlines()) if "subject" in record]

    assert asked("query", "--type", "denied") == ["echo 1"]
    assert asked("query", "--risk", "high") == [f"echo {number}" for number in range(2, 20, 3)]
    assert asked("query", "--until", "2020-01-01") == [] and len(asked("query", "--until", "2099-01-01")) == 20
    assert asked("tail", "-n", "1") == ["echo 19"]
    checked = subprocess.run(words("verify"), capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0 and "none changed" in checked.stdout
