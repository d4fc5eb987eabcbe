"""Checking the audit log: every way of changing it afterwards leaves a trace, and this finds it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sandbox.audit import GENESIS, Audit, Head, digest, parse


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found: number of good records and what is wrong, in words with line numbers."""

    records: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.problems


def verify(folder: Path) -> Verdict:
    """Follow the chain from the first record to the head."""
    audit = Audit(folder)
    head = audit.head()
    try:
        lines = audit.log.read_bytes().split(b"\n")
    except FileNotFoundError:
        return Verdict(0, () if head is None else (f"the log is gone; it had {head.seq} records",))
    problems: list[str] = []
    previous, torn, good, hashes = Head(), 0, 0, {GENESIS: 0}
    for number, line in enumerate(lines, 1):
        record = parse(line) if line else None
        if record is None:
            if line or number < len(lines):
                torn = number
            continue
        if torn and record.get("type") != "recovered":
            problems.append(f"line {torn} cannot be read")
        torn = 0
        if trouble := _trouble(record, previous):
            problems.append(f"line {number}: {trouble}")
        else:
            good += 1
        previous = Head(record["seq"], str(record.get("hash")))
        hashes[previous.hash] = record["seq"]
    if torn:
        problems.append(f"line {torn} is cut off: the app was killed while it wrote, or the end was changed")
    problems += _compare(head, previous, hashes)
    return Verdict(good, tuple(problems))


def _trouble(record: dict[str, object], previous: Head) -> str:
    if digest(record) != record.get("hash"):
        return "the record was changed"
    if record.get("prev") != previous.hash:
        return f"it does not follow from the record before (number {record['seq']} after {previous.seq})"
    return ""


def _compare(head: Head | None, last: Head, hashes: dict[str, int]) -> list[str]:
    """The end of the log against the head that is kept apart."""
    if head is None:
        return ["the head is missing: whether the end was cut cannot be told"] if last.seq else []
    if head.hash in hashes:
        # A crash between a record and its head leaves one record more; the next write takes it in.
        extra = last.seq - hashes[head.hash]
        return [f"{extra} records were added after the head"] if extra > 1 else []
    if head.seq > last.seq:
        return [f"the end was cut: {head.seq - last.seq} records are missing (or a power cut lost them)"]
    return [f"record {head.seq} is not the one that was written: the file was replaced"]
