"""Is a stored session whole? Every row read, every gap, result and artifact looked at."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from engine.events import Event
from engine.log import reader
from engine.log.artifacts import Artifacts
from engine.queries import Skipped


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What was found. ``events``: readable ones. ``skipped``: unreadable rows, gaps and fields whose artifact is gone.
    ``disorder``: results without a call before them. ``damaged``: digests of missing or changed artifacts."""

    id: str
    events: int
    skipped: tuple[Skipped, ...] = ()
    disorder: tuple[Skipped, ...] = ()
    artifacts: int = 0
    damaged: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not (self.skipped or self.disorder or self.damaged)


def verify(db: sqlite3.Connection, session: str, artifacts: Artifacts) -> VerifyReport:
    """Read all of a session and hash its artifacts. Raises sqlite3.Error when the database cannot be reached."""
    events = 0
    skipped: list[Skipped] = []
    disorder: list[Skipped] = []
    called: set[str] = set()
    for read in reader.read_events(db, session, artifacts):
        if read.problem:
            skipped.append(Skipped(read.seq, read.problem))
        if read.event is None:
            continue
        events += 1
        stray = _stray_result(read.event, called)
        if stray:
            disorder.append(Skipped(read.seq, stray))
    digests = [digest for (digest,) in db.execute("SELECT digest FROM refs WHERE session=? ORDER BY 1", (session,))]
    damaged = tuple(digest for digest in digests if not artifacts.is_whole(digest))
    return VerifyReport(session, events, tuple(skipped), tuple(disorder), len(digests), damaged)


def _stray_result(event: Event, called: set[str]) -> str:
    """Remember the calls seen; why a result has none, empty when all is well."""
    if event.type == "assistant_message":
        called.update(call.id for call in event.calls)
    if event.type == "tool_result" and event.call_id not in called:
        return f"a result of {event.name} whose call {event.call_id} was not made before it"
    return ""
