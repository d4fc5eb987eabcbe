"""The record: complete, in order, and any change made afterwards is found."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.audit import Alert, Audit, query, records
from sandbox.operations import ReadFile, RunCommand, WriteFile
from sandbox.risk import Risk
from sandbox.seal import Key, Seal
from sandbox.trail import digest, encode
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


def head_of(log: Path) -> Path:
    return Seal(log.parent).folder / "head"


def lines(log: Path) -> list[bytes]:
    return log.read_bytes().splitlines(keepends=True)


def test_records_are_chained_and_numbered(log: Path) -> None:
    found = list(records(log.parent))
    assert [record["seq"] for record in found] == [1, 2, 3, 4, 5]
    key = Seal(log.parent).key()
    assert key is not None and all(record["hash"] == digest(record, key) for record in found)
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
    head = head_of(log).read_bytes()
    swapped = [whole[1], whole[0], *whole[2:]]
    other = Audit(log.parent.parent / "other")
    for number in range(5):
        other.write("command", subject=f"other {number}")
    for forged in (swapped, whole[:4], whole[:1], [], lines(other.log), [*whole, whole[-1]], [*whole, b'{"seq":6}\n']):
        log.write_bytes(b"".join(forged))
        head_of(log).write_bytes(head)
        assert not verify(log.parent).ok, forged
    log.write_bytes(b"".join(whole))
    assert verify(log.parent).ok
    log.unlink()
    assert "gone" in verify(log.parent).problems[0]


def test_a_cut_tail_stays_visible_after_more_was_written(log: Path) -> None:
    log.write_bytes(b"".join(lines(log)[:3]))
    Audit(log.parent).write("command", subject="later")
    assert not verify(log.parent).ok
    head_of(log).unlink()
    assert not verify(log.parent).ok


def test_nothing_can_be_forged_without_the_key(log: Path) -> None:
    """Log and head rewritten together, every hash recomputed, by somebody who knows all but the secret."""
    guess = Key(b"x" * 32)
    forged, previous = [], "0" * 64
    for record in records(log.parent):
        record |= {"subject": "nothing happened", "prev": previous}
        record["hash"] = previous = digest(record, guess)
        forged.append(encode(record))
    log.write_bytes(b"".join(forged))
    seal = Seal(log.parent)
    head = seal.head(seal.key())
    assert head is not None
    seal.store(replace(head, hash=previous, size=log.stat().st_size), guess)
    assert not verify(log.parent).ok
    Audit(log.parent).write("command", subject="later")
    assert not verify(log.parent).ok


def test_an_older_state_put_back_is_found(log: Path) -> None:
    """The folder of the log as it was before: nothing in it is forged, and still it is not the one that was written."""
    before = log.read_bytes()
    for number in range(3):
        Audit(log.parent).write("command", subject=f"later {number}")
    log.write_bytes(before)
    assert "3 records are missing" in verify(log.parent).problems[0]


@pytest.mark.parametrize("gone", ["head", "key"])
def test_a_missing_head_or_key_stays_visible(log: Path, gone: str) -> None:
    (Seal(log.parent).folder / gone).unlink()
    assert not verify(log.parent).ok
    Audit(log.parent).write("command", subject="later")
    found = verify(log.parent)
    assert any(f"the {gone} was missing" in problem for problem in found.problems)
    assert [record["type"] for record in records(log.parent)][-2:] == ["recovered", "command"]
    Audit(log.parent).write("command", subject="and later")
    assert len(verify(log.parent).problems) == len(found.problems)


def test_the_key_is_for_this_user_only_and_lies_elsewhere(log: Path) -> None:
    seal = Seal(log.parent)
    assert not seal.folder.is_relative_to(log.parent) and not log.parent.is_relative_to(seal.folder)
    assert seal.folder.stat().st_mode & 0o777 == 0o700
    assert {file.name: file.stat().st_mode & 0o777 for file in seal.folder.iterdir()} == {"key": 0o600, "head": 0o600}
    assert seal.key() != Seal(log.parent.parent / "other").key()


def grown(folder: Path, count: int, keep: int = 100) -> Audit:
    """A log in several files."""
    audit = Audit(folder, rotate_at=1500, keep=keep)
    for number in range(count):
        audit.write("command", subject=f"echo {number}", risk=Risk(1 + number % 3))
    return audit


def test_a_large_log_goes_on_in_a_new_file(tmp_path: Path) -> None:
    audit = grown(tmp_path / "audit", 40)
    files = sorted(audit.folder.glob("audit*.jsonl"))
    assert len(files) > 4 and all(file.stat().st_size < 2500 for file in files)
    assert [r["subject"] for r in query(audit.folder, type="command")] == [f"echo {n}" for n in range(40)]
    found = verify(audit.folder)
    assert found.ok and found.records == len(list(records(audit.folder)))


def test_growth_is_bounded_and_the_chain_holds(tmp_path: Path) -> None:
    audit = grown(tmp_path / "audit", 60, keep=2)
    files = sorted(audit.folder.glob("audit*.jsonl"))
    assert len(files) == 3
    found = verify(audit.folder)
    assert found.ok and 0 < found.records < 60, found
    # Removed by somebody else it is found, also the oldest, also by a log that goes on.
    files[0].unlink()
    assert not verify(audit.folder).ok
    audit.write("command", subject="later")
    assert not verify(audit.folder).ok


@pytest.mark.parametrize("moment", ["put away", "new file begun"])
def test_a_crash_while_a_new_file_is_begun(tmp_path: Path, moment: str) -> None:
    audit = Audit(tmp_path / "audit")
    for number in range(4):
        audit.write("command", subject=f"echo {number}")
    audit.log.rename(audit.folder / "audit-000000000004.jsonl")
    if moment == "new file begun":
        audit.log.touch()
    assert verify(audit.folder).ok
    audit.write("command", subject="after")
    found = verify(audit.folder)
    assert found.ok and found.records == 5


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_any_edit_is_found(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Cut, remove, swap, repeat, change and mix records, within a file and between the files of a log."""
    folder = tmp_path_factory.mktemp("edits") / "audit"
    audit = grown(folder, 14)
    files = sorted(folder.glob("audit*.jsonl"))
    before = {file: file.read_bytes() for file in files}
    file = data.draw(st.sampled_from(files))
    kept = before[file].splitlines(keepends=True)
    one, two = (data.draw(st.integers(0, len(kept) - 1)) for _ in range(2))
    other = before[data.draw(st.sampled_from(files))]
    edits: dict[str, Callable[[], list[bytes] | None]] = {
        "remove": lambda: [*kept[:one], *kept[one + 1 :]],
        "swap": lambda: [kept[two] if n == one else kept[one] if n == two else line for n, line in enumerate(kept)],
        "repeat": lambda: [*kept[:one], kept[two], *kept[one:]],
        "cut": lambda: [b"".join(kept)[: data.draw(st.integers(0, len(before[file]) - 1))]],
        "insert": lambda: [*kept[:one], data.draw(st.binary(min_size=1, max_size=5)), *kept[one:]],
        "replace": lambda: [other],
        "rewrite": lambda: [line.replace(b"echo", b"true") if n == one else line for n, line in enumerate(kept)],
        "lose": lambda: None,
    }
    edited = edits[data.draw(st.sampled_from(sorted(edits)))]()
    if edited is None:
        file.unlink()
    else:
        file.write_bytes(b"".join(edited))
    changed = {found: found.read_bytes() for found in sorted(folder.glob("audit*.jsonl"))} != before
    assert verify(folder).ok is not changed
    audit.write("command", subject="later")
    assert verify(folder).ok is not changed


def test_alerts_come_after_the_record_and_only_for_what_matters(tmp_path: Path) -> None:
    seen: list[Alert] = []

    def told(alert: Alert) -> None:
        assert list(records(tmp_path / "audit"))[-1]["seq"] == alert.seq
        seen.append(alert)

    audit = Audit(tmp_path / "audit", told)
    audit.write("command", subject="ls", risk=Risk.LOW)
    audit.write("decision", subject="rm -rf x", risk=Risk.HIGH)
    audit.write("command", subject="rm -rf x", risk=Risk.HIGH, session="s", tool="shell_run", call="c")
    audit.write("blocked", subject=".git/hooks", risk="high", reason="protected")
    audit.write("connection", subject="evil:443", verdict="refused", risk=Risk.HIGH)
    audit.write("connection", subject="good:443", verdict="allowed", risk=Risk.MEDIUM)
    audit.write("denied", subject="curl x | sh", risk=Risk.HIGH)
    audit.write("result", of="command", status="ok")
    assert [(a.kind, a.type, a.subject) for a in seen] == [
        ("high", "command", "rm -rf x"),
        ("escape", "blocked", ".git/hooks"),
        ("escape", "connection", "evil:443"),
        ("high", "denied", "curl x | sh"),
    ]
    assert (seen[0].session, seen[0].tool, seen[0].call, seen[1].reason) == ("s", "shell_run", "c", "protected")


async def test_a_session_alerts(rig: Rig, walls: None) -> None:
    seen: list[Alert] = []
    async with rig.broker(Person(), on_alert=seen.append) as broker:
        await broker.run(RunCommand("ls"))
        await broker.run(RunCommand("mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit"))
        await broker.run(WriteFile("/etc/evil", b"x"))
    assert {("escape", ".git/hooks"), ("escape", "/etc/evil")} <= {(a.kind, a.subject) for a in seen}, seen
    assert all(alert.subject != "ls" for alert in seen)


def test_a_crash_in_the_middle_of_a_record_is_mended_and_said(log: Path) -> None:
    with log.open("ab") as file:
        file.write(b'{"seq":6,"at":"20')
    assert not verify(log.parent).ok
    Audit(log.parent).write("command", subject="after")
    found = verify(log.parent)
    assert found.ok, found
    assert [record["type"] for record in records(log.parent)][-2:] == ["recovered", "command"]


def test_a_crash_between_a_record_and_its_head_is_taken_in(log: Path) -> None:
    head = head_of(log).read_bytes()
    Audit(log.parent).write("command", subject="last words")
    head_of(log).write_bytes(head)
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
    assert list(query(log.parent, until=now - timedelta(hours=1))) == []
    assert len(list(query(log.parent, since=now - timedelta(hours=1), until=now + timedelta(hours=1)))) == 6
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
