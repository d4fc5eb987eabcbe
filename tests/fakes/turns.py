"""What a strict server answers: turns as plain data, and as JSON in a script file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

Format = Literal["anthropic", "openai", "openai-chat"]


@dataclass(frozen=True)
class Call:
    """A tool call. ``raw`` replaces the JSON of ``input``; ``id`` None makes one like the provider's."""

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)
    raw: str | None = None
    id: str | None = None

    @property
    def arguments(self) -> str:
        return json.dumps(self.input) if self.raw is None else self.raw


@dataclass(frozen=True)
class Turn:
    """One answer: thinking, redacted thinking, text, calls, in this order; or a fault.

    stop: the provider's own word, None for the natural one. usage: the provider's own JSON in place of the simulated
    one; send_usage False leaves it out. empty_text: an empty text block comes first. piece: characters a delta.
    extra: fields of the last chunk besides (Chat Completions, such as ``timings``). delay: seconds between events.

    Faults: ``status`` (with ``error``, ``error_type``, ``headers``) in place of an answer. After so many events:
    ``cut_after`` breaks the connection, ``end_after`` ends the stream as if all were well, ``error_after`` sends an
    error event, ``garbage_after`` a line that is no JSON, ``hang_after`` waits for `StrictServer.release` or for the
    client to go (-1: before the head of the answer). verbatim: the data of all events, in place of an answer.
    """

    text: str = ""
    thinking: str = ""
    redacted: str = ""
    calls: tuple[Call, ...] = ()
    stop: str | None = None
    usage: Mapping[str, Any] | None = None
    send_usage: bool = True
    empty_text: bool = False
    piece: int = 16
    extra: Mapping[str, Any] = field(default_factory=dict)
    delay: float = 0.0
    status: int = 200
    error: str = ""
    error_type: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut_after: int | None = None
    end_after: int | None = None
    error_after: int | None = None
    garbage_after: int | None = None
    hang_after: int | None = None
    verbatim: tuple[Mapping[str, Any], ...] = ()

    def pieces(self, text: str) -> list[str]:
        return [text[at : at + self.piece] for at in range(0, len(text), self.piece)]


Answer = Turn | Callable[[dict[str, Any]], Turn]
Step = Answer | Sequence[Answer]
"""A turn, a function of the request body, or several of these: answers to repeated requests for the same step."""

_NAMES = {f.name for f in fields(Turn)}


def turn_from_json(data: Mapping[str, Any]) -> Turn:
    """A turn from a script file: fields as in `Turn`, calls as objects of `Call` fields."""
    unknown = set(data) - _NAMES
    if unknown:
        raise ValueError(f"unknown turn field {', '.join(sorted(unknown))}; there are {', '.join(sorted(_NAMES))}")
    calls = tuple(Call(**call) for call in data.get("calls", ()))
    return Turn(**{**data, "calls": calls})


def read_script(path: Path) -> list[Step]:
    """The steps of a script file: a JSON list, or an object with the list under ``turns``; a list in it is one step."""
    data = json.loads(path.read_text())
    turns = data["turns"] if isinstance(data, dict) else data
    return [[turn_from_json(t) for t in turn] if isinstance(turn, list) else turn_from_json(turn) for turn in turns]
