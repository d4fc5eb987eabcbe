"""A disk that fails: what cannot be written waits in order, people are told, and saving goes on by itself."""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.events import LogHealth
from engine.log import LogStore, SessionWriter
from tests.engine.log_kit import bare, in_child, result, said, started, store_at, write


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 1 MB; skipped where none may be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def fill(folder: Path) -> Path:
    """Use up every byte of the file system ``folder`` is on."""
    filler = folder / "filler"
    with filler.open("ab", buffering=0) as file:
        for size in (4096, 64, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return filler


def heard(writer: SessionWriter) -> list[LogHealth]:
    got: list[LogHealth] = []
    writer.on_health = got.append
    return got


def until_unsaved(writer: SessionWriter) -> None:
    """Append until nothing can be saved for good, not just until SQLite has tidied its own files."""
    for _ in range(2000):
        writer.append(said("x" * 3000))
        if writer.unsaved > 3:
            return
    raise AssertionError("the disk never failed")


def test_a_full_disk_is_told_and_recovers(tiny_disk: Path) -> None:
    store = store_at(tiny_disk)
    writer = write(store, started(), close=False)
    got = heard(writer)
    filler = fill(tiny_disk)
    until_unsaved(writer)
    writer.append(result("large " * 40_000))
    assert writer.unsaved == 5
    assert not writer.health.saving
    assert "disk is full" in got[0].error
    filler.unlink()
    writer.append(said("saved again"))
    assert writer.unsaved == 0
    assert got[-1] == LogHealth(session=writer.session, saving=True)
    loaded = store.load(writer.session)
    assert [event.seq for event in loaded.events] == list(range(1, writer.seq + 1))
    assert loaded.skipped == ()
    writer.close()


def test_a_session_begun_on_a_full_disk_is_saved_later(tiny_disk: Path) -> None:
    filler = fill(tiny_disk)
    got: list[LogHealth] = []
    store = store_at(tiny_disk)
    writer = store.create(got.append)
    events = [started(), said("one")]
    for event in events:
        writer.append(event)
    assert not writer.health.saving
    assert writer.unsaved == 2
    assert got and not got[0].saving
    filler.unlink()
    assert writer.flush()
    assert got[-1].saving
    assert bare(store.load(writer.session).events) == events
    writer.close()


def test_a_read_only_disk_can_still_be_read(tiny_disk: Path) -> None:
    store = store_at(tiny_disk, busy=0.01)
    writer = write(store, started(), said("before"))
    subprocess.run(["mount", "-o", "remount,ro", tiny_disk], check=True)
    assert store.list()[0].title == "before"
    again = store.open(writer.session)
    again.append(said("unsaved"))
    assert (again.unsaved, again.health.saving, again.seq) == (1, False, 3)
    assert "read-only" in again.health.error
    fresh = store.create()
    fresh.append(started())
    assert fresh.unsaved == 1
    subprocess.run(["mount", "-o", "remount,rw", tiny_disk], check=True)
    again.append(said("saved"))
    fresh.append(said("saved"))
    assert (again.unsaved, fresh.unsaved) == (0, 0)
    assert len(store.load(writer.session).events) == 4
    again.close()
    fresh.close()


def _outgrows(send, root: Path) -> None:  # type: ignore[no-untyped-def]
    store = store_at(root)
    writer = write(store, started(), close=False)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    until_unsaved(writer)
    send((writer.unsaved, writer.health.saving))
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    writer.append(said("saved"))
    send((writer.unsaved, writer.health.saving))
    send((writer.seq, len(store.load(writer.session).events)))


def test_a_file_size_limit_is_survived(tmp_path: Path) -> None:
    (limited, lifted, (seq, stored)), code = in_child(_outgrows, tmp_path)
    assert code == 0
    assert limited == (4, False)
    assert lifted == (0, True)
    assert seq == stored


@pytest.fixture
def store(tmp_path: Path) -> LogStore:
    return store_at(tmp_path, busy=0.01)


def test_a_database_locked_too_long_is_waited_for_in_memory(store: LogStore) -> None:
    writer = write(store, started(), close=False)
    got = heard(writer)
    other = sqlite3.connect(store.home.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for number in range(5):
        writer.append(said(f"{number}"))
    assert writer.unsaved == 5
    assert "locked" in writer.health.error
    other.execute("ROLLBACK")
    other.close()
    writer.append(said("5"))
    assert [health.saving for health in got] == [False, True]
    assert [event.text for event in store.load(writer.session).events[1:]] == list("012345")
    writer.close()


def test_what_waits_is_written_at_the_latest_on_close(store: LogStore) -> None:
    writer = write(store, started(), close=False)
    other = sqlite3.connect(store.home.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writer.append(said("late"))
    other.execute("ROLLBACK")
    other.close()
    writer.close()
    assert writer.unsaved == 0
    assert len(store.load(writer.session).events) == 2


def test_what_is_lost_on_close_is_not_passed_over(store: LogStore) -> None:
    writer = write(store, started(), close=False)
    other = sqlite3.connect(store.home.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writer.append(said("lost"))
    writer.close()
    assert (writer.unsaved, writer.health.saving) == (1, False)
    other.close()


def test_many_waiting_events_stay_cheap_and_in_order(store: LogStore, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = write(store, started(), close=False)
    tries = 0

    def refuse(db: sqlite3.Connection) -> None:
        nonlocal tries
        tries += 1
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as broken:
        broken.setattr(writer, "_write", refuse)
        for number in range(2_000):
            writer.append(said(str(number)))
    assert writer.unsaved == 2_000
    assert tries < 300
    assert writer.flush()
    assert [event.text for event in store.load(writer.session).events[1:]] == [str(number) for number in range(2_000)]
    writer.close()


def test_a_row_that_was_written_though_its_sync_failed_is_not_written_twice(store: LogStore) -> None:
    writer = write(store, started(), close=False)
    real = writer._insert

    def write_and_fail(db: sqlite3.Connection) -> None:
        real(db)
        raise sqlite3.OperationalError("disk I/O error")

    writer._insert = write_and_fail  # type: ignore[method-assign]
    writer.append(said("there after all"))
    assert writer.unsaved == 1
    writer._insert = real  # type: ignore[method-assign]
    writer.append(said("next"))
    assert writer.unsaved == 0
    assert [event.seq for event in store.load(writer.session).events] == [1, 2, 3]
    writer.close()


def test_somebody_elses_row_is_never_overwritten(store: LogStore) -> None:
    writer = write(store, started(), close=False)
    other = sqlite3.connect(store.home.database, isolation_level=None)
    body = '{"type":"notice","level":"info","text":"mine"}'
    other.execute("INSERT INTO events SELECT place + 1, session, 2, 'notice', '', ? FROM events", (body,))
    other.close()
    writer.append(said("yours"))
    assert writer.unsaved == 1
    assert "another program" in writer.health.error
    assert [event.text for event in store.load(writer.session).events[1:]] == ["mine"]
    writer.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_rights_is_told(store: LogStore) -> None:
    writer = write(store, started())
    store.home.data.chmod(0o500)
    store.home.database.chmod(0o400)
    again = store.open(writer.session)
    again.append(said("x"))
    assert not again.health.saving
    store.home.data.chmod(0o700)
    store.home.database.chmod(0o600)
    again.close()
