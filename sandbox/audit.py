"""The record: an append-only, hash-chained log outside the sandbox of what ran, was written, decided and refused.

One JSON object a line in ``audit.jsonl``; ``hash`` is over the record without it, ``prev`` is the hash before. The
newest hash and length are kept apart in ``head``, so that a cut tail or a replaced file shows. The chain proves
changes by anything that cannot rewrite both files; nothing in the sandbox can reach either.

A line is written before what it records begins. After a crash the log may be ahead of ``head`` by whole records, or
end in half a line; both are mended by the next record, which says so.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sandbox.risk import Risk

GENESIS = "0" * 64
_MAX_TEXT = 4000
_MAX_ITEMS = 50
_HEAD_SIZE = 160

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the chain: number and hash of the newest record, length of the log in bytes."""

    seq: int = 0
    hash: str = GENESIS
    size: int = 0


class Audit:
    """Appends to the log in ``folder``. Safe to use from several processes at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "audit.jsonl"
        self._head = folder / "head"

    def write(self, type: str, **fields: Any) -> None:
        """Append one record. Long texts are cut. Raises OSError when it cannot be written."""
        with self._locked(), self._open() as fd:
            head = self._catch_up(fd)
            self._append(fd, head, type, fields)

    def _append(self, fd: int, head: Head, type: str, fields: Record) -> Head:
        record = {
            "seq": head.seq + 1,
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "type": type,
            **{name: bounded(value) for name, value in fields.items()},
            "prev": head.hash,
        }
        record["hash"] = digest(record)
        line = json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        if os.write(fd, line) != len(line):
            raise OSError("the audit record was cut short: is the disk full?")
        new = Head(record["seq"], record["hash"], os.fstat(fd).st_size)
        self._store_head(new)
        return new

    def _catch_up(self, fd: int) -> Head:
        """The end of the chain as the next record must continue it, after mending what a crash left."""
        head, size = self.head(), os.fstat(fd).st_size
        if head is None:
            head = Head()
            if size:
                last = _last_record(self.log)
                head = Head(last.get("seq", 0), last.get("hash", GENESIS), size)
                return self._append(fd, head, "recovered", {"what": "the head was missing"})
        if size <= head.size:
            return head
        tail = os.pread(fd, size - head.size, head.size)
        whole, newline, torn = tail.rpartition(b"\n")
        for line in whole.split(b"\n") if newline else ():
            record = parse(line)
            if record is None or record.get("prev") != head.hash or digest(record) != record.get("hash"):
                return self._append(fd, head, "recovered", {"what": "records after the head do not follow from it"})
            head = Head(record["seq"], record["hash"], size - len(torn))
        if torn:
            os.write(fd, b"\n")
            return self._append(fd, head, "recovered", {"what": "a torn line", "torn": len(torn)})
        return head

    def head(self) -> Head | None:
        """The stored end of the chain; None when it is missing or unreadable."""
        try:
            data = json.loads(self._head.read_text(encoding="utf-8"))
            return Head(int(data["seq"]), str(data["hash"]), int(data["size"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _store_head(self, head: Head) -> None:
        """Overwrite in place: always the same length, so that one write replaces all of it."""
        text = json.dumps({"seq": head.seq, "hash": head.hash, "size": head.size}).ljust(_HEAD_SIZE)
        fd = os.open(self._head, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.pwrite(fd, text.encode(), 0)
        finally:
            os.close(fd)

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


def digest(record: Record) -> str:
    """SHA-256 of a record's canonical JSON, its own ``hash`` left out."""
    rest = {name: value for name, value in record.items() if name != "hash"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def parse(line: bytes) -> Record | None:
    """A record, or None for anything else."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and isinstance(record.get("seq"), int) else None


def bounded(value: Any) -> Any:
    """``value`` as short JSON data: texts and lists cut with the number of what is left out."""
    if isinstance(value, Risk):
        return value.word
    if isinstance(value, str):
        text = value.encode("utf-8", "backslashreplace").decode()
        return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}… (+{len(text) - _MAX_TEXT} characters)"
    if isinstance(value, list | tuple):
        items = [bounded(item) for item in value[:_MAX_ITEMS]]
        return items if len(value) <= _MAX_ITEMS else [*items, f"… (+{len(value) - _MAX_ITEMS})"]
    return value


def records(folder: Path) -> Iterator[Record]:
    """Every readable record, oldest first."""
    try:
        log = (folder / "audit.jsonl").open("rb")
    except FileNotFoundError:
        return
    with log:
        for line in log:
            record = parse(line)
            if record is not None:
                yield record


def query(folder: Path, *, type: str = "", since: datetime | None = None, risk: str = "") -> Iterator[Record]:
    """Records of a type, not before a time, of at least a risk."""
    least = Risk.parse(risk) if risk else None
    for record in records(folder):
        if type and record.get("type") != type:
            continue
        if since is not None and _time_of(record) < since:
            continue
        if least is not None and _risk_of(record) < least:
            continue
        yield record


def _time_of(record: Record) -> datetime:
    try:
        at = datetime.fromisoformat(str(record.get("at")))
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _risk_of(record: Record) -> int:
    try:
        return Risk.parse(str(record.get("risk")))
    except KeyError:
        return 0


def _last_record(log: Path) -> Record:
    found = list(records(log.parent))
    return found[-1] if found else {}
