"""What models send, made usable: stop reasons, argument JSON, call ids, tool names. Applied at the wires alone."""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import Any, Literal, cast

from engine.events import ToolCall
from engine.prompt.request import ModelRequest
from engine.text import clean

Stop = Literal["end", "tool_calls", "length", "refusal", "error"]

CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_NAME_JUNK = re.compile(r"[^A-Za-z0-9_-]+")
_NAME_LIMIT = 64
_DEPTH_LIMIT = 64
_REPAIR_LIMIT = 200_000
# Shorter ids are counters ("call_0"): new within a request, yet given again after a compaction and a restart.
_SHORTEST_RANDOM_ID = 9

_CUT = {"max_tokens", "length", "max_output_tokens", "model_context_window_exceeded"}
_REFUSED = {"refusal", "content_filter"}


def normal_stop(provider_stop: str, has_calls: bool) -> Stop:
    """Our word for the provider's; a word we do not know means the end, or that the calls want running."""
    if provider_stop in _CUT:
        return "length"
    if provider_stop in _REFUSED:
        return "refusal"
    return "tool_calls" if has_calls else "end"


def tidy_name(name: str) -> str:
    """``name`` as every provider accepts it: letters, digits, ``_`` and ``-``, 1 to 64 of them."""
    return _NAME_JUNK.sub("_", name).strip("_")[:_NAME_LIMIT] or "unknown_tool"


def read_arguments(raw: str) -> dict[str, Any] | None:
    """The argument object in ``raw``, or None when ``raw`` is not exactly one. Blank text is the empty object."""
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw)
        # Some servers encode twice: a JSON string that holds the object.
        return _as_object(json.loads(value) if isinstance(value, str) else value)
    except (ValueError, RecursionError):
        return None


def repair_arguments(raw: str) -> dict[str, Any] | None:
    """The argument object that damaged ``raw`` most likely meant, or None when nothing like one is in it."""
    if len(raw) > _REPAIR_LIMIT:
        return None
    from json_repair import repair_json

    try:
        return _as_object(repair_json(raw, return_objects=True, skip_json_loads=True)) or None
    except (ValueError, RecursionError):
        return None


def make_call(call_id: str, name: str, raw: str, *, cut: bool) -> ToolCall:
    """The finished call. ``cut``: the answer hit its length limit, so closing its JSON would invent an ending
    (half a file, written as if it were whole); such arguments stay unread."""
    arguments = read_arguments(raw)
    if arguments is None and not cut:
        arguments = repair_arguments(raw)
    if arguments is None:
        return ToolCall(id=call_id, name=name, bad_input=clean(raw))
    return ToolCall(id=call_id, name=name, input=arguments)


def scrub(value: Any) -> Any:
    """``value`` (JSON data) with every string in it cleaned, for the way out."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): scrub(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [scrub(item) for item in value]
    return value


def _as_object(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    _refuse_unstorable(value, _DEPTH_LIMIT)
    return cast(dict[str, Any], scrub(value))


def _refuse_unstorable(value: Any, levels: int) -> None:
    """Raise ValueError for what neither the log nor another provider can hold: NaN, infinities, endless nesting."""
    if levels < 0:
        raise ValueError("nested too deeply")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number that JSON cannot hold")
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _refuse_unstorable(item, levels - 1)


class CallIds:
    """Call ids given so far, by session: an id is never given twice, whatever providers send."""

    def __init__(self) -> None:
        self._given: dict[str, set[str]] = {}

    def for_turn(self, request: ModelRequest) -> TurnIds:
        """The ids of the answer to ``request``."""
        taken = self._given.setdefault(request.session, set())
        taken.update(part.id for message in request.messages for part in message.parts if isinstance(part, ToolCall))
        return TurnIds(taken, _seed(request))


class TurnIds:
    """Gives ids for one answer. The same answers in the same order get the same ids."""

    def __init__(self, taken: set[str], seed: str) -> None:
        self._taken = taken
        self._seed = seed
        self._count = 0

    def give(self, provider_id: str) -> str:
        """The provider's id when it is valid, new and not a mere counter, else one of ours."""
        chosen = provider_id
        while not self._usable(chosen):
            self._count += 1
            chosen = "call_" + hashlib.sha256(f"{self._seed}:{self._count}".encode()).hexdigest()[:20]
        self._taken.add(chosen)
        return chosen

    def _usable(self, call_id: str) -> bool:
        valid = len(call_id) >= _SHORTEST_RANDOM_ID and CALL_ID.fullmatch(call_id) is not None
        return valid and call_id not in self._taken


def _seed(request: ModelRequest) -> str:
    """Differs from turn to turn, also across a compaction: made of the session, the length and the newest message."""
    newest = repr(request.messages[-1]) if request.messages else ""
    return f"{request.session}:{len(request.messages)}:{hashlib.sha256(newest.encode(errors='replace')).hexdigest()}"
