"""The tables and how they came to be. Imported only when a database is new or old: sqlite-utils is not cheap.

Migrations only ever add, and never change what a column means: so an older version of the app reads a newer file and
goes on writing to it, and a newer one reads an older file.
"""

from __future__ import annotations

import sqlite3

from sqlite_utils import Database, Migrations

MIGRATIONS = Migrations("agent-tui")


@MIGRATIONS()
def events(db: Database) -> None:
    """The truth: one row an event, ``body`` its JSON without session, seq and at. `engine.log.places` says where."""
    columns = {"place": int, "session": str, "seq": int, "type": str, "at": str, "body": str}
    db.table("events").create(columns, pk="place", not_null=set(columns))
    db.table("numbers").create({"number": int, "session": str, "opened": int}, pk="number", not_null={"session"})
    db.table("numbers").create_index(["session"], unique=True)


@MIGRATIONS()
def refs(db: Database) -> None:
    """Which session refers to which artifact; written with the event that does."""
    db.table("refs").create({"digest": str, "session": str}, pk=("digest", "session"))
    db.table("refs").create_index(["session"])


@MIGRATIONS()
def sessions(db: Database) -> None:
    """One row a session, derived from its events up to ``seq``; may be emptied at any time."""
    columns = {
        "id": str,
        "seq": int,
        "events": int,
        "skipped": int,
        "started": str,
        "updated": str,
        "title": str,
        "folder": str,
        "model": str,
        "turns": int,
        "calls": int,
        "approvals": int,
        "cost": float,
        "state": str,
        "indexed": int,
    }
    db.table("sessions").create(columns, pk="id", defaults={"seq": 0, "indexed": 0})


@MIGRATIONS()
def texts(db: Database) -> None:
    """What was said, bounded, for search; derived. Trigrams find parts of words, of paths and of Chinese alike."""
    db.table("texts").create({"id": int, "session": str, "seq": int, "text": str}, pk="id")
    db.table("texts").create_index(["session"])
    db.table("texts").enable_fts(["text"], tokenize="trigram", create_triggers=True)


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring the database to ``version``. The caller keeps other processes out meanwhile."""
    db = Database(connection)
    db.enable_wal()
    MIGRATIONS.apply(db)
    connection.execute(f"PRAGMA user_version={version}")
