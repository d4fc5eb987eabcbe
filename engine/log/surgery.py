"""Forking and removing whole sessions. What stays is never touched."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

from engine.log import places, reader, search
from engine.log.artifacts import Artifacts
from engine.log.schema import transaction
from engine.queries import Skipped

# The body goes back as the very bytes it was read as, readable or not.
_COPY = """
INSERT INTO events (place, session, seq, type, at, body)
VALUES (?, ?, ?, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT))
"""


def fork(source: sqlite3.Connection, db: sqlite3.Connection, parent: str, child: str, upto: int) -> None:
    """Copy the events of ``parent`` up to seq ``upto`` into the new session ``child``. Raises sqlite3.Error.

    Read through ``source`` and written through ``db``: a connection that has met a damaged page refuses to write.
    """
    number = places.take(db, child)
    with transaction(db):
        for row in reader.raw_rows(source, parent):
            if row.seq > upto:
                break
            if isinstance(row, Skipped):
                continue  # what cannot be reached leaves the same gap in the copy
            body = _with_parent(row.body, parent, upto) if row.type == b"session_started" else row.body
            db.execute(_COPY, (places.place(number, row.seq), child, row.seq, row.type, row.at, body))
        db.execute("INSERT OR IGNORE INTO refs SELECT digest, ? FROM refs WHERE session=?", (child, parent))


def remove(db: sqlite3.Connection, session: str, artifacts: Artifacts) -> None:
    """Delete a session's rows, its index and those of its artifacts no other session refers to."""
    search.forget(db, session)
    with transaction(db):
        own = [digest for (digest,) in db.execute("SELECT digest FROM refs WHERE session=?", (session,))]
        db.execute("DELETE FROM refs WHERE session=?", (session,))
        db.execute("DELETE FROM sessions WHERE id=?", (session,))
        number = places.find(db, session)
        if number is not None:
            ends = places.place(number, 0), places.place(number + 1, 0)
            db.execute("DELETE FROM events WHERE place > ? AND place < ?", ends)
            places.forget(db, session)
    for digest in own:
        if db.execute("SELECT 1 FROM refs WHERE digest=?", (digest,)).fetchone() is None:
            artifacts.remove(digest)


def remove_folder(folder: Path) -> None:
    """Delete a session's own folder. The caller holds its lease. Raises OSError."""
    shutil.rmtree(folder)


def _with_parent(body: bytes | None, parent: str, upto: int) -> bytes | None:
    """The first event's body with where the fork was cut off; a body that cannot be read stays as it is."""
    try:
        data = json.loads(body or b"")
    except ValueError:
        return body
    if not isinstance(data, dict):
        return body
    return json.dumps({**data, "parent": parent, "parent_seq": upto}, ensure_ascii=False).encode()
