"""`LogStore`: the door to all stored sessions.

Threads: a store holds no connection. Every operation opens its own and closes it, so any thread may call any of them;
what may take long (list with a search, load, verify, import) belongs off the event loop. A `SessionWriter` keeps one
connection for its session and guards it with a lock.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import chain
from typing import BinaryIO

from engine.events import Event, LogHealth
from engine.log import ids, lease, listing, reader, schema, search, surgery, transfer, verify, writer
from engine.log.artifacts import Artifacts
from engine.log.errors import LogError, NoSuchSession, unreadable
from engine.log.transfer import Imported, LineReader, read_jsonl
from engine.log.verify import VerifyReport
from engine.log.writer import SessionWriter
from engine.paths import Home
from engine.queries import ListSessions, LoadedSession, SessionRow, Skipped

OnHealth = Callable[[LogHealth], None]
Connected = AbstractContextManager[sqlite3.Connection]
_TIDY = 200
_QUICK = 5_000


class LogStore:
    """All sessions below ``home``. Making one touches nothing; ``busy`` is how many seconds to wait for a lock."""

    def __init__(self, home: Home, *, busy: float = schema.BUSY_SECONDS) -> None:
        self.home = home
        self.busy = busy
        self.artifacts = Artifacts(home.artifacts)

    # --- writing -----------------------------------------------------------------------------------------------------

    def create(self, on_health: OnHealth | None = None) -> SessionWriter:
        """A new session. Never raises: when nothing can be saved, the writer's health says so and it keeps trying."""
        return writer.create(self, on_health)

    def open(self, session: str, on_health: OnHealth | None = None) -> SessionWriter:
        """Go on with a session. Raises SessionBusy when it is open elsewhere, NoSuchSession, LogUnreadable."""
        self._check(session)
        try:
            held: lease.Lease | None = lease.Lease.take(self.home.session_dir(session))
        except OSError:
            held = None  # it can still be read and gone on with; the writer says that nothing is being saved
        try:
            with self._reading() as db:
                seq = reader.head(db, session)
        except BaseException:
            if held is not None:
                held.release()
            raise
        opened = SessionWriter(self, session, held, seq, on_health)
        opened.flush()
        return opened

    def fork(self, session: str, upto_seq: int | None = None) -> str:
        """Copy a session up to and including ``upto_seq`` (None: all of it) to a new one and return its id."""
        self._check(session)
        with self._reading() as source, self._writing() as db:
            last = reader.head(source, session)
            upto = last if upto_seq is None else upto_seq
            if not 1 <= upto <= last:
                raise LogError(f"Session {session} has no event {upto}.", f"It has events 1 to {last}.")
            child = ids.claim(self.home.data / "sessions")
            surgery.fork(source, db, session, child, upto)
        return child

    def remove(self, session: str) -> None:
        """Delete a session and whatever only it refers to. Raises SessionBusy while somebody has it open."""
        self._check(session)
        folder = self.home.session_dir(session)
        with self._writing() as db:
            held = lease.Lease.take(folder)
            try:
                surgery.remove(db, session, self.artifacts)
                surgery.remove_folder(folder)
            finally:
                held.release()

    def import_from(self, stream: BinaryIO, read: LineReader = read_jsonl) -> Imported:
        """Take over a session from a transcript. Its id is kept unless it is taken. Raises LogError when there is no
        event in it at all."""
        lines = read(stream)
        before = transfer.upto_first_event(lines)
        first = before[-1].event if before else None
        if first is None:
            raise LogError("There is no event in that file.", _why_empty(before))
        claimed = first.session
        session, held = self._place_for(claimed)
        try:
            with self._writing() as db:
                count, skipped = transfer.store(db, session, claimed, chain(before, lines), self.artifacts)
        finally:
            held.release()
        return Imported(session, count, tuple(skipped))

    def catch_up(self, limit: int = _TIDY) -> bool:
        """Bring list and search index up to date by at most ``limit`` texts, and fold the write-ahead log back; True
        when nothing is left. For idle moments: all of it is done when needed anyway."""
        if not self.home.database.exists():
            return True
        with self._reading() as source, self._writing() as db:
            for session, head in listing.heads(source):
                listing.summary(source, db, self.artifacts, session, head)
                if not search.index(source, db, self.artifacts, session, head, limit):
                    return False
            db.execute("PRAGMA wal_checkpoint(PASSIVE)")
        return True

    def catch_up_one(self, db: sqlite3.Connection, session: str) -> None:
        """The same for one session through a writer's connection, as it closes, unless that would keep a person
        waiting. What is left out or fails is done on demand."""
        try:
            head = reader.head(db, session)
            if 0 < listing.behind(db, session, head) <= _QUICK:
                listing.summary(db, db, self.artifacts, session, head)
                search.index(db, db, self.artifacts, session, head, _TIDY)
        except sqlite3.Error:
            return

    # --- reading -----------------------------------------------------------------------------------------------------

    def load(self, session: str) -> LoadedSession:
        """Every readable event and what was skipped. Raises NoSuchSession, LogUnreadable."""
        self._check(session)
        with self._reading() as db:
            return reader.load(db, session, self.artifacts)

    def parts(self, session: str, size: int, after: int = 0) -> Generator[LoadedSession, None, None]:
        """The same above seq ``after``, about ``size`` rows at a time. Holds a connection until it is read to its end
        or closed; each part may be read by another thread. Raises NoSuchSession, LogUnreadable."""
        self._check(session)
        with self._reading() as db:
            yield from reader.parts(db, session, self.artifacts, size, after)

    def of_types(self, session: str, types: frozenset[str]) -> tuple[Event, ...]:
        """Its readable events of some types alone. Raises NoSuchSession, LogUnreadable."""
        self._check(session)
        wanted = frozenset(type.encode() for type in types)
        with self._reading() as db:
            found = reader.read_events(db, session, self.artifacts, types=wanted)
            return tuple(read.event for read in found if read.event is not None)

    def list(self, query: ListSessions | None = None) -> tuple[SessionRow, ...]:
        """The sessions that match, the one opened for writing last first. Raises LogUnreadable."""
        query = query or ListSessions()
        if not self.home.database.exists():
            return ()
        with self._reading() as source, self._deriving() as db:
            heads = listing.heads(source)
            hits = self._search(source, db, heads, query.text) if search.words_of(query.text) else None
            found = []
            for session, head in heads:
                if hits is not None and session not in hits:
                    continue
                summary = listing.summary(source, db, self.artifacts, session, head)
                if query.folder and summary.folder != query.folder:
                    continue
                found.append(self._row(summary, hits[session] if hits else ""))
                if len(found) >= query.limit:
                    break
        return tuple(found)

    def newest(self, folder: str) -> str | None:
        """The session of ``folder`` that was opened for writing last; None when it has none."""
        found = self.list(ListSessions(folder=folder, limit=1))
        return found[0].id if found else None

    def find(self, text: str) -> str:
        """The id ``text`` stands for: itself, or the only one that begins or ends with it. Raises NoSuchSession."""
        if not self.home.database.exists():
            raise NoSuchSession("There are no stored sessions yet.", "Start one with: agent-tui")
        with self._reading() as db:
            known = [session for session, _ in listing.heads(db)]
        if text in known:
            return text
        close = [session for session in known if text and (session.startswith(text) or session.endswith(text))]
        if len(close) == 1:
            return close[0]
        if close:
            raise NoSuchSession(f"{text} could be any of {len(close)} sessions.", "Give more of the id.")
        raise NoSuchSession(f"There is no session {text[:80]}.", "See what there is: agent-tui sessions list")

    def verify(self, session: str) -> VerifyReport:
        """Read and hash all of a session. Raises NoSuchSession, LogUnreadable."""
        self._check(session)
        with self._reading() as db:
            return verify.verify(db, session, self.artifacts)

    def export(self, session: str, write: Callable[[str], object]) -> tuple[Skipped, ...]:
        """Hand a session to ``write``, a line an event; returns what could not be. Whole outputs kept as artifacts
        are not part of it. Raises NoSuchSession, LogUnreadable."""
        self._check(session)
        with self._reading() as db:
            return tuple(transfer.export(db, session, self.artifacts, write))

    # --- below -------------------------------------------------------------------------------------------------------

    def _search(
        self, source: sqlite3.Connection, db: sqlite3.Connection, heads: Iterable[tuple[str, int]], text: str
    ) -> dict[str, str]:
        try:
            for session, head in heads:
                search.index(source, db, self.artifacts, session, head)
        except sqlite3.DatabaseError:
            pass  # read-only, full, locked or damaged: what was indexed before can still be searched
        return search.find(db, text)

    def _row(self, summary: listing.Summary, snippet: str) -> SessionRow:
        found = lease.holder(self.home.session_dir(summary.id))
        return summary.row(held=found is not None, elsewhere=lease.is_elsewhere(found), snippet=snippet)

    def _place_for(self, claimed: str) -> tuple[str, lease.Lease]:
        """The id an imported session gets, and its lease."""
        taken = not ids.is_safe(claimed) or self._exists(claimed) or self.home.session_dir(claimed).exists()
        session = ids.claim(self.home.data / "sessions") if taken else claimed
        return session, lease.Lease.take(self.home.session_dir(session))

    def _exists(self, session: str) -> bool:
        if not self.home.database.exists():
            return False
        with self._reading() as db:
            return reader.exists(db, session)

    def _check(self, session: str) -> None:
        """Raises NoSuchSession unless ``session`` is stored."""
        if not ids.is_safe(session) or not self._exists(session):
            raise NoSuchSession(f"There is no session {session[:80]}.", "See what there is: agent-tui sessions list")

    @contextmanager
    def _connection(self, opened: Callable[[], sqlite3.Connection]) -> Iterator[sqlite3.Connection]:
        """A connection for one operation, whose failures become LogErrors."""
        db: sqlite3.Connection | None = None
        try:
            db = opened()
            yield db
        except sqlite3.Error as error:
            raise unreadable(error, self.home.database) from error
        finally:
            if db is not None:
                db.close()

    def _reading(self) -> Connected:
        return self._connection(lambda: schema.connect_to_read(self.home.database, self.busy))

    def _writing(self) -> Connected:
        return self._connection(lambda: schema.connect(self.home.database, self.busy))

    def _deriving(self) -> Connected:
        """For reading that keeps what it derives, where it can."""

        def opened() -> sqlite3.Connection:
            try:
                return schema.connect(self.home.database, self.busy)
            except (sqlite3.OperationalError, OSError):
                return schema.connect_to_read(self.home.database, self.busy)

        return self._connection(opened)


def _why_empty(lines: list[transfer.Line]) -> str:
    if not lines:
        return "The file is empty."
    return f"Line {lines[0].number}: {lines[0].problem}. Only files of 'agent-tui sessions export' can be imported."
