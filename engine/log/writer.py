"""`SessionWriter`: the append path. An event is committed when `append` returns, or it waits in memory and the health
says so; nothing is raised into the loop and nothing is written out of order."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from engine.events import LogHealth
from engine.log import ids, places, rows, schema
from engine.log.errors import LogError, explain
from engine.log.lease import Lease, forget

if TYPE_CHECKING:
    from engine.events import Event
    from engine.log.store import LogStore
    from engine.queries import LoadedSession

E = TypeVar("E", bound="Event")

DURABLE = frozenset({"approval_requested", "approval_decided", "tool_started", "run_finished"})
# While nothing can be saved, every append tries again; once many wait, only some do, for each try costs all of them.
_EAGER = 256
_IMPATIENT = 0.05


class _Entry(NamedTuple):
    """A row on its way: over-large strings still in place."""

    seq: int
    type: str
    at: str
    body: str
    artifact: str
    durable: bool


class SessionWriter:
    """Appends to one session, whose lease it holds. From any thread: a lock keeps appends one at a time.

    ``seq`` is that of the newest event, saved or not. Made by `LogStore.create` and `LogStore.open`.
    """

    def __init__(
        self,
        store: LogStore,
        session: str,
        lease: Lease | None,
        seq: int = 0,
        on_health: Callable[[LogHealth], None] | None = None,
    ) -> None:
        self.session = session
        self.seq = seq
        self.health = LogHealth(session=session, saving=True)
        self.on_health = on_health
        self._store = store
        self._lease = lease
        self._db: sqlite3.Connection | None = None
        self._number = 0
        self._full = False
        self._closed = False
        self._waiting: list[_Entry] = []
        self._lock = threading.RLock()

    @property
    def unsaved(self) -> int:
        """How many events wait in memory because they cannot be written."""
        return len(self._waiting)

    def append(self, event: E, *, durable: bool = False) -> E:
        """Store ``event`` as the next of the session and return it with session, seq and at.

        It survives a crash of the process from here on; with ``durable`` (always so for approvals, the start of a
        tool and the end of a run) a power cut as well. When it cannot be written it waits: see ``health``.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError(f"session {self.session} is closed: nothing can be appended to it")
            self.seq += 1
            now = datetime.now(UTC)
            stored = cast(E, event.model_copy(update={"session": self.session, "seq": self.seq, "at": now}))
            try:
                body = rows.dump(stored)
            except ValueError:
                stored = rows.storable(stored)
                body = rows.dump(stored)
            lasting = durable or stored.type in DURABLE
            artifact = getattr(stored, "artifact", "")
            self._waiting.append(_Entry(self.seq, stored.type, now.isoformat(), body, artifact, lasting))
            if self.health.saving or len(self._waiting) <= _EAGER or len(self._waiting) % _EAGER == 0:
                self.flush()
            return stored

    def flush(self) -> bool:
        """Write all that waits, in order, all or nothing; True when nothing is left. Cheap when nothing waits."""
        with self._lock:
            try:
                self._write(self._db or self._connect())
            except (sqlite3.Error, OSError, LogError) as error:
                self._failed(error)
                return False
            self._waiting.clear()
            self._saved()
            return True

    def stored(self) -> LoadedSession:
        """All of the session that can be read again. Raises NoSuchSession, LogUnreadable."""
        return self._store.load(self.session)

    def close(self) -> None:
        """Write what waits, bring the session list up to date and give the lease back. Safe to call twice."""
        with self._lock:
            if self._closed:
                return
            self.flush()
            self._closed = True
            if self.seq == 0:
                self._abandon()
            elif self._db is not None:
                self._store.catch_up_one(self._db, self.session)
            self._disconnect()
            if self._lease is not None:
                self._lease.release()

    def __enter__(self) -> SessionWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _connect(self) -> sqlite3.Connection:
        if self._lease is None:
            self._lease = Lease.take(self._store.home.session_dir(self.session))
        self._db = schema.connect(self._store.home.database, self._store.busy if self.health.saving else _IMPATIENT)
        self._full = False
        self._number = self._number or places.take(self._db, self.session)
        return self._db

    def _write(self, db: sqlite3.Connection) -> None:
        if not self._waiting:
            return
        self._make_durable(db, any(entry.durable for entry in self._waiting))
        try:
            self._insert(db)
        except sqlite3.IntegrityError:
            self._waiting = [entry for entry in self._waiting if not self._is_stored(db, entry)]
            self._insert(db)

    def _insert(self, db: sqlite3.Connection) -> None:
        values, refs = self._rows()
        if len(values) == 1 and not refs:
            db.execute(rows.INSERT, values[0])
            return
        with schema.transaction(db):
            db.executemany(rows.INSERT, values)
            db.executemany(rows.REFER, refs)

    def _is_stored(self, db: sqlite3.Connection, entry: _Entry) -> bool:
        """Whether a row that was thought to have failed is there after all: a sync can fail after the write."""
        body, _ = rows.outsource(entry.body, self._store.artifacts)
        key = (places.place(self._number, entry.seq), entry.at, body)
        return db.execute("SELECT 1 FROM events WHERE place=? AND at=? AND body=?", key).fetchone() is not None

    def _rows(self) -> tuple[list[tuple[int, str, int, str, str, str]], list[tuple[str, str]]]:
        """What waits as rows, and the references to artifacts among it; large strings are stored on the way."""
        values: list[tuple[int, str, int, str, str, str]] = []
        refs: list[tuple[str, str]] = []
        for entry in self._waiting:
            body, digests = rows.outsource(entry.body, self._store.artifacts)
            values.append((places.place(self._number, entry.seq), self.session, entry.seq, entry.type, entry.at, body))
            refs.extend((digest, self.session) for digest in (*digests, entry.artifact) if digest)
        return values, refs

    def _make_durable(self, db: sqlite3.Connection, full: bool) -> None:
        """FULL syncs the write-ahead log at the commit, and with it all that was committed before."""
        if full != self._full:
            db.execute(f"PRAGMA synchronous={'FULL' if full else 'NORMAL'}")
            self._full = full

    def _failed(self, error: sqlite3.Error | OSError | LogError) -> None:
        self._disconnect()
        reason = f"Nothing is being saved: {explain(error)}"
        if self.health.saving or self.health.error != reason:
            self._report(LogHealth(session=self.session, saving=False, error=reason))

    def _saved(self) -> None:
        if not self.health.saving and self._db is not None:
            self._db.execute(f"PRAGMA busy_timeout={int(self._store.busy * 1000)}")
            self._report(LogHealth(session=self.session, saving=True))

    def _disconnect(self) -> None:
        """Close the connection; after a failure the next try starts from a fresh one."""
        if self._db is not None:
            with suppress(sqlite3.Error):
                self._db.close()
            self._db = None

    def _report(self, health: LogHealth) -> None:
        self.health = health
        if self.on_health is not None:
            self.on_health(health)

    def _abandon(self) -> None:
        """A session in which nothing happened leaves nothing behind, as far as it can be reached."""
        folder = self._store.home.session_dir(self.session)
        with suppress(OSError, sqlite3.Error):
            if self._db is not None:
                places.forget(self._db, self.session)
            if self._lease is not None:
                forget(folder)
                folder.rmdir()


def create(store: LogStore, on_health: Callable[[LogHealth], None] | None) -> SessionWriter:
    """A writer of a new session; when nothing can be written it says so and keeps trying."""
    try:
        session = ids.claim(store.home.data / "sessions")
        lease: Lease | None = Lease.take(store.home.session_dir(session))
    except OSError:
        session, lease = ids.new_id(), None
    writer = SessionWriter(store, session, lease, on_health=on_health)
    writer.flush()
    return writer
