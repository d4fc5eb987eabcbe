"""The one tolerant reader: resume, list, search, export, fork and verify all read through it.

What cannot be read is passed on as a `Skipped` with its reason, in its place; nothing is raised for it or rewritten.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from engine.events import Event
from engine.log import rows
from engine.log.artifacts import Artifacts
from engine.log.errors import is_damage, is_no_database
from engine.queries import LoadedSession, Skipped

_CHUNK = 1000
# Bytes, not text: a damaged cell must not fail the whole chunk for not being UTF-8.
_COLUMNS = "seq, CAST(type AS BLOB), CAST(at AS BLOB), CAST(body AS BLOB)"
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
    events: list[Event] = []
    skipped: list[Skipped] = []
    for read in read_events(db, session, artifacts):
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
    expected = after + 1
    for row in _reachable(db, session, after):
        if row.seq > expected:
            yield Skipped(expected, _gap(row.seq - expected))
        expected = row.seq + 1
        yield row


def head(db: sqlite3.Connection, session: str) -> int:
    """The highest seq of a session, 0 when it has none; raises sqlite3.Error."""
    return int(db.execute("SELECT coalesce(max(seq), 0) FROM events WHERE session=?", (session,)).fetchone()[0])


def exists(db: sqlite3.Connection, session: str) -> bool:
    """Whether a session has any row; when damage hides that, it is taken to have."""
    try:
        return db.execute("SELECT 1 FROM events WHERE session=? LIMIT 1", (session,)).fetchone() is not None
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


def _reachable(db: sqlite3.Connection, session: str, after: int) -> Iterator[RawRow | Skipped]:
    """All rows above ``after``, a chunk at a time, so that a damaged page costs a chunk's speed and not the rest."""
    while True:
        chunk = _chunk(db, session, after)
        if chunk is not None:
            yield from chunk
            if len(chunk) < _CHUNK:
                return
            after = chunk[-1].seq
            continue
        rescued = _around_damage(db, session, after, after + _CHUNK)
        if not any(isinstance(row, RawRow) for row in rescued) and not _knows_head(db, session):
            yield Skipped(after + 1, f"everything from here on is {_HURT}")
            return
        yield from rescued
        after += _CHUNK
        if _knows_head(db, session) and after >= head(db, session):
            return


def _chunk(db: sqlite3.Connection, session: str, after: int) -> list[RawRow] | None:
    """The next rows above ``after``; None when there is damage among them."""
    query = f"SELECT {_COLUMNS} FROM events WHERE session=? AND seq>? ORDER BY seq LIMIT {_CHUNK}"
    try:
        return [RawRow(*cells) for cells in db.execute(query, (session, after))]
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return None
        raise


def _around_damage(db: sqlite3.Connection, session: str, after: int, upto: int) -> list[RawRow | Skipped]:
    """The rows in ``after`` < seq <= ``upto`` that can be had one by one, or by walking the table past its index."""
    found: dict[int, RawRow | Skipped] = {}
    for seq in range(after + 1, upto + 1):
        try:
            cells = db.execute(f"SELECT {_COLUMNS} FROM events WHERE session=? AND seq=?", (session, seq)).fetchone()
        except sqlite3.DatabaseError:
            found[seq] = Skipped(seq, _HURT)
        else:
            if cells:
                found[seq] = RawRow(*cells)
    walk = f"SELECT {_COLUMNS} FROM events NOT INDEXED WHERE session=? AND seq>? AND seq<=?"
    try:
        for cells in db.execute(walk, (session, after, upto)):
            found[cells[0]] = RawRow(*cells)
    except sqlite3.DatabaseError:
        pass  # the walk ends at the damaged page; what it met before counts
    return [found[seq] for seq in sorted(found)]


def _knows_head(db: sqlite3.Connection, session: str) -> bool:
    """Whether the highest seq can be had at all: damage may hide where a session ends."""
    try:
        head(db, session)
    except sqlite3.DatabaseError:
        return False
    return True
