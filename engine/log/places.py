"""Where an event lies in the database: ``place = number of its session * 2**32 + seq``, the table's primary key.

An append so goes to one spot of one tree, with no second index to keep, and a session is a range of places. ``numbers``
gives a session its number and remembers in which order sessions were last opened for writing: no clock decides that.
"""

from __future__ import annotations

import sqlite3

from engine.log.errors import is_damage
from engine.log.schema import transaction

SPAN = 1 << 32


def place(number: int, seq: int) -> int:
    """The place of event ``seq``; ``place(number, 0)`` and ``place(number + 1, 0)`` enclose a session."""
    return number * SPAN + seq


def take(db: sqlite3.Connection, session: str) -> int:
    """The number of a session about to be written, given now if it has none. Raises sqlite3.Error."""
    with transaction(db):
        db.execute("INSERT OR IGNORE INTO numbers (session) VALUES (?)", (session,))
        db.execute(
            "UPDATE numbers SET opened=(SELECT coalesce(max(opened), 0) + 1 FROM numbers) WHERE session=?", (session,)
        )
        return int(db.execute("SELECT number FROM numbers WHERE session=?", (session,)).fetchone()[0])


def find(db: sqlite3.Connection, session: str) -> int | None:
    """The number of a stored session; None when it has none. Where damage hides it, its events are asked."""
    try:
        found = db.execute("SELECT number FROM numbers WHERE session=?", (session,)).fetchone()
        return int(found[0]) if found else None
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
    found = db.execute("SELECT place FROM events WHERE session=? LIMIT 1", (session,)).fetchone()
    return int(found[0]) // SPAN if found else None


def forget(db: sqlite3.Connection, session: str) -> None:
    """Take a session's number back; its events are gone already."""
    db.execute("DELETE FROM numbers WHERE session=?", (session,))
