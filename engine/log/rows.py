"""An event as a row and back.

The row's columns hold session, seq, type and at; its body is the rest as JSON. A string too large for a row is an
artifact, and a marker stands in its place: ``{"$artifact": digest, "chars": n}``. A key of the data that looks like the
marker's gets one more ``$`` on the way in and loses it on the way out.
"""

from __future__ import annotations

import json
import re
from datetime import UTC
from typing import Any, TypeVar, get_args

from pydantic import ValidationError

from engine.events import EVENT, Event, Stored
from engine.log.artifacts import Artifacts
from engine.log.errors import ArtifactDamaged
from engine.log.sharing import shared
from engine.text import clean

E = TypeVar("E", bound=Stored)

INSERT = "INSERT INTO events (place, session, seq, type, at, body) VALUES (?, ?, ?, ?, ?, ?)"
REFER = "INSERT OR IGNORE INTO refs (digest, session) VALUES (?, ?)"
LARGE_FIELD = 65_536
LARGE_BODY = 1_000_000
_ENVELOPE = {"session", "seq", "at"}
_MARK = "$artifact"
_ESCAPED = re.compile(r"\$+artifact")
_EPOCH = b"1970-01-01T00:00:00Z"
_TIME = re.compile(rb"[0-9T:+.Z -]{1,40}")
_DEEPEST = 100

TYPES: frozenset[str] = frozenset(kind.model_fields["type"].default for kind in get_args(get_args(Event)[0]))


class RowDamaged(Exception):
    """A row that holds no event this version can read; the message is the reason."""


# --- in --------------------------------------------------------------------------------------------------------------


def dump(event: Stored) -> str:
    """The body of ``event``. Raises ValueError when it holds what JSON cannot: see `storable`."""
    return event.model_dump_json(exclude=_ENVELOPE)


def storable(event: E) -> E:
    """``event`` with what JSON cannot hold replaced: lone surrogates, objects, nesting without end."""
    return event.model_validate(_plain(event.model_dump(exclude=_ENVELOPE)) | event.model_dump(include=_ENVELOPE))


def outsource(body: str, artifacts: Artifacts) -> tuple[str, tuple[str, ...]]:
    """``body`` with over-large strings moved to artifacts, and their digests. Raises OSError."""
    if len(body) <= LARGE_FIELD and _MARK not in body:
        return body, ()
    digests: list[str] = []
    small = json.dumps(_marked(json.loads(body), artifacts, digests), ensure_ascii=False, separators=(",", ":"))
    if len(small) > LARGE_BODY:
        small = json.dumps(_stored(small, artifacts, digests))
    return small, tuple(digests)


def _marked(value: Any, artifacts: Artifacts, digests: list[str]) -> Any:
    if isinstance(value, str):
        return _stored(value, artifacts, digests) if len(value) > LARGE_FIELD else value
    if isinstance(value, list):
        return [_marked(item, artifacts, digests) for item in value]
    if isinstance(value, dict):
        return {
            f"${key}" if _ESCAPED.fullmatch(key) else key: _marked(item, artifacts, digests)
            for key, item in value.items()
        }
    return value


def _stored(text: str, artifacts: Artifacts, digests: list[str]) -> dict[str, Any]:
    digest = artifacts.put(text.encode())
    digests.append(digest)
    return {_MARK: digest, "chars": len(text)}


def _plain(value: Any, depth: int = 0) -> Any:
    """JSON data made of ``value``: clean strings, and the words of whatever is no JSON."""
    if isinstance(value, str):
        return clean(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth < _DEEPEST and isinstance(value, dict):
        return {clean(str(key)): _plain(item, depth + 1) for key, item in value.items()}
    if depth < _DEEPEST and isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, depth + 1) for item in value]
    return clean(repr(value)) if depth < _DEEPEST else "…"


# --- out -------------------------------------------------------------------------------------------------------------


def load(session: str, seq: int, at: bytes | None, body: bytes | None, artifacts: Artifacts) -> tuple[Event, str]:
    """The event of a row and what is missing from it (empty: nothing). Raises RowDamaged."""
    missing = ""
    if body is not None and _MARK.encode() in body:
        body, missing = _restored(body, artifacts)
    if not body or len(body) < 3 or not body.endswith(b"}"):
        raise RowDamaged("the row is empty or cut off")
    # The envelope goes last: whatever the body says about session, seq and at, the columns are right.
    whole = b'%b,"session":"%b","seq":%d,"at":"%b"}' % (body[:-1], session.encode(), seq, _time(at))
    return parse(whole), missing


def parse(text: bytes) -> Event:
    """The event ``text`` holds: exactly, or else as leniently as can be: raw control characters, lone surrogates, deep
    nesting and a time that is none do not matter. Raises RowDamaged."""
    try:
        event = EVENT.validate_json(text)
    except ValidationError:
        event = _lenient(text)
    return shared(event if event.at.tzinfo else event.model_copy(update={"at": event.at.replace(tzinfo=UTC)}))


def _lenient(text: bytes) -> Event:
    try:
        data = json.loads(text.decode(), strict=False)
    except (ValueError, RecursionError):
        raise RowDamaged("not valid JSON") from None
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        raise RowDamaged("not an event")
    if data["type"] not in TYPES:
        raise RowDamaged(f'unknown event type "{data["type"][:60]}", perhaps of a newer version')
    data = _plain(data)
    try:
        return EVENT.validate_python(data)
    except ValidationError as error:
        problems = error.errors()
    if all(problem["loc"][1:] == ("at",) for problem in problems):
        return EVENT.validate_python({**data, "at": 0})
    field = ".".join(str(part) for part in problems[0]["loc"][1:])
    raise RowDamaged(f"{data['type']}: {field}: {problems[0]['msg']}")


def _time(at: bytes | None) -> bytes:
    """``at`` if it may stand in JSON as it is: what it means is not looked at here."""
    return at if at and _TIME.fullmatch(at) else _EPOCH


def _restored(body: bytes, artifacts: Artifacts) -> tuple[bytes, str]:
    """``body`` with its artifacts put back, and what could not be."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return body, ""
    missing: list[str] = []
    if isinstance(data, dict) and isinstance(data.get(_MARK), str):
        try:
            data = json.loads(artifacts.get(data[_MARK]))
        except (ArtifactDamaged, ValueError) as error:
            raise RowDamaged(str(error)) from None
    return json.dumps(_unmarked(data, artifacts, missing), ensure_ascii=False).encode(), "; ".join(missing)


def _unmarked(value: Any, artifacts: Artifacts, missing: list[str]) -> Any:
    if isinstance(value, list):
        return [_unmarked(item, artifacts, missing) for item in value]
    if not isinstance(value, dict):
        return value
    digest = value.get(_MARK)
    if isinstance(digest, str):
        try:
            return artifacts.get(digest).decode()
        except (ArtifactDamaged, UnicodeDecodeError) as error:
            missing.append(str(error))
            return f"[{value.get('chars', 'some')} characters are missing here. {error}]"
    return {
        key[1:] if _ESCAPED.fullmatch(key) else key: _unmarked(item, artifacts, missing) for key, item in value.items()
    }
