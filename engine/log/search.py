"""Full-text search over what was said, done and answered. The index is fed behind the append path, never in it.

Every word must occur somewhere in a session. Words are found as parts of words, so paths, symbols and Chinese need no
rules of their own; what is shorter than three characters has no trigram and is looked for by walking the texts.
"""

from __future__ import annotations

import re
import sqlite3

from engine.events import Event
from engine.log import reader
from engine.log.artifacts import Artifacts
from engine.log.schema import transaction
from engine.text import clean

_TRIGRAM = 3
_LONGEST = 16_000
_LONGEST_RESULT = 4_000
_WORDS = re.compile(r'"([^"]+)"|(\S+)')
_BATCH = 64
_AROUND = 30
_TYPES = frozenset({b"user_message", b"assistant_message", b"tool_started", b"tool_result", b"setting_changed"})


def index(
    source: sqlite3.Connection,
    db: sqlite3.Connection,
    artifacts: Artifacts,
    session: str,
    head: int,
    limit: int | None = None,
) -> bool:
    """Index what was appended to a session since last time, at most ``limit`` texts; True when it is up to date.

    Read through ``source``, written through ``db`` in small transactions, so that whoever appends meanwhile hardly
    waits. Raises sqlite3.Error.
    """
    known = _indexed(db, session)
    if known > head and known > reader.head(db, session):
        forget(db, session)  # it knows of events a power cut has taken back
        known = 0
    batch: list[tuple[str, int, str]] = []
    for read in reader.read_events(source, session, artifacts, known, _TYPES):
        if read.seq > head:
            break
        text = searchable(read.event) if read.event is not None else ""
        if not text:
            continue
        batch.append((session, read.seq, text))
        if len(batch) >= min(_BATCH, limit or _BATCH):
            _store(db, session, batch, known, read.seq)
            known = read.seq
            limit = limit - len(batch) if limit is not None else None
            batch.clear()
            if limit is not None and limit <= 0:
                return False
    if known < head:
        _store(db, session, batch, known, head)
    return True


def find(db: sqlite3.Connection, text: str) -> dict[str, str]:
    """The sessions in which every word of ``text`` occurs, each with a snippet around the first word. Any ``text``."""
    words = words_of(text)
    newest: dict[str, int] = {}
    for number, word in enumerate(words):
        hits = _sessions_with(db, word)
        newest = hits if number == 0 else {session: id_ for session, id_ in newest.items() if session in hits}
    return {session: _snippet(db, id_, words[0]) for session, id_ in newest.items()}


def words_of(text: str) -> list[str]:
    """What is looked for: words, and whatever stands in double quotes as it is. A lone quote means nothing."""
    parts = (phrase or word.strip('"') for phrase, word in _WORDS.findall(clean(text)))
    return [part for part in dict.fromkeys(parts) if part.strip()]


def forget(db: sqlite3.Connection, session: str) -> None:
    """Drop a session from the index."""
    with transaction(db):
        db.execute("DELETE FROM texts WHERE session=?", (session,))
        db.execute("UPDATE sessions SET indexed=0 WHERE id=?", (session,))


def searchable(event: Event) -> str:
    """The text of an event a person may look for, bounded; empty when there is none."""
    match event.type:
        case "user_message":
            return bounded(event.text)
        case "assistant_message":
            return bounded("\n".join(block.text for block in event.blocks if block.kind == "text"))
        case "tool_started":
            return bounded(event.title)
        case "tool_result":
            return bounded(f"{event.summary}\n{event.text}".strip(), _LONGEST_RESULT)
        case "setting_changed":
            return bounded(str(event.value)) if event.name == "title" else ""
        case _:
            return ""


def bounded(text: str, longest: int = _LONGEST) -> str:
    """``text`` for the index: clean, and of an overlong one its beginning and its end."""
    text = clean(text)
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n…\n{text[-half:]}"


def snippet(text: str, word: str) -> str:
    """One line of ``text`` around ``word``."""
    flat = " ".join(text.split())
    at = max(0, flat.lower().find(word.lower()))
    start, end = max(0, at - _AROUND), at + len(word) + _AROUND
    return f"{'…' if start else ''}{flat[start:end]}{'…' if end < len(flat) else ''}"


def _sessions_with(db: sqlite3.Connection, word: str) -> dict[str, int]:
    """Each session in which ``word`` occurs, with the newest text that has it."""
    if len(word) >= _TRIGRAM:
        where, value = (
            "id IN (SELECT rowid FROM texts_fts WHERE texts_fts MATCH ?)",
            '"' + word.replace('"', '""') + '"',
        )
    else:
        escaped = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        where, value = "text LIKE ? ESCAPE '\\'", f"%{escaped}%"
    return dict(db.execute(f"SELECT session, max(id) FROM texts WHERE {where} GROUP BY session", (value,)))


def _snippet(db: sqlite3.Connection, id_: int, word: str) -> str:
    found = db.execute("SELECT text FROM texts WHERE id=?", (id_,)).fetchone()
    return snippet(found[0], word) if found else ""


def _indexed(db: sqlite3.Connection, session: str) -> int:
    found = db.execute("SELECT indexed FROM sessions WHERE id=?", (session,)).fetchone()
    return int(found[0] or 0) if found else 0


def _store(db: sqlite3.Connection, session: str, batch: list[tuple[str, int, str]], before: int, upto: int) -> None:
    """Add a batch, unless another process has just done so."""
    with transaction(db):
        if _indexed(db, session) != before:
            return
        db.executemany("INSERT INTO texts (session, seq, text) VALUES (?, ?, ?)", batch)
        db.execute(
            "INSERT INTO sessions (id, indexed) VALUES (?, ?) ON CONFLICT(id) DO UPDATE SET indexed=excluded.indexed",
            (session, upto),
        )
