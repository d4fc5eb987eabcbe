"""Connections to sessions.db: how they are opened, and the tables put in place on first use."""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

VERSION = 1
BUSY_SECONDS = 5.0


def connect(path: Path, busy: float = BUSY_SECONDS) -> sqlite3.Connection:
    """A connection that may write, tables in place; WAL, synchronous NORMAL, every statement its own transaction.

    It may move between threads, but only one may use it at a time. Raises OSError and sqlite3.Error.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    connection = sqlite3.connect(path, timeout=busy, isolation_level=None, check_same_thread=False)
    try:
        if _version(connection) < VERSION:
            _create(connection, path)
        connection.execute("PRAGMA synchronous=NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path, busy: float = BUSY_SECONDS) -> sqlite3.Connection:
    """A connection that only reads; also where the folder is read-only. Raises sqlite3.Error."""
    uri = f"file:{quote(str(path))}"
    try:
        return _reader(f"{uri}?mode=ro", busy)
    except sqlite3.OperationalError:
        # A WAL database in a folder nobody may write to: SQLite reads it when told that nothing will change.
        return _reader(f"{uri}?immutable=1", busy)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, with the write lock from the start so that it cannot fail half way for being late."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _reader(uri: str, busy: float) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=busy, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _create(connection: sqlite3.Connection, path: Path) -> None:
    """Create or update the tables, one process at a time: the others wait and then find them there."""
    with path.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _version(connection) < VERSION:
            from engine.log.migrations import migrate

            migrate(connection, VERSION)
