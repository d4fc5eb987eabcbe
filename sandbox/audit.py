"""The record: an append-only, hash-chained log outside the sandbox of what ran, was written, decided and refused.

One JSON object a line in ``audit.jsonl``; ``hash`` is keyed and over the record without it, ``prev`` is the hash
before. Key, newest hash and length are kept apart (`sandbox.seal`), so that a cut tail or a replaced file shows. When
the file is large it becomes an older one and a new one goes on with the chain; the oldest is removed when there are
too many, and the head says where the chain begins since.

A line is written before what it records begins. After a crash the log may be ahead of the head by whole records, or
end in half a line; both are mended by the next record, which says so.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sandbox.seal import GENESIS, Head, Key, Seal
from sandbox.trail import LOG, bounded, digest, encode, first_of, last_of, parse, rotated, rotated_name
from sandbox.trail import Record as Record
from sandbox.trail import query as query
from sandbox.trail import records as records

# What a record can be about.
TYPES = ("command", "write", "result", "decision", "denied", "blocked", "connection", "recovered", "continued")
# Said by a "recovered" record when the chain before it cannot be vouched for any more.
NO_HEAD, NO_KEY, BROKEN = "the head was missing", "the key was missing", "records after the head do not follow from it"

_ROTATE_AT = 32 * 1024 * 1024
_KEEP = 16


@dataclass(frozen=True, slots=True)
class Alert:
    """A record somebody should see at once. ``kind``: "escape" (a wall or a rule stopped it) or "high" (it has high
    risk and begins now). The rest is as recorded; ``reason`` may be empty."""

    kind: str
    seq: int
    at: str
    type: str
    risk: str
    subject: str
    reason: str
    session: str
    tool: str
    call: str


OnAlert = Callable[[Alert], None]


class Audit:
    """Appends to the log in ``folder``. Safe to use from several processes and threads at once.

    on_alert: told of each alert after it was recorded, on the thread that recorded it; it must not raise.
    rotate_at: bytes after which a new file begins. keep: how many older files there may be.
    """

    def __init__(
        self, folder: Path, on_alert: OnAlert | None = None, *, rotate_at: int = _ROTATE_AT, keep: int = _KEEP
    ) -> None:
        self.folder = folder
        self.log = folder / LOG
        self.seal = Seal(folder)
        self._on_alert = on_alert
        self._rotate_at, self._keep = rotate_at, keep

    def prepare(self) -> None:
        """Make folders and key, so that there is something to hide. Raises OSError."""
        with self._locked():
            self.seal.folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def write(self, type: str, **fields: Any) -> None:
        """Append one record. Long texts are cut. Raises OSError when it cannot be written."""
        with self._locked():
            with self._open() as fd:
                head, key = self._catch_up(fd)
                full = head.size >= self._rotate_at
                if not full:
                    record = self._append(fd, head, key, type, fields)
            if full:
                record = self._in_a_new_file(head, key, type, fields)
        if self._on_alert is not None and (alert := alert_of(record)) is not None:
            self._on_alert(alert)

    def _in_a_new_file(self, head: Head, key: Key, type: str, fields: Record) -> Record:
        """Put the full file away, drop the oldest, and go on with the chain."""
        self.log.rename(self.folder / rotated_name(head.seq))
        older = rotated(self.folder)
        too_many = older[: max(0, len(older) - self._keep)]
        if too_many:
            first = first_of(older[len(too_many)])
            head = replace(head, base_seq=first.get("seq", 1) - 1, base_hash=str(first.get("prev", GENESIS)))
            # The head first: a file too many is no contradiction to it, a missing one is.
            self.seal.store(head, key)
            for path in too_many:
                path.unlink()
        with self._open() as fd:
            self._append(fd, head, key, "continued", {"what": f"after {rotated_name(head.seq)}"})
            return self._append(fd, self._end(key), key, type, fields)

    def _append(self, fd: int, head: Head, key: Key, type: str, fields: Record) -> Record:
        record = {
            "seq": head.seq + 1,
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "type": type,
            **{name: bounded(value) for name, value in fields.items()},
            "prev": head.hash,
        }
        record["hash"] = digest(record, key)
        line = encode(record)
        if os.write(fd, line) != len(line):
            raise OSError("the audit record was cut short: is the disk full?")
        self.seal.store(replace(head, seq=record["seq"], hash=record["hash"], size=os.fstat(fd).st_size), key)
        return record

    def _catch_up(self, fd: int) -> tuple[Head, Key]:
        """The end of the chain as the next record must continue it, after mending what a crash left."""
        key = self.seal.key()
        head, size = self.seal.head(key), os.fstat(fd).st_size
        if key is None or head is None:
            return self._begin_again(fd, key)
        if head.size and not size and (self.folder / rotated_name(head.seq)).exists():
            head = replace(head, size=0)  # it was put away, and the app was killed before the next record
        if size <= head.size:
            return head, key
        tail = os.pread(fd, size - head.size, head.size)
        whole, newline, torn = tail.rpartition(b"\n")
        for line in whole.split(b"\n") if newline else ():
            record = parse(line)
            if record is None or record.get("prev") != head.hash or digest(record, key) != record.get("hash"):
                self._append(fd, head, key, "recovered", {"what": BROKEN})
                return self._end(key), key
            head = replace(head, seq=record["seq"], hash=record["hash"], size=size - len(torn))
        if torn:
            os.write(fd, b"\n")
            self._append(fd, head, key, "recovered", {"what": "a torn line", "torn": len(torn)})
            return self._end(key), key
        return head, key

    def _begin_again(self, fd: int, key: Key | None) -> tuple[Head, Key]:
        """There is no head or no key: the first record ever, or one after something was taken away."""
        last = last_of(self.folder)
        size = os.fstat(fd).st_size
        clean = key is None and not last and not size
        if size and os.pread(fd, 1, size - 1) != b"\n":
            os.write(fd, b"\n")
        head = Head(last.get("seq", 0), str(last.get("hash", GENESIS)))
        missing = NO_KEY if key is None else NO_HEAD
        key = key or self.seal.make_key(head.seq + 1)
        first = first_of(next(iter([*rotated(self.folder), self.log])))
        if first:
            head = replace(head, base_seq=first["seq"] - 1, base_hash=str(first.get("prev", GENESIS)))
        if clean:
            return head, key
        self._append(fd, head, key, "recovered", {"what": missing})
        return self._end(key), key

    def _end(self, key: Key) -> Head:
        """The head that has just been stored."""
        head = self.seal.head(key)
        if head is None:
            raise OSError(f"the head of the record in {self.seal.folder} cannot be read back")
        return head

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    @contextmanager
    def _open(self) -> Iterator[int]:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        fd = os.open(self.log, flags, 0o600)
        try:
            yield fd
        finally:
            os.close(fd)


def alert_of(record: Record) -> Alert | None:
    """The alert a record calls for, if any. A decision calls for none: what it allows is recorded as it begins."""
    refused = record["type"] == "blocked" or record.get("verdict") == "refused"
    high = record.get("risk") == "high" and record["type"] in ("command", "write", "denied")
    if not refused and not high:
        return None
    told = {name: str(record.get(name, "")) for name in ("at", "type", "risk", "subject", "reason")}
    who = {name: str(record.get(name, "")) for name in ("session", "tool", "call")}
    return Alert(kind="escape" if refused else "high", seq=record["seq"], **told, **who)
