"""``agent-tui audit``: check, search and follow the tamper-evident record."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sandbox.audit import Record

_TYPES = ("command", "write", "result", "decision", "denied", "blocked", "connection", "recovered")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_PAUSE = 0.2


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = sub.add_parser(
        "audit",
        help="verify, query or follow the tamper-evident record",
        description="Every command, write, decision and refused attempt, each line chained to the one before.",
        epilog="example: agent-tui audit query --risk high --since 2d",
    )
    parser.set_defaults(func=lambda _args: parser.error("say what to do: verify, query or tail"))
    verbs = parser.add_subparsers(title="verbs", metavar="")
    check = verbs.add_parser("verify", help="find any change made afterwards", epilog="example: agent-tui audit verify")
    check.set_defaults(func=run_verify)
    query = verbs.add_parser("query", help="search", epilog="example: agent-tui audit query --type denied --since 1h")
    query.add_argument("--type", default="", choices=_TYPES, help="only this type of record")
    query.add_argument("--since", type=_since, default=None, metavar="WHEN", help="30m, 2h, 7d or an ISO time")
    query.add_argument("--until", type=_since, default=None, metavar="WHEN", help="before then, said the same way")
    query.add_argument("--risk", default="", choices=("low", "medium", "high"), help="at least this risk")
    query.set_defaults(func=run_query)
    tail = verbs.add_parser("tail", help="the newest records", epilog="example: agent-tui audit tail --follow")
    tail.add_argument("-n", type=int, default=20, metavar="N", help="how many (20)")
    tail.add_argument("-f", "--follow", action="store_true", help="go on as records are written")
    tail.set_defaults(func=run_tail)
    for verb in (check, query, tail):
        verb.add_argument("--json", action="store_true", help="JSON, one object a line")


def _since(text: str) -> datetime:
    found = re.fullmatch(r"(\d+)([smhdw])", text)
    if found:
        return datetime.now(UTC) - timedelta(seconds=int(found[1]) * _UNITS[found[2]])
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither like 30m, 2h, 7d nor an ISO time") from None
    return at if at.tzinfo else at.astimezone()


def _folder() -> Path:
    from engine.paths import Home

    return Home.here().audit


def run_verify(args: argparse.Namespace) -> int:
    """Returns 0 when nothing was changed, 1 otherwise."""
    from sandbox.verify import verify

    try:
        found = verify(_folder())
    except OSError as error:
        print(f"agent-tui: the record cannot be read: {error}", file=sys.stderr)
        return 1
    if args.json:
        print(json.dumps({"ok": found.ok, "records": found.records, "problems": list(found.problems)}))
    elif found.ok:
        print(f"✓ {found.records:,} records, none changed, none missing")
    else:
        for problem in found.problems:
            print(f"✗ {problem}")
    return 0 if found.ok else 1


def run_query(args: argparse.Namespace) -> int:
    """Print matching records. Returns 0."""
    from sandbox.audit import query

    return _show(query(_folder(), type=args.type, since=args.since, until=args.until, risk=args.risk), args.json)


def run_tail(args: argparse.Namespace) -> int:
    """Print the newest records, and with --follow go on until interrupted. Returns 0."""
    from sandbox.trail import LOG, parse, rotated

    folder = _folder()
    log = folder / LOG
    written = log.read_bytes() if log.exists() else b""
    # The file before the newest fills up what a young newest one lacks.
    before = rotated(folder)[-1:]
    older = before[0].read_bytes() if before else b""
    found = [record for record in map(parse, (older + written).splitlines()) if record is not None]
    _show(found[-args.n :] if args.n > 0 else [], args.json)
    if args.follow:
        with suppress(KeyboardInterrupt):
            _show(_follow(folder, len(written), found[-1]["seq"] if found else 0), args.json)
    return 0


def _follow(folder: Path, offset: int, last: int) -> Iterator[Record]:
    """Records after number ``last`` as they are written, from ``offset`` in the newest file on, from file to file."""
    from sandbox.trail import LOG, records

    while True:
        for record in _written(folder / LOG, offset):
            if record["seq"] > last + 1:
                # Whole files came and went between two looks.
                yield from (missed for missed in records(folder) if last < missed["seq"] < record["seq"])
            if record["seq"] > last:
                last = record["seq"]
                yield record
        offset = 0


def _written(log: Path, offset: int) -> Iterator[Record]:
    """What is written to the newest file, until it is put away."""
    from sandbox.trail import parse

    while not log.exists():
        time.sleep(_PAUSE)
    with log.open("rb") as source:
        source.seek(offset)
        rest, moved = b"", False
        while not moved:
            # Asked before reading: what was written until the file was put away is read in any case.
            moved = not _is(log, source.fileno())
            rest += source.read()
            *lines, rest = rest.split(b"\n")
            yield from (record for record in map(parse, lines) if record is not None)
            if not moved:
                time.sleep(_PAUSE)


def _is(log: Path, fd: int) -> bool:
    """Whether an open file is still the newest one."""
    try:
        return os.path.samestat(log.stat(), os.fstat(fd))
    except FileNotFoundError:
        return False


def _show(records: Iterable[Record], as_json: bool) -> int:
    for record in records:
        print(json.dumps(record) if as_json else _line(record), flush=True)
    return 0


def _line(record: Record) -> str:
    """``10:02:03  command   low     low       git status``: one record as a person reads it, controls made visible."""
    at = str(record.get("at", ""))[:19].replace("T", " ")
    what = record.get("subject") or record.get("what") or record.get("status") or ""
    more = record.get("error") or record.get("reason") or ""
    text = f"{what}  ({more})" if more else str(what)
    safe = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    return f"{at}  {record.get('type', ''):<9} {record.get('risk', ''):<7} {record.get('by', ''):<10} {safe}"
