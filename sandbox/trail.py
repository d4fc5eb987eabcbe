"""The log as files and lines: one record a line, the newest in ``audit.jsonl``, older ones in files named by the number
of their last record. Reading only."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sandbox.risk import Risk
from sandbox.seal import Key

LOG = "audit.jsonl"
_MAX_TEXT = 4000
_MAX_ITEMS = 50

Record = dict[str, Any]


def digest(record: Record, key: Key) -> str:
    """Keyed hash of a record's canonical JSON, its own ``hash`` left out."""
    rest = {name: value for name, value in record.items() if name != "hash"}
    return key.digest("record " + json.dumps(rest, sort_keys=True, separators=(",", ":")))


def encode(record: Record) -> bytes:
    """The one way to write a record down."""
    return json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def parse(line: bytes) -> Record | None:
    """A record, or None for anything else."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
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


def rotated_name(last: int) -> str:
    """Name of the file whose last record has this number."""
    return f"audit-{last:012d}.jsonl"


def rotated(folder: Path) -> list[Path]:
    """The older files, oldest first."""
    return sorted(folder.glob("audit-" + "[0-9]" * 12 + ".jsonl"))


def lines(folder: Path) -> Iterator[tuple[Path, int, bytes]]:
    """Every line of every file, oldest first, with its file and its number in it. Raises OSError."""
    for path in (*rotated(folder), folder / LOG):
        try:
            file = path.open("rb")
        except FileNotFoundError:
            continue
        with file:
            for number, line in enumerate(file, 1):
                yield path, number, line


def records(folder: Path) -> Iterator[Record]:
    """Every readable record, oldest first."""
    return (record for record in (parse(line) for _, _, line in lines(folder)) if record is not None)


def query(
    folder: Path, *, type: str = "", since: datetime | None = None, until: datetime | None = None, risk: str = ""
) -> Iterator[Record]:
    """Records of a type, from a time on, before a time, of at least a risk."""
    least = Risk.parse(risk) if risk else None
    for record in records(folder):
        if type and record.get("type") != type:
            continue
        at = time_of(record)
        if (since is not None and at < since) or (until is not None and at >= until):
            continue
        if least is not None and risk_of(record) < least:
            continue
        yield record


def time_of(record: Record) -> datetime:
    """When it was written, as it says; the beginning of time when it does not."""
    try:
        at = datetime.fromisoformat(str(record.get("at")))
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def risk_of(record: Record) -> int:
    """Its risk; 0 when it has none."""
    try:
        return Risk.parse(str(record.get("risk")))
    except KeyError:
        return 0


def first_of(path: Path) -> Record:
    """The first record of a file; empty when there is none."""
    try:
        with path.open("rb") as file:
            return parse(file.readline()) or {}
    except OSError:
        return {}


def last_of(folder: Path) -> Record:
    """The last readable record; empty when there is none."""
    return next(iter(deque(records(folder), maxlen=1)), {})
