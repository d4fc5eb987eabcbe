"""Which compactions a person would take back now."""

from __future__ import annotations

from collections.abc import Sequence

from engine.compaction.visible import in_force
from engine.events import Compacted, Event

LAYERS = ("offload", "drop", "digest")


def newest(events: Sequence[Event]) -> tuple[Compacted, ...]:
    """The newest compaction in force, oldest layer first: layers made in one go are one compaction to a person, and
    taking them back breaks the provider's cache once. Empty when there is none that could be taken back: what a session
    that goes on for another began with is all it knows."""
    standing = [e for e in in_force(events) if e.kind != "handoff"]
    found: list[Compacted] = []
    for compacted in reversed(standing):
        if found and not (_is_layer(compacted) and _is_layer(found[-1]) and compacted.seq + 1 == found[-1].seq):
            break
        found.append(compacted)
    return tuple(reversed(found))


def _is_layer(compacted: Compacted) -> bool:
    return compacted.kind in LAYERS
