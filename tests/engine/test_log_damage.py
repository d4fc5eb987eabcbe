"""Whatever is damaged is skipped with its reason and counted; the rest is there, and nothing is rewritten."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from engine import events as ev
from engine.log import LogStore, LogUnreadable, schema
from engine.queries import ListSessions
from tests.engine.log_kit import result, said, sql, started, store_at, write


@pytest.fixture
def store(tmp_path: Path) -> LogStore:
    return store_at(tmp_path)


def body(store: LogStore, seq: int, text: str | bytes | None) -> None:
    sql(store, "UPDATE events SET body=CAST(? AS TEXT) WHERE seq=?", text, seq)


def texts(store: LogStore, session: str) -> list[str]:
    return [event.text for event in store.load(session).events if event.type == "user_message"]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("", "empty or cut off"),
        ('{"type":"user_message","text":"cut', "empty or cut off"),
        ('{"type":"user_message","text":"cut"', "empty or cut off"),
        ('{"type":"user_message","text":{}}', "user_message: text: Input should be a valid string"),
        ('{"type":"user_message"}', "text: Field required"),
        ('{"type":"from_the_future","x":1}', 'unknown event type "from_the_future"'),
        ('{"type":7}', "not an event"),
        ('[1]}', "not valid JSON"),
        (b'{"type":"user_message","text":"\xff\xfe"}', "not valid JSON"),
        ("\0\0\0\0", "empty or cut off"),
        ("nonsense}", "not valid JSON"),
        ('{"$artifact":"../../../etc/passwd","chars":9}', "not the name of a stored output"),
        ('{"$artifact":' + '"' + "0" * 64 + '"}', "is missing"),
    ],
)  # fmt: skip
def test_a_damaged_row_is_skipped_with_its_reason(store: LogStore, damage: str | bytes, reason: str) -> None:
    writer = write(store, started(), said("one"), said("two"), said("three"))
    body(store, 3, damage)
    before = sql(store, "SELECT * FROM events")
    loaded = store.load(writer.session)
    assert texts(store, writer.session) == ["one", "three"]
    assert [skip.seq for skip in loaded.skipped] == [3]
    assert reason in loaded.skipped[0].reason
    report = store.verify(writer.session)
    assert (report.ok, report.events, report.skipped) == (False, 3, loaded.skipped)
    lines: list[str] = []
    assert store.export(writer.session, lines.append) == loaded.skipped
    assert len(lines) == 3
    child = store.fork(writer.session)
    assert texts(store, child) == ["one", "three"]
    sql(store, "DELETE FROM sessions")
    assert [row.skipped for row in store.list(ListSessions(text="three"))] == [1, 1]
    assert sql(store, "SELECT * FROM events WHERE session=?", writer.session) == before


def test_a_gap_is_told_with_its_length(store: LogStore) -> None:
    writer = write(store, *[said(str(number)) for number in range(1, 10)])
    sql(store, "DELETE FROM events WHERE seq IN (1, 4, 5, 6)")
    loaded = store.load(writer.session)
    assert texts(store, writer.session) == ["2", "3", "7", "8", "9"]
    assert [(skip.seq, skip.reason) for skip in loaded.skipped] == [
        (1, "1 event is missing"),
        (4, "3 events are missing"),
    ]
    with store.open(writer.session) as again:
        assert again.append(said("next")).seq == 10


def test_an_unknown_type_at_the_end_keeps_its_seq(store: LogStore) -> None:
    writer = write(store, started(), said("one"))
    body(store, 2, '{"type":"from_the_future"}')
    with store.open(writer.session) as again:
        assert again.append(said("two")).seq == 3


@pytest.mark.parametrize("at", ["", "nonsense", "2026-13-99", '"}', "99999-01-01T00:00:00Z"])
def test_a_time_that_is_none_costs_only_the_time(store: LogStore, at: str) -> None:
    writer = write(store, started(), said("one"))
    sql(store, "UPDATE events SET at=?", at)
    loaded = store.load(writer.session)
    assert texts(store, writer.session) == ["one"]
    assert loaded.skipped == ()
    assert {event.at.year for event in loaded.events} == {1970}
    sql(store, "DELETE FROM sessions")
    assert store.list()[0].title == "one"


def test_raw_control_characters_are_no_reason_to_skip(store: LogStore) -> None:
    writer = write(store, started(), said("one"))
    body(store, 2, '{"type":"user_message","text":"a\x01b"}')
    assert texts(store, writer.session) == ["a\x01b"]
    body(store, 2, '{"type":"user_message","text":"half \\ud83d of one"}')
    assert texts(store, writer.session) == ["half � of one"]


def test_a_value_that_makes_no_sense_does_not_take_the_list_away(store: LogStore) -> None:
    write(store, started(), said("one"), ev.SettingChanged(name="limits", value="many"), said("two"))
    write(store, said("huge"), ev.TurnStarted(turn=10**30, model="m"))
    write(store, ev.AssistantMessage(turn=1, model="m", cost=float("nan")), ev.SettingChanged(name="title", value=[1]))
    assert [row.title for row in store.list()] == ["[1]", "huge", "one"]
    assert [row.cost for row in store.list()] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("how", ["torn", "changed", "missing"])
def test_a_torn_artifact_leaves_a_placeholder_and_is_counted(store: LogStore, how: str) -> None:
    text = "word " * 20_000
    writer = write(store, started(), result(text, summary="kept"))
    (path,) = (path for path in store.home.artifacts.rglob("*") if path.is_file())
    if how == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1] if how == "torn" else b"x" + path.read_bytes()[1:])
    loaded = store.load(writer.session)
    event = loaded.events[1]
    assert event.summary == "kept"
    assert event.text.startswith("[100000 characters are missing here.")
    assert [skip.seq for skip in loaded.skipped] == [2]
    report = store.verify(writer.session)
    assert (report.ok, report.artifacts, report.damaged) == (False, 1, (path.parent.name + path.name,))
    with store.open(writer.session) as again:
        again.append(result(text))
    assert store.load(writer.session).skipped == ()


def test_a_result_before_its_call_is_disorder(store: LogStore) -> None:
    call = ev.AssistantMessage(turn=1, model="m", blocks=(ev.ToolCall(id="c1", name="t"),))
    good = write(store, started(), call, result("", "c1"))
    bad = write(store, started(), result("", "c1"), call)
    assert store.verify(good.session).ok
    assert [skip.seq for skip in store.verify(bad.session).disorder] == [2]


# --- the file itself -------------------------------------------------------------------------------------------------


def leaf_pages(store: LogStore, table: str) -> list[int]:
    query = "SELECT pageno FROM dbstat WHERE name=? AND pagetype='leaf' ORDER BY path"
    try:
        return [page for (page,) in sql(store, query, table)]
    except sqlite3.OperationalError:
        pytest.skip("this SQLite cannot name its pages")


def overwrite(store: LogStore, *pages: int) -> None:
    sql(store, "PRAGMA wal_checkpoint(TRUNCATE)")
    with store.home.database.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * 4096)
            file.write(b"\xaa" * 4096)


def long_session(store: LogStore) -> str:
    return write(store, started(), *[said(f"{number} " + "x" * 500) for number in range(2_500)]).session


def test_a_damaged_page_leaves_the_rest_reachable(store: LogStore) -> None:
    session = long_session(store)
    pages = leaf_pages(store, "events")
    overwrite(store, pages[len(pages) // 2])
    loaded = store.load(session)
    assert 2_480 <= len(loaded.events) < 2_501
    assert len(loaded.events) + len(loaded.skipped) == 2_501
    assert {skip.reason for skip in loaded.skipped} == {"stored on a damaged page of the database"}
    assert [event.seq for event in loaded.events] == sorted(event.seq for event in loaded.events)
    assert store.list(ListSessions(text="2499"))[0].id == session
    assert not store.verify(session).ok
    assert len(store.load(store.fork(session)).events) == len(loaded.events)


def test_a_damaged_index_of_sessions_costs_nothing_but_time(store: LogStore) -> None:
    session = long_session(store)
    overwrite(store, *leaf_pages(store, "idx_numbers_session"))
    assert len(store.load(session).events) == 2_501
    assert [row.id for row in store.list()] == [session]


def test_sessions_are_found_without_their_list(store: LogStore) -> None:
    session = long_session(store)
    overwrite(store, *leaf_pages(store, "idx_numbers_session"))
    overwrite(store, *leaf_pages(store, "numbers"))
    assert [row.id for row in store.list()] == [session]
    assert len(store.load(session).events) == 2_501


def test_damage_above_the_rows_still_leaves_what_can_be_reached(store: LogStore) -> None:
    session = long_session(store)
    (root,) = (page for (page,) in sql(store, "SELECT rootpage FROM sqlite_master WHERE name='events'"))
    overwrite(store, root)
    loaded = store.load(session)
    assert loaded.events == ()
    assert [skip.reason for skip in loaded.skipped] == [
        "everything from here on is stored on a damaged page of the database"
    ]


def test_a_file_that_is_no_database_is_said_to_be_one(store: LogStore) -> None:
    store.home.database.parent.mkdir(parents=True)
    store.home.database.write_bytes(b"this is not a database at all" * 1000)
    with pytest.raises(LogUnreadable, match="is damaged") as caught:
        store.list()
    assert "aside" in caught.value.suggestion
    with pytest.raises(LogUnreadable):
        store.load("20261130-102233-x7k2")
    writer = store.create()
    writer.append(said("x"))
    assert (writer.unsaved, writer.health.saving) == (1, False)
    assert "damaged" in writer.health.error
    writer.close()


def test_a_database_of_a_newer_version_is_read_and_written(store: LogStore) -> None:
    writer = write(store, started(), said("old"))
    sql(store, f"PRAGMA user_version={schema.VERSION + 5}")
    sql(store, "ALTER TABLE events ADD COLUMN mood TEXT")
    sql(store, "CREATE TABLE novelties (x)")
    newer = {"type": "user_message", "text": "new", "mood": "fine"}
    row = "SELECT place + 1, session, 3, 'user_message', '', ?, 'good' FROM events WHERE seq=2"
    sql(store, f"INSERT INTO events {row}", json.dumps(newer))
    assert texts(store, writer.session) == ["old", "new"]
    with store.open(writer.session) as again:
        again.append(said("more"))
    assert texts(store, writer.session) == ["old", "new", "more"]
    assert sql(store, "PRAGMA user_version") == [(schema.VERSION + 5,)]


def test_a_first_start_cut_off_is_finished_by_the_next(store: LogStore) -> None:
    from sqlite_utils import Database

    from engine.log.migrations import MIGRATIONS

    store.home.data.mkdir(parents=True)
    connection = schema.sqlite3.connect(store.home.database)
    MIGRATIONS.apply(Database(connection), stop_before="sessions")
    connection.close()
    writer = write(store, started(), said("hello"))
    assert texts(store, writer.session) == ["hello"]
    assert store.list(ListSessions(text="hello"))[0].id == writer.session
