"""The record: complete, in order, and any change made afterwards is found."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.audit import Audit, digest, query, records
from sandbox.operations import ReadFile, RunCommand, WriteFile
from sandbox.risk import Risk
from sandbox.verify import verify
from tests.sandbox.broker_kit import Person, Rig, no
from tests.sandbox.test_processes import ROOT


@pytest.fixture
def log(tmp_path: Path) -> Path:
    audit = Audit(tmp_path / "audit")
    for number in range(5):
        audit.write("command", subject=f"echo {number}", risk=Risk(1 + number % 3), session="s")
    assert verify(audit.folder).ok
    return audit.log


def lines(log: Path) -> list[bytes]:
    return log.read_bytes().splitlines(keepends=True)


def test_records_are_chained_and_numbered(log: Path) -> None:
    found = list(records(log.parent))
    assert [record["seq"] for record in found] == [1, 2, 3, 4, 5]
    assert all(record["hash"] == digest(record) for record in found)
    assert [record["prev"] for record in found[1:]] == [record["hash"] for record in found[:-1]]
    assert log.stat().st_mode & 0o777 == 0o600


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_changed_byte_is_found(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("audit")
    audit = Audit(folder)
    for number in range(3):
        audit.write("command", subject=f"echo {number}")
    raw = bytearray(audit.log.read_bytes())
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    audit.log.write_bytes(raw)
    assert not verify(folder).ok


@pytest.mark.parametrize("number", range(5))
def test_a_removed_record_is_found(log: Path, number: int) -> None:
    kept = lines(log)
    del kept[number]
    log.write_bytes(b"".join(kept))
    assert not verify(log.parent).ok


def test_swapped_cut_replaced_and_added_records_are_found(log: Path) -> None:
    whole = lines(log)
    head = (log.parent / "head").read_bytes()
    swapped = [whole[1], whole[0], *whole[2:]]
    other = Audit(log.parent.parent / "other")
    for number in range(5):
        other.write("command", subject=f"other {number}")
    for forged in (swapped, whole[:4], whole[:1], [], lines(other.log), [*whole, whole[-1]], [*whole, b'{"seq":6}\n']):
        log.write_bytes(b"".join(forged))
        (log.parent / "head").write_bytes(head)
        assert not verify(log.parent).ok, forged
    log.write_bytes(b"".join(whole))
    assert verify(log.parent).ok
    log.unlink()
    assert "gone" in verify(log.parent).problems[0]


def test_a_cut_tail_stays_visible_after_more_was_written(log: Path) -> None:
    log.write_bytes(b"".join(lines(log)[:3]))
    Audit(log.parent).write("command", subject="later")
    assert not verify(log.parent).ok
    (log.parent / "head").unlink()
    assert not verify(log.parent).ok


def test_a_record_forged_with_a_right_hash_is_found(log: Path) -> None:
    whole = lines(log)
    record = json.loads(whole[2])
    record["subject"] = "nothing happened"
    record["hash"] = digest(record)
    whole[2] = json.dumps(record).encode() + b"\n"
    log.write_bytes(b"".join(whole))
    assert not verify(log.parent).ok


def test_a_crash_in_the_middle_of_a_record_is_mended_and_said(log: Path) -> None:
    with log.open("ab") as file:
        file.write(b'{"seq":6,"at":"20')
    assert not verify(log.parent).ok
    Audit(log.parent).write("command", subject="after")
    found = verify(log.parent)
    assert found.ok, found
    assert [record["type"] for record in records(log.parent)][-2:] == ["recovered", "command"]


def test_a_crash_between_a_record_and_its_head_is_taken_in(log: Path) -> None:
    head = (log.parent / "head").read_bytes()
    Audit(log.parent).write("command", subject="last words")
    (log.parent / "head").write_bytes(head)
    assert verify(log.parent).ok
    Audit(log.parent).write("command", subject="after")
    assert verify(log.parent).ok and len(lines(log)) == 7


WRITER = """
import sys
from pathlib import Path
from sandbox.audit import Audit
audit = Audit(Path(sys.argv[1]))
for number in range(60):
    audit.write("command", subject=f"{sys.argv[2]} {number}")
"""


def test_several_processes_write_one_chain(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(n)], cwd=ROOT) for n in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    found = verify(tmp_path)
    assert found.ok and found.records == 180


def test_long_values_are_cut_and_odd_ones_survive(tmp_path: Path) -> None:
    audit = Audit(tmp_path)
    audit.write("command", subject="x" * 100_000, reasons=("y",) * 100, env=["A"], odd="\ud800 \0 \x1b[2J\n")
    (record,) = records(tmp_path)
    assert len(record["subject"]) < 5000 and "96000" in record["subject"] and len(record["reasons"]) == 51
    assert verify(tmp_path).ok and len(lines(audit.log)) == 1


def test_queries(log: Path) -> None:
    audit = Audit(log.parent)
    audit.write("denied", subject="no", risk=Risk.HIGH)
    assert [r["subject"] for r in query(log.parent, type="denied")] == ["no"]
    assert len(list(query(log.parent, risk="high"))) == 2
    assert len(list(query(log.parent, risk="low"))) == 6
    now = datetime.now(UTC)
    assert len(list(query(log.parent, since=now - timedelta(hours=1)))) == 6
    assert list(query(log.parent, since=now + timedelta(hours=1))) == []
    assert list(query(log.parent / "nosuch")) == []


async def test_what_a_session_leaves(rig: Rig, walls: None) -> None:
    (rig.workspace / "a").write_text("old")
    async with rig.broker(Person()) as broker:
        await broker.run(RunCommand("ls"))
        await broker.run(RunCommand("touch b"))
        await broker.run(WriteFile("a", b"new"))
        await broker.run(WriteFile("/etc/evil", b"x"))
        await broker.run(ReadFile("a"))
    async with rig.broker(Person(no)) as broker:
        await broker.run(RunCommand("rm -rf b"))
    found = [(r["type"], r.get("subject", r.get("status")), r.get("risk")) for r in rig.records()]
    assert found == [
        ("command", "ls", "low"),
        ("result", "ok", None),
        ("decision", "touch b", "medium"),
        ("command", "touch b", "medium"),
        ("result", "ok", None),
        ("decision", "a", "medium"),
        ("write", "a", "medium"),
        ("result", "ok", None),
        ("blocked", "/etc/evil", "high"),
        ("denied", "rm -rf b", "high"),
    ]
    assert verify(rig.audit).ok


async def test_an_end_that_cannot_be_recorded_is_said(rig: Rig, walls: None) -> None:
    async with rig.broker(Person()) as broker:

        def lose_the_log(_output: bytes) -> None:
            rig.audit.rename(rig.base / "moved")
            rig.audit.write_text("in the way")

        done = await broker.run(RunCommand("echo ran"), on_output=lose_the_log)
    assert done.data == b"ran\n" and done.exit_code == 0 and "recorded" in done.error


async def test_what_cannot_be_recorded_does_not_run(rig: Rig, walls: None) -> None:
    async with rig.broker(Person()) as broker:
        (rig.audit / "audit.jsonl").mkdir()
        done = await broker.run(RunCommand("touch made"))
    assert done.error and "records" in done.error and done.suggestion
    assert not (rig.workspace / "made").exists()
