"""Checking the audit log: every way of changing it afterwards leaves a trace, and this finds it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sandbox.audit import BROKEN, NO_HEAD, NO_KEY
from sandbox.seal import Head, Key, Seal
from sandbox.trail import LOG, Record, digest, encode, lines, parse, rotated

_MOST_PROBLEMS = 100


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found: number of good records and what is wrong, in words with line numbers."""

    records: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.problems


def verify(folder: Path) -> Verdict:
    """Follow the chain from the first record to the head. Raises OSError when the log cannot be read."""
    seal = Seal(folder)
    key = seal.key()
    head = seal.head(key)
    if not (folder / LOG).exists() and not rotated(folder):
        if key is None:
            return Verdict(0, ())
        had = f"; it had {head.seq} records" if head is not None else ", and so is its head"
        return Verdict(0, (f"the log is gone{had}",))
    walk = _Walk(head, key)
    for path, number, line in lines(folder):
        walk.take(f"line {number}" if path.name == LOG else f"{path.name}, line {number}", line)
    walk.end()
    size = (folder / LOG).stat().st_size if (folder / LOG).exists() else 0
    walk.compare(size)
    return Verdict(walk.good, tuple(walk.problems[:_MOST_PROBLEMS]))


class _Walk:
    """The state of following the chain."""

    def __init__(self, head: Head | None, key: Key | None) -> None:
        self.head, self.key = head, key
        self.good = 0
        self.problems: list[str] = []
        start = head or Head()
        self._seq, self._hash = start.base_seq, start.base_hash
        self._torn = ""
        self._head_at = start.base_seq if head is not None and head.hash == start.base_hash else -1

    def take(self, where: str, line: bytes) -> None:
        record = parse(line)
        if record is None:
            self._unreadable()
            self._torn = where
            return
        if self._torn and record.get("type") != "recovered":
            self._unreadable()
        self._torn = ""
        if trouble := self._trouble(record, line):
            self.problems.append(f"{where}: {trouble}")
        else:
            self.good += 1
        self._seq, self._hash = record["seq"], str(record.get("hash"))
        if self.head is not None and self._hash == self.head.hash:
            self._head_at = self._seq

    def end(self) -> None:
        if self._torn:
            self.problems.append(f"{self._torn} is cut off: the app was killed while it wrote, or the end was changed")

    def compare(self, size: int) -> None:
        """The end of the log against the head that is kept apart."""
        if self.key is None:
            self.problems.append("the key is missing: nothing here can be vouched for")
        elif self.head is None:
            self.problems.append("the head is missing or was changed: whether the end was cut cannot be told")
        elif self._head_at >= 0:
            # A crash between a record and its head leaves one record more; the next write takes it in.
            extra = self._seq - self._head_at
            if extra > 1:
                self.problems.append(f"{extra} records were added after the head")
            elif not extra and not self._torn and size not in (self.head.size, 0):
                self.problems.append(f"the log has {size:,} bytes and should have {self.head.size:,}")
        elif self.head.seq > self._seq:
            missing = self.head.seq - self._seq
            self.problems.append(f"the end was cut: {missing} records are missing (or a power cut lost them)")
        else:
            self.problems.append(f"record {self.head.seq} is not the one that was written: the file was replaced")

    def _unreadable(self) -> None:
        if self._torn:
            self.problems.append(f"{self._torn} cannot be read")

    def _trouble(self, record: Record, line: bytes) -> str:
        sealed = self.key is not None and record["seq"] >= self.key.since
        if line != encode(record) or (sealed and self.key and digest(record, self.key) != record.get("hash")):
            return "the record was changed"
        if record.get("prev") != self._hash or record["seq"] != self._seq + 1:
            return f"it does not follow from the record before (number {record['seq']} after {self._seq})"
        if record.get("type") == "recovered" and record.get("what") in (NO_HEAD, NO_KEY, BROKEN):
            return f"{record['what']} when this was written: what comes before cannot be vouched for"
        return ""
