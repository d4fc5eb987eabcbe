"""Choosing a backend, and saying so plainly when there is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.cli import doctor
from sandbox.backends import bubblewrap, filter, pick_backend
from sandbox.operations import RunCommand, Status
from tests.sandbox.broker_kit import Person, Rig


@pytest.fixture(autouse=True)
def probe_again() -> Iterator[None]:
    """What was found out about this machine is forgotten before and after each test."""
    bubblewrap._probe.cache_clear()
    yield
    bubblewrap._probe.cache_clear()


def pretend(monkeypatch: pytest.MonkeyPatch, script: Path | None, text: str = "") -> None:
    """bwrap is missing, or a program that prints ``text`` and fails."""
    if script is not None:
        script.write_text(f"#!/bin/sh\necho '{text}' >&2\nexit 1\n")
        script.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "binary", lambda: str(script or ""))


def test_a_missing_binary(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, None)
    found = pick_backend().capabilities()
    assert (found.name, found.works, found.contained) == ("bare", False, False)
    assert "bwrap" in found.why and "pip install" in found.hint
    with pytest.raises(ValueError, match="bwrap does not work here"):
        pick_backend("bwrap")


def test_a_kernel_without_user_namespaces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pretend(monkeypatch, tmp_path / "bwrap", "bwrap: No permissions to create new namespace")
    found = pick_backend().capabilities()
    assert not found.contained and "No permissions" in found.why and "sysctl" in found.hint


def test_another_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    found = pick_backend().capabilities()
    assert not found.contained and "Linux" in found.why and found.hint


async def test_a_session_without_walls_asks_and_never_calls_anything_contained(
    monkeypatch: pytest.MonkeyPatch, rig: Rig
) -> None:
    pretend(monkeypatch, None)
    person = Person()
    async with rig.broker(person) as broker:
        assert (await broker.run(RunCommand("echo hello"))).data == b"hello\n"
        assert (await broker.run(RunCommand("echo hello"))).status is Status.OK
    assert [request.assessment.contained for request in person.asked] == [False, False]
    assert rig.records("command")[0]["backend"] == "bare"


def test_the_doctor_says_there_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import argparse

    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    pretend(monkeypatch, None)
    assert doctor.run_doctor(argparse.Namespace(json=False)) == 1
    said = capsys.readouterr().out
    assert "sandbox   none" in said and "asks a person first" in said


def test_the_filter_is_there_and_starts_by_refusing_x32() -> None:
    program = filter.program()
    assert program and len(program) % 8 == 0 and len(program) <= 4096 * 8
