"""Layer 2: results that a later one has made worthless give way to a line that says by what."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from engine.compaction.visible import in_request, stand_ins
from engine.events import Event, ToolCall, ToolResult
from engine.tools.words import one_line

# Below this a line in its place would not be much shorter.
MIN_CHARS = 300


@dataclass(frozen=True, slots=True)
class _Done:
    """A call that came to something, in the order of its result. at: its place among the answers of the model."""

    result: ToolResult
    call: ToolCall
    what: str


def superseded(events: Sequence[Event]) -> dict[str, str]:
    """Calls in the request whose results a later call has superseded: to the line that says by which. What failed is
    never among them: it keeps the model from trying it again. Nor is what something stands in for already."""
    already = stand_ins(events)
    found: dict[str, str] = {}
    later: list[_Done] = []
    for done in reversed(_done(in_request(events))):
        result = done.result
        if result.status == "ok" and result.call_id not in already and len(result.text) >= MIN_CHARS:
            by = next((why for one in later if (why := _why(done, one))), "")
            if by:
                found[result.call_id] = f"[{result.name} {done.what}".rstrip() + f": left out, because {by}.]"
        later.append(done)
    return dict(reversed(found.items()))


def _done(events: Sequence[Event]) -> list[_Done]:
    calls: dict[str, ToolCall] = {}
    found: list[_Done] = []
    for event in events:
        if event.type == "assistant_message" and not event.aborted:
            calls.update((call.id, call) for call in event.calls)
        elif event.type == "tool_result" and event.call_id in calls:
            call = calls[event.call_id]
            words = (call.input.get(key) for key in ("path", "command", "pattern"))
            what = next((one_line(word, 80) for word in words if isinstance(word, str) and word), "")
            found.append(_Done(event, call, what))
    return found


def _why(old: _Done, new: _Done) -> str:
    """Why ``old`` says nothing any more that ``new``, which came later, does not say better; empty when it does."""
    one, other = old.call, new.call
    ran = new.result.status == "ok" or (new.result.status == "error" and new.result.exit_code is not None)
    if not ran:
        return ""
    if one.name == "fs_read" and new.result.status == "ok":
        path = one.input.get("path")
        if path and path in new.result.files_written:
            return "the file was changed after it was read; read it again if you need it"
        if other.name == "fs_read" and path == other.input.get("path") and _covers(new.result, old.result):
            return "the same was read again later"
    if one.name != other.name:
        return ""
    if one.name == "todo_write":
        return "the list was written again later"
    if one.name == "fs_list" and one.input.get("path", ".") == other.input.get("path", "."):
        return "the folder was listed again later" if _as_deep(other, one) else ""
    if one.name in ("shell_run", "fs_search") and _same(one, other):
        return "the same was run again later"
    return ""


def _same(one: ToolCall, other: ToolCall) -> bool:
    """Whether both are the same command or search. Looking at a background command is none: each look shows more."""
    if one.input.get("handle") or one.input.get("background"):
        return False
    ignored = {"timeout"}
    inputs = [{k: v for k, v in call.input.items() if k not in ignored} for call in (one, other)]
    return bool(inputs[0]) and json.dumps(inputs[0], sort_keys=True) == json.dumps(inputs[1], sort_keys=True)


def _as_deep(new: ToolCall, old: ToolCall) -> bool:
    depths = (call.input.get("depth", 1) for call in (new, old))
    deep = [depth if isinstance(depth, int) else 1 for depth in depths]
    return deep[0] >= deep[1] and bool(new.input.get("all")) == bool(old.input.get("all"))


def _covers(new: ToolResult, old: ToolResult) -> bool:
    """Whether ``new`` holds the lines that ``old`` holds."""
    lines = [next((row for row in result.items if "first" in row and "last" in row), None) for result in (new, old)]
    if lines[0] is None or lines[1] is None:
        return new.files_read == old.files_read and lines[1] is None
    try:
        return bool(lines[0]["first"] <= lines[1]["first"] and lines[1]["last"] <= lines[0]["last"])
    except TypeError:
        return False
