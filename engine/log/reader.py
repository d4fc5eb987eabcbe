"""The one tolerant reader: resume, list, search, export, fork and verify all read through it.

What cannot be read is passed on as a `Skipped` with its reason, in its place; nothing is raised for it or rewritten.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from engine.events import Event
from engine.log import places, rows
from engine.log.artifacts import Artifacts
from engine.log.errors import is_damage, is_no_database
from engine.queries import LoadedSession, Skipped

_CHUNK = 1000
# Bytes, not text: a damaged cell must not fail the whole chunk for not being UTF-8.
_SELECT = "SELECT place, CAST(type AS BLOB), CAST(at AS BLOB), CAST(body AS BLOB) FROM events WHERE"
_HURT = "stored on a damaged page of the database"


@dataclass(frozen=True, slots=True)
class RawRow:
    """A row as stored. ``body`` is JSON, or should be."""

    seq: int
    type: bytes | None
    at: bytes | None
    body: bytes | None


@dataclass(frozen=True, slots=True)
class Read:
    """One row read: ``event`` None when it is unreadable, ``problem`` empty when nothing is missing."""

    seq: int
    event: Event | None
    problem: str = ""


def load(db: sqlite3.Connection, session: str, artifacts: Artifacts) -> LoadedSession:
    """Every readable event of a session and what was skipped. Raises sqlite3.Error when nothing can be reached."""
    return _gathered(session, read_events(db, session, artifacts))


def parts(
    db: sqlite3.Connection, session: str, artifacts: Artifacts, size: int, after: int = 0
) -> Iterator[LoadedSession]:
    """The same above seq ``after``, ``size`` rows at a time."""
    rows = read_events(db, session, artifacts, after)
    while part := tuple(islice(rows, size)):
        yield _gathered(session, part)


def _gathered(session: str, rows: Iterable[Read]) -> LoadedSession:
    events: list[Event] = []
    skipped: list[Skipped] = []
    for read in rows:
        if read.event is not None:
            events.append(read.event)
        if read.problem:
            skipped.append(Skipped(read.seq, read.problem))
    return LoadedSession(session, tuple(events), tuple(skipped))


def read_events(
    db: sqlite3.Connection, session: str, artifacts: Artifacts, after: int = 0, types: frozenset[bytes] | None = None
) -> Iterator[Read]:
    """The rows above seq ``after`` as events, in order; only those of ``types`` when given."""
    for row in raw_rows(db, session, after):
        if isinstance(row, Skipped):
            yield Read(row.seq, None, row.reason)
        elif types is None or row.type in types:
            yield _read(session, row, artifacts)


def raw_rows(db: sqlite3.Connection, session: str, after: int = 0) -> Iterator[RawRow | Skipped]:
    """The rows above seq ``after``, in order, with a Skipped for every gap and every row that cannot be reached."""
    number = places.find(db, session)
    if number is None:
        return
    expected = after + 1
    for row in _reachable(db, number, after):
        if row.seq > expected:
            yield Skipped(expected, _gap(row.seq - expected))
        expected = row.seq + 1
        yield row


def head(db: sqlite3.Connection, session: str) -> int:
    """The highest seq of a session, 0 when it has none; raises sqlite3.Error."""
    number = places.find(db, session)
    return _head(db, number) if number is not None else 0


def exists(db: sqlite3.Connection, session: str) -> bool:
    """Whether a session has any row; when damage hides that, it is taken to have."""
    try:
        return head(db, session) > 0
    except sqlite3.DatabaseError as error:
        if is_damage(error) and not is_no_database(error):
            return True
        raise


def _read(session: str, row: RawRow, artifacts: Artifacts) -> Read:
    try:
        event, missing = rows.load(session, row.seq, row.at, row.body, artifacts)
    except rows.RowDamaged as damage:
        return Read(row.seq, None, str(damage))
    return Read(row.seq, event, missing)


def _gap(length: int) -> str:
    return "1 event is missing" if length == 1 else f"{length:,} events are missing"


def _head(db: sqlite3.Connection, number: int) -> int:
    query = "SELECT max(place) FROM events WHERE place > ? AND place < ?"
    (last,) = db.execute(query, (places.place(number, 0), places.place(number + 1, 0))).fetchone()
    return int(last) - places.place(number, 0) if last is not None else 0


def _knows_head(db: sqlite3.Connection, number: int) -> bool:
    """Whether the highest seq can be had at all: damage may hide where a session ends."""
    try:
        _head(db, number)
    except sqlite3.DatabaseError:
        return False
    return True


def _reachable(db: sqlite3.Connection, number: int, after: int) -> Iterator[RawRow | Skipped]:
    """All rows above ``after``, a chunk at a time, so that a damaged page costs a chunk's speed and not the rest."""
    while True:
        chunk = _chunk(db, number, after)
        if chunk is not None:
            yield from chunk
            if len(chunk) < _CHUNK:
                return
            after = chunk[-1].seq
            continue
        rescued = _around_damage(db, number, after)
        if not any(isinstance(row, RawRow) for row in rescued) and not _knows_head(db, number):
            yield Skipped(after + 1, f"everything from here on is {_HURT}")
            return
        yield from rescued
        after += _CHUNK
        if _knows_head(db, number) and after >= _head(db, number):
            return


def _chunk(db: sqlite3.Connection, number: int, after: int) -> list[RawRow] | None:
    """The next rows above ``after``; None when there is damage among them."""
    base = places.place(number, 0)
    query = f"{_SELECT} place > ? AND place < ? ORDER BY place LIMIT {_CHUNK}"
    try:
        found = db.execute(query, (base + after, base + places.SPAN))
        return [RawRow(place - base, *cells) for place, *cells in found]
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return None
        raise


def _around_damage(db: sqlite3.Connection, number: int, after: int) -> list[RawRow | Skipped]:
    """A chunk's worth of seqs above ``after``, one by one."""
    found: list[RawRow | Skipped] = []
    for seq in range(after + 1, after + 1 + _CHUNK):
        try:
            cells = db.execute(f"{_SELECT} place = ?", (places.place(number, seq),)).fetchone()
        except sqlite3.DatabaseError:
            found.append(Skipped(seq, _HURT))
        else:
            if cells:
                found.append(RawRow(seq, *cells[1:]))
    return found
