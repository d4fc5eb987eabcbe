"""Layer 1: old large results give way to pointers, many at once, because each time costs the provider's cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.compaction.offload_text import has_way_back, pointer_text
from engine.compaction.visible import in_request, stand_ins, tokens
from engine.events import Event, ToolResult

RECENT_TURNS = 4
MIN_CHARS = 2000
# Of these the text is what counts, and it is small.
KEPT_TOOLS = frozenset({"todo_write", "user_ask"})

__all__ = ["Offload", "choose", "pointer_text"]


@dataclass(frozen=True, slots=True)
class Offload:
    """Which results become pointers, with the texts, and about how many tokens that frees. Empty: not worth it."""

    call_ids: tuple[str, ...] = ()
    pointers: tuple[str, ...] = ()
    tokens_saved: int = 0


def choose(events: Sequence[Event], gain: int, recent: int = RECENT_TURNS, enough: int | None = None) -> Offload:
    """The results to move out, oldest first: large, older than the ``recent`` last turns, and with a way back. Nothing
    when together they would free fewer than ``gain`` tokens; no more of them once they free ``enough``."""
    already = stand_ins(events)
    results = [e for e in old_results(in_request(events), recent) if is_movable(e) and e.call_id not in already]
    if enough is not None:
        results = _first_freeing(results, enough)
    pointers = tuple(pointer_text(result) for result in results)
    saved = tokens(sum(len(r.text) - len(p) for r, p in zip(results, pointers, strict=True)))
    if not results or saved < gain:
        return Offload()
    return Offload(tuple(result.call_id for result in results), pointers, saved)


def _first_freeing(results: Sequence[ToolResult], enough: int) -> list[ToolResult]:
    chosen: list[ToolResult] = []
    for result in results:
        if enough <= 0:
            break
        chosen.append(result)
        enough -= tokens(len(result.text) - len(pointer_text(result)))
    return chosen


def old_results(events: Sequence[Event], recent: int) -> list[ToolResult]:
    """Results before the ``recent`` last answers of the model; all of them for 0."""
    answers = [i for i, e in enumerate(events) if e.type == "assistant_message" and not e.aborted]
    end = answers[-recent] if 0 < recent <= len(answers) else 0 if recent else len(events)
    return [e for e in events[:end] if e.type == "tool_result"]


def is_movable(result: ToolResult) -> bool:
    """Whether a pointer may take the place of ``result``: it is large, and there is a way back to it."""
    return (
        result.name not in KEPT_TOOLS
        and not is_skill(result)
        and len(result.text) >= MIN_CHARS
        and has_way_back(result)
        and len(pointer_text(result)) * 2 < len(result.text)
    )


def is_skill(result: ToolResult) -> bool:
    """Whether it holds a skill's own text, which the model works by and which therefore stays."""
    return any(str(row.get("path", "")).startswith("skill:") for row in result.items)
