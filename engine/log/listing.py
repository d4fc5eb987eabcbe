"""The session list: one row a session, folded from its events and kept in ``sessions`` so that only new ones are read.

The fold is the one of `engine.state`: a row is where a `TaskState` is picked up again.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import isnan

from engine.events import Event
from engine.log import reader
from engine.log.artifacts import Artifacts
from engine.log.errors import is_damage
from engine.log.places import SPAN
from engine.queries import SessionRow
from engine.state import TaskState, step

_MOST = 1 << 62
_EPOCH = datetime.fromtimestamp(0, UTC)
_COLUMNS = "seq, events, skipped, started, updated, title, folder, model, turns, calls, approvals, cost, state"
_HEADS = f"""
SELECT * FROM (
    SELECT session, (
        SELECT max(place) - number * {SPAN} FROM events WHERE place > number * {SPAN} AND place < (number + 1) * {SPAN}
    ) AS head
    FROM numbers ORDER BY opened DESC, number DESC
) WHERE head > 0
"""


@dataclass(frozen=True, slots=True)
class Summary:
    """A session up to ``seq``. ``state`` is running, a run's reason, or open before the first run."""

    id: str
    seq: int = 0
    events: int = 0
    skipped: int = 0
    started: datetime = _EPOCH
    updated: datetime = _EPOCH
    title: str = ""
    folder: str = ""
    model: str = ""
    turns: int = 0
    calls: int = 0
    approvals: int = 0
    cost: float = 0.0
    state: str = "open"

    def row(self, *, held: bool, elsewhere: bool, snippet: str = "") -> SessionRow:
        """For the list. A run nobody holds the lease of is not running: its process is gone."""
        state = "interrupted" if self.state == "running" and not held else self.state
        return SessionRow(
            self.id, self.title, self.folder, self.model, self.started, self.updated, self.turns, self.calls,
            self.approvals, self.events, self.cost, state, elsewhere, self.skipped, snippet,
        )  # fmt: skip


def heads(db: sqlite3.Connection) -> list[tuple[str, int]]:
    """Every session and its highest seq, the one opened for writing last first."""
    try:
        return [(session, seq) for session, seq in db.execute(_HEADS)]
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return _heads_around_damage(db)


def summary(
    source: sqlite3.Connection, db: sqlite3.Connection, artifacts: Artifacts, session: str, head: int
) -> Summary:
    """The summary of a session up to ``head``: the stored one brought up to date, and stored again if that works.

    Events are read through ``source``, the summary is written through ``db``.
    """
    known = _stored(db, session)
    if known.seq == head:
        return known
    fresh = _folded(source, artifacts, known if known.seq < head else Summary(session))
    fresh = replace(fresh, seq=max(fresh.seq, head))
    try:
        _store(db, fresh)
    except sqlite3.DatabaseError:
        return fresh  # derived: where it cannot be kept (read-only, full, locked, damaged) it is made again next time
    return fresh


def behind(db: sqlite3.Connection, session: str, head: int) -> int:
    """How many events the stored summary of a session has not seen yet."""
    return head - _stored(db, session).seq


def _folded(db: sqlite3.Connection, artifacts: Artifacts, start: Summary) -> Summary:
    state = TaskState(
        title=start.title, cwd=start.folder, model=start.model, turn=start.turns, calls=start.calls,
        approvals=start.approvals, cost=start.cost,
    )  # fmt: skip
    outcome, seq, events, skipped = start.state, start.seq, start.events, start.skipped
    started, updated = start.started, start.updated
    for read in reader.read_events(db, start.id, artifacts, start.seq):
        seq = read.seq
        skipped += bool(read.problem)
        if read.event is None:
            continue
        try:
            state = step(state, read.event)
        except (ValueError, TypeError):
            skipped += 1  # an event of the right shape with a value that makes no sense must not take the list away
        outcome = _outcome(outcome, read.event)
        events += 1
        started, updated = started if events > 1 else read.event.at, read.event.at
    cost = 0.0 if isnan(state.cost) else state.cost
    return Summary(
        start.id, seq, events, skipped, started, updated, str(state.title), state.cwd, str(state.model),
        min(state.turn, _MOST), state.calls, state.approvals, cost, outcome,
    )  # fmt: skip


def _outcome(before: str, event: Event) -> str:
    if event.type == "run_started":
        return "running"
    return event.reason if event.type == "run_finished" else before


def _stored(db: sqlite3.Connection, session: str) -> Summary:
    try:
        cells = db.execute(f"SELECT {_COLUMNS} FROM sessions WHERE id=?", (session,)).fetchone()
        if cells is None or cells[1] is None:
            return Summary(session)
        seq, events, skipped, started, updated, *rest = cells
        times = datetime.fromisoformat(started), datetime.fromisoformat(updated)
        return Summary(session, seq, events, skipped, *times, *rest)
    except (sqlite3.DatabaseError, ValueError, TypeError):
        return Summary(session)


def _store(db: sqlite3.Connection, s: Summary) -> None:
    names = f"id, {_COLUMNS}"
    marks = ", ".join("?" * len(names.split(", ")))
    update = ", ".join(f"{name}=excluded.{name}" for name in _COLUMNS.split(", "))
    db.execute(
        f"INSERT INTO sessions ({names}) VALUES ({marks}) ON CONFLICT(id) DO UPDATE SET {update}",
        (s.id, s.seq, s.events, s.skipped, s.started.isoformat(), s.updated.isoformat(), s.title, s.folder, s.model,
         s.turns, s.calls, s.approvals, s.cost, s.state),
    )  # fmt: skip


def _heads_around_damage(db: sqlite3.Connection) -> list[tuple[str, int]]:
    """The sessions that can still be told, newest id first, by walking the table up to the damage."""
    found: dict[str, int] = {}
    for query in ("SELECT id, seq FROM sessions", "SELECT session, seq FROM events"):
        try:
            for session, seq in db.execute(query):
                found[session] = max(seq or 0, found.get(session, 0))
        except sqlite3.DatabaseError:
            continue
    return sorted(found.items(), reverse=True)
