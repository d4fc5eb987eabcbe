"""Why a request does not begin with the one before it, in words a person can act on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from engine.compaction.visible import in_force, last_summary
from engine.events import Compacted, Event
from engine.prompt.build import build, digest
from engine.prompt.cache_rules import rules_for
from engine.prompt.prefix import Block, Count, cut, shared
from engine.prompt.tokens import count as count_tokens
from engine.state import TaskState, fold

CLOCK = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?|\b\d{10,}\b")
REWRITTEN = {
    "offload": "results put aside",
    "drop": "superseded results dropped",
    "digest": "results cut down to what mattered",
}


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it was sent, and what the log knows about how it came to be. ``exact``: whether its digest is the
    one that was stored when it was sent, None when none was. summary: the compaction it starts from. standing: the
    compaction because of which a call's result is not sent whole. in_force and undone: numbers of compactions."""

    turn: int
    model: str
    at: datetime
    blocks: tuple[Block, ...]
    rendered: int = 0
    reason: str = ""
    summary: int = 0
    standing: Mapping[str, Compacted] = field(default_factory=dict)
    in_force: frozenset[int] = frozenset()
    undone: frozenset[int] = frozenset()
    exact: bool | None = None


@dataclass(frozen=True, slots=True)
class Divergence:
    """``same``: blocks at the start that are the same. ``breaks``: what the cache held can no longer all be used.
    ``byte``: where in the first differing block the difference begins, in bytes."""

    same: int
    cause: str
    breaks: bool
    byte: int = 0


def sent(events: Sequence[Event], place: int, count: Count = count_tokens) -> Sent:
    """The request of the TurnStarted event at ``events[place]``. Raises ValueError when no prompt was rendered yet."""
    started, past = events[place], events[:place]
    if started.type != "turn_started":
        raise ValueError(f"event {place} starts no turn")
    request = build(past, fold(past, TaskState(session=started.session)))
    rendered = next(e for e in reversed(past) if e.type == "prompt_rendered")
    compactions, summary = in_force(past), last_summary(past)
    return Sent(
        turn=started.turn,
        model=started.model,
        at=started.at,
        blocks=cut(request, rules_for(started.model).tools_first, count),
        rendered=rendered.seq,
        reason=rendered.reason,
        summary=summary.number if summary else 0,
        standing={call: e for e in compactions for call in (*e.offloaded, *e.texts)},
        in_force=frozenset(e.number for e in compactions),
        undone=frozenset(e.number for e in past if e.type == "compaction_undone"),
        exact=digest(request) == started.digest if started.digest and not _copied(events[0], started.seq) else None,
    )


def _copied(first: Event, seq: int) -> bool:
    """Whether a fork took this over: it was sent under another session's name, which the digest covers."""
    return first.type == "session_started" and bool(first.parent) and seq <= first.parent_seq


def compare(before: Sent | None, now: Sent) -> Divergence:
    """The first block of ``now`` that is not as in ``before``, and why."""
    if before is None:
        return Divergence(0, "the first request", breaks=False)
    same = shared(before.blocks, now.blocks)
    if before.model != now.model:
        return Divergence(0, f"another model: {before.model}, then {now.model}", breaks=True)
    if same == len(before.blocks):
        grown = len(now.blocks) > same
        return Divergence(same, "appended" if grown else "the same request again", breaks=False)
    a, b = before.blocks[same], now.blocks[same] if same < len(now.blocks) else None
    return Divergence(same, _cause(before, now, same), breaks=True, byte=differing_byte(a.text, b.text) if b else 0)


def differing_byte(a: str, b: str) -> int:
    """Offset in UTF-8 of the first byte in which the texts differ."""
    one, other = a.encode("utf-8", "replace"), b.encode("utf-8", "replace")
    differ = (n for n, (x, y) in enumerate(zip(one, other, strict=False)) if x != y)
    return next(differ, min(len(one), len(other)))


def _cause(before: Sent, now: Sent, same: int) -> str:
    if any(blocks[same].message == -1 for blocks in (before.blocks, now.blocks) if same < len(blocks)):
        what = _in_prompt(before, now, same)
        again = now.rendered != before.rendered and now.reason
        return f"the prompt was rendered again: {now.reason} ({what})" if again else what
    if now.summary > before.summary:
        return f"history rewritten at compaction {now.summary}"
    if taken_back := now.undone & before.in_force:
        return f"history restored: {_numbered(sorted(taken_back))} taken back"
    call = before.blocks[same].call_id
    if (made := now.standing.get(call)) is not None and made != before.standing.get(call):
        return f"{REWRITTEN.get(made.kind, 'results put aside')} at compaction {made.number}"
    return _in_history(before.blocks, now.blocks, same)


def _numbered(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"compaction {numbers[0]} was"
    return f"compactions {', '.join(map(str, numbers[:-1]))} and {numbers[-1]} were"


def _in_prompt(before: Sent, now: Sent, same: int) -> str:
    """Layers A and B: tools, identity, skills."""
    old, new = before.blocks[same], now.blocks[same] if same < len(now.blocks) else None
    if old.kind == "tool" or (new and new.kind == "tool"):
        return _tools(_tool_names(before.blocks), _tool_names(now.blocks), old)
    kinds = [block.kind for block in now.blocks[same:] if block.message == -1]
    if old.message != -1:
        return "skill text added"
    if old.kind not in kinds:
        return f"{'skill text' if old.kind == 'skills' else 'identity'} removed"
    assert new is not None
    what = "skill text" if old.kind == "skills" else "identity"
    at = differing_byte(old.text, new.text)
    if CLOCK.sub("", old.text) == CLOCK.sub("", new.text):
        return f"clock in the {what}, at byte {at:,}"
    return f"{what} changed at byte {at:,}"


def _tool_names(blocks: Sequence[Block]) -> list[str]:
    return [block.name for block in blocks if block.kind == "tool"]


def _tools(old: list[str], new: list[str], differing: Block) -> str:
    if old == new:
        return f"tool {differing.name} is described otherwise"
    if sorted(old) == sorted(new):
        return "tool order changed"
    gone, come = [n for n in old if n not in new], [n for n in new if n not in old]
    words = ([f"removed: {', '.join(gone)}"] if gone else []) + ([f"added: {', '.join(come)}"] if come else [])
    return f"tools {'; '.join(words)}"


def _in_history(old: Sequence[Block], new: Sequence[Block], same: int) -> str:
    """Layers C and D, where nothing the log knows of explains it."""
    a = old[same]
    if same == len(new) or (same + 1 < len(old) and old[same + 1].digest == new[same].digest):
        return f"a block was removed: {a.title}"
    b = new[same]
    if same + 1 < len(new) and new[same + 1].digest == a.digest:
        return f"a block was put in between: {b.title}"
    if a.text == b.text and a.role != b.role:
        return f"role changed: {a.title}, from {a.role} to {b.role}"
    at = differing_byte(a.text, b.text)
    if a.kind == b.kind == "result" and a.call_id == b.call_id:
        return f"a result was rewritten: {a.name}, at byte {at:,}"
    return f"an earlier block changed: {a.title}, at byte {at:,}"
