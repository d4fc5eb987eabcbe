"""A compaction looked at afterwards, from events alone: the request before and after it, and what each fact became."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from engine import queries as q
from engine.compaction import Ledger, extract
from engine.compaction.checks import checks
from engine.compaction.visible import in_force, in_request, last_summary, stand_ins
from engine.events import Compacted, Event
from engine.prompt import prefix, tokens
from engine.prompt.build import build
from engine.prompt.prefix import Block
from engine.prompt.request import ModelRequest
from engine.state import TaskState

_TIMES = re.compile(r", \d+ times(?=: )")
_KNOWN_AGAIN = 40
"""Characters by which an entry is known again, whatever was cut from its middle."""


def compactions(events: Sequence[Event]) -> tuple[q.CompactionLine, ...]:
    """Every compaction, oldest first, those a person took back among them."""
    undone = {e.number for e in events if e.type == "compaction_undone"}
    turn, found = 0, []
    for event in events:
        if event.type == "turn_started":
            turn = event.turn
        elif isinstance(event, Compacted):
            found.append(_line(event, turn, event.number in undone))
    return tuple(found)


def compaction(events: Sequence[Event], number: int) -> q.InspectedCompaction | None:
    """Compaction ``number`` with the request as it was just before it and just after; None when there is none."""
    place = next((n for n, e in enumerate(events) if isinstance(e, Compacted) and e.number == number), None)
    if place is None:
        return None
    event = events[place]
    assert isinstance(event, Compacted)
    line = next(one for one in compactions(events) if one.number == number)
    past, now = events[:place], events[: place + 1]
    old, new = _blocks(_request(past), event.tokens_before), _blocks(_request(now), event.tokens_after)
    standing = in_force(events)
    return q.InspectedCompaction(
        line=line,
        before=_kept_or_gone(old, new),
        after=_read_or_paid(old, new),
        facts=fates(past, now),
        checks=checks(event, now),
        summary=event.summary,
        ledger=event.ledger,
        artifact=event.artifact,
        undoable=bool(standing) and standing[-1].number == number and event.kind != "handoff",
    )


def _line(event: Compacted, turn: int, undone: bool) -> q.CompactionLine:
    paid = event.usage.input > 0
    return q.CompactionLine(
        number=event.number,
        kind=event.kind,
        reason=event.reason,
        turn=turn,
        before=event.tokens_before,
        after=event.tokens_after,
        cost=event.cost if paid else None,
        undone=undone,
    )


# --- the request before and after ------------------------------------------------------------------------------------


def _request(events: Sequence[Event]) -> ModelRequest | None:
    """None where no prompt was rendered, as in the log of an older version."""
    if not any(e.type == "prompt_rendered" for e in events):
        return None
    return build(events, TaskState(session=events[0].session))


def _blocks(request: ModelRequest | None, total: int) -> tuple[Block, ...]:
    """With about as many tokens as were measured then."""
    if request is None:
        return ()
    blocks = prefix.cut(request, count=lambda text: tokens.rough(len(text)))
    return prefix.fitted(blocks, total) if total else blocks


def _kept_or_gone(old: Sequence[Block], new: Sequence[Block]) -> tuple[q.InspectedBlock, ...]:
    """read: it is in the request afterwards too; broken: it is not."""
    kept = {block.digest for block in new}
    return tuple(_shown(block, "read" if block.digest in kept else "broken") for block in old)


def _read_or_paid(old: Sequence[Block], new: Sequence[Block]) -> tuple[q.InspectedBlock, ...]:
    """read: the cache still holds it; broken: it was sent before and has to be paid again; new: neither."""
    same, known = prefix.shared(old, new), {block.digest for block in old}
    return tuple(
        _shown(block, "read" if n < same else "broken" if block.digest in known else "new")
        for n, block in enumerate(new)
    )


def _shown(block: Block, state: str) -> q.InspectedBlock:
    return q.InspectedBlock(block.layer, block.kind, block.title, block.text, block.tokens, None, state)  # type: ignore[arg-type]


# --- what became of each fact ----------------------------------------------------------------------------------------


def fates(past: Sequence[Event], now: Sequence[Event]) -> tuple[q.FactFate, ...]:
    """Each exact fact of ``past`` and where it is once ``now``, which ends with the compaction, is what is sent."""
    summary, instead = last_summary(now), stand_ins(now)
    ledger = summary.ledger if summary else ""
    sent = in_request(now)
    whole = [e for e in sent if e.type != "tool_result" or e.call_id not in instead]
    spoken = [e for e in sent if e.type != "tool_result" or not instead.get(e.call_id, " ")]
    recent, pointed, all_sent = _facts(extract(whole)), _facts(extract(spoken)), _facts(extract(sent))
    return tuple(
        q.FactFate(group, text, _fate(text, ledger, recent, pointed, all_sent))  # type: ignore[arg-type]
        for group, text in _entries(extract(past))
    )


def _fate(
    text: str,
    ledger: str,
    recent: set[str],
    pointed: set[str],
    all_sent: set[str],
) -> str:
    """The best place it has: whole before cut, in the request before in an artifact."""
    if f"- {text}" in ledger:
        return "ledger"
    key = _plain(text)
    if key in recent:
        return "recent"
    if key in pointed:
        return "pointer"
    known = f"- {text[:_KNOWN_AGAIN]}"
    return "shortened" if key in all_sent or known in ledger else "left_out"


def _facts(ledger: Ledger) -> set[str]:
    """By their text alone: what was said last may stand as a goal where the first words are not looked at."""
    return {_plain(text) for _, text in _entries(ledger)}


def _entries(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """(heading, entry) as a whole ledger is written: an entry begins with a dash, its further lines are indented."""
    group, lines = "", list[str]()
    for line in (*ledger.whole().split("\n"), "## "):
        if line.startswith(("## ", "- ")) and lines:
            yield group, "\n".join(lines).rstrip()
            lines = []
        if line.startswith("## "):
            group = line[3:]
        elif line.startswith("- "):
            lines = [line[2:]]
        elif lines:
            lines.append(line)


def _plain(text: str) -> str:
    """A fact without how often it was seen, which depends on where one begins to count."""
    return _TIMES.sub("", text, count=1)
