"""What of the log is in the request now, and how large it is there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from engine.compaction.offload_text import pointer_text
from engine.events import Compacted, Event, TextBlock, ThinkingBlock, ToolResult

CHARS_PER_TOKEN = 3.5
NOTHING: Mapping[str, str] = MappingProxyType({})


def tokens(chars: int) -> int:
    """A rough count, good enough to choose by; what the provider reports decides whether to act."""
    return int(chars / CHARS_PER_TOKEN)


def in_force(events: Sequence[Event]) -> list[Compacted]:
    """The compactions that no person has taken back, in order."""
    undone = {e.number for e in events if e.type == "compaction_undone"}
    return [e for e in events if isinstance(e, Compacted) and e.number not in undone]


def last_summary(events: Sequence[Event]) -> Compacted | None:
    """The compaction from which the request starts."""
    return next((e for e in reversed(in_force(events)) if e.kind in ("summary", "handoff")), None)


def stand_ins(events: Sequence[Event]) -> dict[str, str]:
    """Calls whose results are not sent whole any more: to the text in their place, empty for a pointer."""
    found: dict[str, str] = {}
    for compacted in in_force(events):
        found.update(dict.fromkeys(compacted.offloaded, ""))
        found.update(compacted.texts)
    return found


def result_text(result: ToolResult, instead: Mapping[str, str]) -> str:
    """What the model reads of ``result``, given what stands in for others (see `stand_ins`)."""
    if result.call_id not in instead:
        return result.text
    return instead[result.call_id] or pointer_text(result)


def in_request(events: Sequence[Event]) -> list[Event]:
    """The events the request is made of, in order."""
    last = last_summary(events)
    return [e for e in events if e.seq >= (last.keep_from if last else 0)]


def chars(event: Event, instead: Mapping[str, str] = NOTHING) -> int:
    """Characters ``event`` has in the request; 0 when it is not in it."""
    if event.type in ("user_message", "runtime_update"):
        return len(event.text)
    if event.type == "tool_result":
        return len(result_text(event, instead))
    if event.type == "assistant_message" and not event.aborted:
        return sum(_block(block) for block in event.blocks)
    return 0


def _block(block: object) -> int:
    if isinstance(block, TextBlock):
        return len(block.text)
    if isinstance(block, ThinkingBlock):
        return len(block.text) + len(json.dumps(block.opaque))
    return len(block.model_dump_json()) if hasattr(block, "model_dump_json") else 0
