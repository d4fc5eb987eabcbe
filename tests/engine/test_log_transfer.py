"""Sessions as JSON Lines, out and in again, however broken the file."""

from __future__ import annotations

import io
import json
import tracemalloc
from pathlib import Path
from typing import BinaryIO

import pytest

from engine import events as ev
from engine.log import LogError, LogStore
from engine.log.transfer import LONGEST_LINE, Line
from tests.engine.log_kit import bare, result, said, started, store_at, write


@pytest.fixture
def store(tmp_path: Path) -> LogStore:
    return store_at(tmp_path)


def exported(store: LogStore, session: str) -> bytes:
    lines: list[str] = []
    store.export(session, lines.append)
    return "".join(lines).encode("ascii")


def line(text: str, seq: int | None = None, session: str = "s1", **more: object) -> bytes:
    data = {"type": "user_message", "session": session, "text": text, **more}
    return json.dumps(data | ({"seq": seq} if seq is not None else {})).encode() + b"\n"


def taken(store: LogStore, data: bytes) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """What was taken over as (seq, text), and what was not as (line, reason)."""
    done = store.import_from(io.BytesIO(data))
    events = store.load(done.id).events
    assert done.events == len(events)
    return [(event.seq, event.text) for event in events], [(skip.line, skip.reason) for skip in done.skipped]


def test_a_line_is_an_event_in_plain_ascii(store: LogStore) -> None:
    writer = write(store, started(), said("a\u2028b 世界 \x1b[0m"), result("big " * 30_000))
    lines = exported(store, writer.session).decode("ascii").splitlines()
    assert len(lines) == 3
    assert [json.loads(text)["seq"] for text in lines] == [1, 2, 3]
    assert json.loads(lines[2])["text"] == "big " * 30_000


def test_there_and_back(store: LogStore, tmp_path: Path) -> None:
    writer = write(store, started(), said("a\u2028b\0"), result("big " * 30_000))
    data = exported(store, writer.session)
    again = store.import_from(io.BytesIO(data))
    assert again.id != writer.session
    elsewhere = store_at(tmp_path / "other")
    moved = elsewhere.import_from(io.BytesIO(data))
    assert moved.id == writer.session
    for events in (store.load(again.id).events, elsewhere.load(moved.id).events):
        assert bare(events) == bare(store.load(writer.session).events)
    assert {event.session for event in store.load(again.id).events} == {again.id}
    assert elsewhere.list()[0].title == "a"
    with elsewhere.open(moved.id) as goes_on:
        assert goes_on.append(said("more")).seq == 4


def test_broken_lines_are_skipped_by_number(store: LogStore) -> None:
    data = (
        b"\xef\xbb\xbf" + line("one", 1) + b"\n" + line("two", 2)[:-9] + b"\n" + b"\0" * 500 + b"\n"
        + line("four", 4) + b'{"type":"from_the_future"}\n' + b"[1]\n" + line("stranger", 5, "s2")
        + b'{"type":"user_message","session":"s1","seq":6,"text":"raw \x01"}\r\n' + line("cut", 7)[:20]
    )  # fmt: skip
    events, skipped = taken(store, data)
    assert events == [(1, "one"), (4, "four"), (6, "raw \x01")]
    assert [number for number, _ in skipped] == [3, 4, 6, 7, 8, 10]
    assert skipped[0][1] == "not valid JSON"
    assert skipped[1][1] == "nothing but NUL bytes"
    assert "from_the_future" in skipped[2][1]
    assert skipped[4][1] == "belongs to another session (s2)"


def test_places_and_times_that_make_no_sense_do_not_matter(store: LogStore) -> None:
    data = b"".join(
        [
            line("a", at=None),
            line("b", 5, at="2026-11-30T10:00:00"),
            line("c", 5, at="2020-01-01T00:00:00Z"),
            line("d", 3, at="never"),
            line("e", -1),
            line("f", 10**30),
            line("g", 50),
        ]
    )
    events, skipped = taken(store, data)
    assert events == [(1, "a"), (5, "b"), (6, "c"), (7, "d"), (8, "e"), (9, "f"), (50, "g")]
    assert skipped == []
    assert all(row.updated.tzinfo for row in store.list())


class Endless(io.RawIOBase):
    """A file with one line of 100 MB between two events, made as it is read."""

    def __init__(self) -> None:
        self.parts = iter([line("one", 1), *[b"x" * 1_000_000] * 100, b"\n", line("two", 2)])
        self.rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self.rest = self.rest or next(self.parts, b"")
        taken, self.rest = self.rest[: len(buffer)], self.rest[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)


def test_a_line_of_100_mb_is_skipped_in_bounded_memory(store: LogStore) -> None:
    tracemalloc.start()
    try:
        done = store.import_from(io.BufferedReader(Endless()))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [event.text for event in store.load(done.id).events] == ["one", "two"]
    assert [(skip.line, skip.reason) for skip in done.skipped] == [(2, "longer than 32 MB")]
    assert peak < 3 * LONGEST_LINE


@pytest.mark.parametrize(
    ("data", "hint"), [(b"", "file is empty"), (b"\n\n", "file is empty"), (b"hello\n", "Line 1: not valid JSON")]
)
def test_a_file_without_events_is_refused(store: LogStore, data: bytes, hint: str) -> None:
    with pytest.raises(LogError, match="no event in that file") as caught:
        store.import_from(io.BytesIO(data))
    assert hint in caught.value.suggestion
    assert store.list() == ()


@pytest.mark.parametrize("session", ["", "../../evil", "a b", "x" * 300])
def test_an_id_that_is_no_folder_name_is_replaced(store: LogStore, session: str) -> None:
    done = store.import_from(io.BytesIO(line("one", 1, session)))
    assert done.id != session
    assert [event.text for event in store.load(done.id).events] == ["one"]


def test_other_transcripts_come_in_by_another_reader(store: LogStore) -> None:
    def read_plain(stream: BinaryIO) -> list[Line]:
        return [Line(n, ev.UserMessage(session="plain", text=text.decode())) for n, text in enumerate(stream, 1)]

    done = store.import_from(io.BytesIO(b"one\ntwo"), lambda stream: iter(read_plain(stream)))
    assert [(event.seq, event.text) for event in store.load(done.id).events] == [(1, "one\n"), (2, "two")]
