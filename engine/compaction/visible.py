"""What of the log is in the request now, and how large it is there."""

from __future__ import annotations

import json
from collections.abc import Sequence

from engine.compaction.offload_text import pointer_text
from engine.events import Compacted, Event, TextBlock, ThinkingBlock

CHARS_PER_TOKEN = 3.5


def tokens(chars: int) -> int:
    """A rough count, good enough to choose by; what the provider reports decides whether to act."""
    return int(chars / CHARS_PER_TOKEN)


def last_summary(events: Sequence[Event]) -> Compacted | None:
    """The compaction from which the request starts."""
    return next((e for e in reversed(events) if isinstance(e, Compacted) and e.kind == "summary"), None)


def offloaded(events: Sequence[Event]) -> frozenset[str]:
    """Calls whose results are pointers already."""
    return frozenset(call for e in events if e.type == "compacted" and e.kind == "offload" for call in e.offloaded)


def in_request(events: Sequence[Event]) -> list[Event]:
    """The events the request is made of, in order."""
    last = last_summary(events)
    return [e for e in events if e.seq >= (last.keep_from if last else 0)]


def chars(event: Event, pointers: frozenset[str] = frozenset()) -> int:
    """Characters ``event`` has in the request; 0 when it is not in it."""
    if event.type in ("user_message", "runtime_update"):
        return len(event.text)
    if event.type == "tool_result":
        return len(pointer_text(event)) if event.call_id in pointers else len(event.text)
    if event.type == "assistant_message" and not event.aborted:
        return sum(_block(block) for block in event.blocks)
    return 0


def _block(block: object) -> int:
    if isinstance(block, TextBlock):
        return len(block.text)
    if isinstance(block, ThinkingBlock):
        return len(block.text) + len(json.dumps(block.opaque))
    return len(block.model_dump_json()) if hasattr(block, "model_dump_json") else 0
