"""``agent-tui sandbox``, ``doctor`` and ``audit`` as people and scripts call them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.test_processes import ROOT

pytestmark = pytest.mark.usefixtures("walls")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a home of its own for records and rules."""
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "tui", *words]


def call(place: Path, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command(*words), cwd=place, input=stdin, capture_output=True, timeout=60)


def test_exec_passes_everything_through(place: Path) -> None:
    done = call(place, "sandbox", "exec", "--", "sh", "-c", "cat; echo err >&2; touch made; exit 7", stdin=b"hello")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"hello", b"err\n")
    assert (place / "made").exists()


def test_exec_contains(place: Path) -> None:
    (place.parent / "secret").write_text("secret")
    done = call(place, "sandbox", "exec", "--", "sh", "-c", "cat ../secret; env; ls $0", str(place.parent / "home"))
    assert b"secret\n" not in done.stdout and b"PYTHONPATH" not in done.stdout and done.returncode != 0


def test_exec_options(place: Path) -> None:
    other = place.parent / "other"
    other.mkdir()
    assert call(place, "sandbox", "exec", "--cwd", str(other), "--", "pwd").stdout.decode().strip() == str(other)
    read_only = call(place, "sandbox", "exec", "--policy", "read-only", "--", "touch", "made")
    assert read_only.returncode == 1 and not (place / "made").exists()
    (place / "p.toml").write_text("writable = 1\n")
    broken = call(place, "sandbox", "exec", "--policy", "p.toml", "--", "true")
    assert broken.returncode == 2 and b"p.toml, line 1" in broken.stderr
    assert call(place, "sandbox", "exec", "--backend", "bare", "--", "sh", "-c", "exit 5").returncode == 5
    assert call(place, "sandbox", "exec", "--backend", "nosuch", "--", "true").returncode == 1
    assert call(place, "sandbox", "exec").returncode == 2
    missing = call(place, "sandbox", "exec", "--", "nosuchprogram")
    assert missing.returncode == 127 and b"nosuchprogram" in missing.stderr


def test_exec_reports_what_it_took_out_of_effect(place: Path) -> None:
    done = call(place, "sandbox", "exec", "--", "sh", "-c", "echo evil > .mcp.json")
    assert b".mcp.json" in done.stderr and not (place / ".mcp.json").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1])
def test_exec_forwards_signals(place: Path, number: signal.Signals) -> None:
    script = f"trap 'echo got it; exit 9' {number.name.removeprefix('SIG')}; echo ready; while :; do sleep 0.05; done"
    app = subprocess.Popen(command("sandbox", "exec", "--", "sh", "-c", script), cwd=place, stdout=subprocess.PIPE)
    try:
        assert app.stdout is not None and app.stdout.readline() == b"ready\n"
        app.send_signal(number)
        assert app.stdout.read() == b"got it\n" and app.wait(20) == 9
    finally:
        app.kill()
        app.communicate()


def test_classify_one(place: Path) -> None:
    found = json.loads(call(place, "sandbox", "classify", "--json", "git push origin main").stdout)
    assert found["risk"] == "high" and found["decision"] == "ask" and found["reasons"] and found["effects"]
    told = call(place, "sandbox", "classify", "ls").stdout.decode()
    assert "low" in told and "allow" in told


def test_classify_many_and_odd(place: Path) -> None:
    given = [b"ls", b"touch x", b"rm -rf /", b"", b"\xff\xfe", b"echo 'a\nb'"]
    done = call(place, "sandbox", "classify", "-", stdin=b"\0".join(given) + b"\0")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == len(given)
    assert [row["decision"] for row in rows[:3]] == ["allow", "ask", "ask"]
    assert all({"risk", "reasons", "effects", "decision"} <= set(row) for row in rows)


def test_classify_as_the_gate_would_decide(place: Path) -> None:
    rules = place.parent / "home" / "config" / "rules.toml"
    rules.parent.mkdir(parents=True)
    rules.write_text("[[rule]]\ntext = 'allow shell touch *'\n[[rule]]\ntext = 'deny shell ls *'\n")

    def decision(text: str, mode: str) -> str:
        done = call(place, "sandbox", "classify", "--json", "--approve", mode, text)
        return str(json.loads(done.stdout)["decision"])

    assert decision("touch x", "rules") == "allow" and decision("touch x", "deny") == "deny"
    assert decision("mkdir x", "rules") == "deny" and decision("mkdir x", "sandboxed") == "allow"
    assert decision("ls", "ask") == "deny"
    rules.write_text("[[rule]]\ntext = 'nonsense'\n")
    broken = call(place, "sandbox", "classify", "ls")
    assert broken.returncode == 2 and b"rules.toml" in broken.stderr


def test_doctor_proves_each_line(place: Path) -> None:
    done = call(place, "doctor", "--json")
    found = json.loads(done.stdout)
    assert found["sandbox"]["works"] and found["sandbox"]["contained"] and found["default"] == "bwrap"
    assert [line["number"] for line in found["lines"]] == list(range(1, 13))
    network = next(line for line in found["lines"] if line["line"] == "network")
    assert network["states"] == {"bwrap": "enforced", "bare": "not enforced"}
    loopback = next(check for check in network["checks"] if check["what"] == "loopback of the host")
    assert (loopback["bare"], loopback["inside"]) == ("open", {"bwrap": "closed", "bare": "open"})
    weak = [line for line in found["lines"] if line["states"]["bwrap"] != "enforced"]
    assert done.returncode == (1 if weak else 0) and found["enforced"] == (not weak)
    assert found["terminal"] and found["models"]


def test_audit_verbs(place: Path) -> None:
    assert call(place, "audit", "verify").returncode == 0
    assert call(place, "audit", "query").stdout == b""
    for word in ("one", "two", "\x1b[2Jthree"):
        call(place, "sandbox", "exec", "--", "echo", word)
    assert call(place, "audit", "verify").returncode == 0
    rows = [
        json.loads(line) for line in call(place, "audit", "query", "--json", "--type", "command").stdout.splitlines()
    ]
    assert [row["subject"] for row in rows][:2] == ["echo one", "echo two"]
    last = call(place, "audit", "tail", "-n", "1").stdout.decode()
    assert "three" in last and "\x1b" not in last and last.count("\n") == 1
    assert call(place, "audit", "query", "--since", "1h", "--json").stdout.count(b"\n") == 3
    assert call(place, "audit", "query", "--since", "2099-01-01").stdout == b""
    assert call(place, "audit", "query", "--since", "soon").returncode == 2
    log = place.parent / "home" / "data" / "audit" / "audit.jsonl"
    log.write_bytes(log.read_bytes().replace(b"echo two", b"echo xxx"))
    broken = call(place, "audit", "verify", "--json")
    assert broken.returncode == 1 and not json.loads(broken.stdout)["ok"]


def test_audit_follows(place: Path) -> None:
    app = subprocess.Popen(command("audit", "tail", "--follow", "--json"), cwd=place, stdout=subprocess.PIPE)
    try:
        call(place, "sandbox", "exec", "--", "echo", "live")
        assert app.stdout is not None
        assert json.loads(app.stdout.readline())["subject"] == "echo live"
    finally:
        app.kill()
        app.communicate()


@pytest.mark.parametrize(
    "verb",
    [
        ("sandbox",),
        ("sandbox", "exec"),
        ("sandbox", "classify"),
        ("doctor",),
        ("audit",),
        ("audit", "verify"),
        ("audit", "query"),
        ("audit", "tail"),
    ],
)
def test_help_has_one_example(place: Path, verb: tuple[str, ...]) -> None:
    done = call(place, *verb, "--help")
    assert done.returncode == 0 and done.stdout.count(b"example: agent-tui") == 1
    assert os.fsencode(str(place)) not in done.stdout
