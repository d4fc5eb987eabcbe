"""Sessions as JSON Lines: one event a line, plain ASCII, over-large strings in place.

Reading is as tolerant as the log itself and bounded in memory. Another tool's transcripts come in by another
`LineReader`; storing what it yields is the same for all.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from engine.events import Event
from engine.log import places, reader, rows
from engine.log.artifacts import Artifacts
from engine.log.schema import transaction
from engine.queries import Skipped

LONGEST_LINE = 32_000_000
_BLOCK = 1 << 20
_BATCH = 500
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line that could not be taken over. Lines count from 1."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Imported:
    """``id``: the session's id here. ``events``: how many were taken over."""

    id: str
    events: int
    skipped: tuple[SkippedLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """What one line of a transcript came to: an event with the session and seq it claims, or why it is none."""

    number: int
    event: Event | None
    problem: str = ""


LineReader = Callable[[BinaryIO], Iterator[Line]]


def export(db: sqlite3.Connection, session: str, artifacts: Artifacts, write: Callable[[str], object]) -> list[Skipped]:
    """Hand every readable event to ``write`` as a line with its newline; what was skipped is returned."""
    skipped: list[Skipped] = []
    for read in reader.read_events(db, session, artifacts):
        if read.event is not None:
            write(read.event.model_dump_json(ensure_ascii=True) + "\n")
        if read.problem:
            skipped.append(Skipped(read.seq, read.problem))
    return skipped


def read_jsonl(stream: BinaryIO) -> Iterator[Line]:
    """The lines of our own export. Never raises for what a line holds."""
    for number, raw in _bounded_lines(stream):
        if raw is None:
            yield Line(number, None, f"longer than {LONGEST_LINE // 1_000_000} MB")
            continue
        text = raw.removeprefix(_BOM).strip(b"\0 \t\r\n")
        if not text:
            if raw.strip():
                yield Line(number, None, "nothing but NUL bytes")
            continue
        try:
            yield Line(number, rows.parse(text))
        except rows.RowDamaged as damage:
            yield Line(number, None, str(damage))


def upto_first_event(lines: Iterator[Line]) -> list[Line]:
    """The lines up to and including the first that is an event, which says whose session it is; all if none is."""
    taken: list[Line] = []
    for line in lines:
        taken.append(line)
        if line.event is not None:
            break
    return taken


def store(
    db: sqlite3.Connection, session: str, claimed: str, lines: Iterable[Line], artifacts: Artifacts
) -> tuple[int, list[SkippedLine]]:
    """Store the events of ``lines`` under ``session``, those of any other session than ``claimed`` left out.

    A seq is kept where it rises, so that a line left out shows as a gap; else the next one is given.
    """
    skipped: list[SkippedLine] = []
    batch: list[Event] = []
    number = places.take(db, session)
    seq = count = 0
    for line in lines:
        if line.event is None:
            skipped.append(SkippedLine(line.number, line.problem))
            continue
        if line.event.session != claimed:
            skipped.append(SkippedLine(line.number, f"belongs to another session ({line.event.session[:64]})"))
            continue
        seq = line.event.seq if seq < line.event.seq < places.SPAN // 2 else seq + 1
        batch.append(line.event.model_copy(update={"session": session, "seq": seq}))
        count += 1
        if len(batch) >= _BATCH:
            _insert(db, number, batch, artifacts)
            batch.clear()
    _insert(db, number, batch, artifacts)
    return count, skipped


def _insert(db: sqlite3.Connection, number: int, events: list[Event], artifacts: Artifacts) -> None:
    values: list[tuple[int, str, int, str, str, str]] = []
    refs: list[tuple[str, str]] = []
    for event in events:
        body, digests = rows.outsource(rows.dump(event), artifacts)
        place = places.place(number, event.seq)
        values.append((place, event.session, event.seq, event.type, event.at.isoformat(), body))
        refs.extend((digest, event.session) for digest in (*digests, getattr(event, "artifact", "")) if digest)
    with transaction(db):
        db.executemany(rows.INSERT, values)
        db.executemany(rows.REFER, refs)


def _bounded_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Numbered lines; None for one that is too long, whose rest is read past in blocks."""
    number = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        if len(line) < LONGEST_LINE or line.endswith(b"\n"):
            yield number, line
            continue
        while (block := stream.readline(_BLOCK)) and not block.endswith(b"\n"):
            pass
        yield number, None
