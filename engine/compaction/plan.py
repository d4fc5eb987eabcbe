"""When to make room and where to cut. All thresholds are shares of the window, so none can exceed it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from engine.compaction.facts import Ledger
from engine.compaction.known import Known
from engine.compaction.visible import CHARS_PER_TOKEN, chars, in_request, last_summary, stand_ins, tokens
from engine.events import Event, PromptRendered

# What a turn begins with; an answer without one is its own beginning.
_STARTS = ("turn_started", "user_message")
# What takes the place of a text must be smaller than this share of it.
SMALLER = 0.8


@dataclass(frozen=True, slots=True)
class Thresholds:
    """In tokens. summary: the prompt size from which room is made. tail: how much of the newest history a summary
    leaves as it is. ledger: the most a ledger may take. gain: less than this is not worth a compaction."""

    summary: int
    tail: int
    ledger: int
    gain: int


def thresholds(window: int) -> Thresholds:
    """The thresholds for a window of ``window`` tokens. What a summary leaves (tail, ledger and the summary itself) is
    far below the size at which one is due, so that a compaction cannot call for the next one."""
    window = max(window, 100)
    reserve = min(12_000, window // 4)
    return Thresholds(
        summary=window - reserve - window // 20,
        tail=min(40_000, window // 5),
        ledger=min(10_000, window // 10),
        gain=window // 20,
    )


def is_due(tokens_used: int, window: int, floor: int = 0) -> bool:
    """Whether room has to be made for a prompt of ``tokens_used``. Not when it is (nearly) all ``floor``: then
    compacting again would change nothing, see `stuck`."""
    at = thresholds(window)
    return tokens_used >= at.summary and tokens_used - floor >= at.gain


def worth_offloading(tokens_used: int, window: int, fixed: int) -> int:
    """Tokens an offload has to free to do as much as a summary would. With less, it would only break the cache once
    more before the summary. fixed: tokens of identity, catalogue and tools."""
    at = thresholds(window)
    return max(at.gain, tokens_used - fixed - at.tail - at.ledger)


def fixed(events: Sequence[Event]) -> int:
    """Tokens of identity, catalogue and tools, which no compaction can free."""
    rendered = next((e for e in reversed(events) if isinstance(e, PromptRendered)), None)
    if rendered is None:
        return 0
    tools = json.dumps([tool.model_dump() for tool in rendered.tools])
    return tokens(len(rendered.identity) + len(rendered.catalogue) + len(tools))


def floor(events: Sequence[Event]) -> int:
    """Tokens no summary can free: identity, catalogue, tools; or what the last summary left, if that is more."""
    last = last_summary(events)
    return max(fixed(events), last.tokens_after if last else 0)


def stuck(tokens_used: int, window: int) -> str:
    """What to do about a prompt of ``tokens_used`` that is left after all compactions there are, for a person; empty
    when it is small enough."""
    if tokens_used < thresholds(window).summary:
        return ""
    return (
        f"About {tokens_used:,} tokens cannot be compacted and the window has {window:,}. "
        "Use a model with a larger window, a larger --context-window, or start a new session."
    )


@dataclass(frozen=True, slots=True)
class SummaryPlan:
    """A summary to be made: events before ``keep_from`` go, ``ledger_text`` and the summary take their place.

    replaced: characters that leave the request, an earlier summary among them. artifact: where the whole ledger is
    kept, when it was too long for the request.
    """

    keep_from: int
    ledger: Ledger
    ledger_text: str
    replaced: int
    artifact: str = ""

    def shrinks(self, summary: str = "") -> bool:
        """Whether the ledger with ``summary`` is really smaller than what it replaces."""
        return len(self.ledger_text) + len(summary) < SMALLER * self.replaced


def plan_summary(
    events: Sequence[Event],
    window: int,
    keep: Callable[[bytes], str] | None = None,
    size: int | None = None,
    known: Known | None = None,
) -> SummaryPlan | None:
    """Where to cut and what the ledger of the part before says, with the todo list as it is now; None when nothing
    can be cut off. keep: stores a ledger that is too long, and returns the digest under which it can be read.
    size: tokens of the prompt; a small one keeps a tail that is small against it. known: facts of what is not in
    ``events`` any more."""
    at = thresholds(window)
    cut = keep_from(events, at.tail if size is None else thresholds(min(window, size)).tail)
    if not cut:
        return None
    todo = next((e.items for e in reversed(events) if e.type == "todo_changed"), None)
    ledger = (known or Known()).and_of(e for e in events if e.seq < cut or is_handoff(e))
    ledger = ledger if todo is None else replace(ledger, todo=todo)
    pointers = stand_ins(events)
    going = sum(chars(e, pointers) for e in in_request(events) if e.seq < cut)
    before = last_summary(events)
    replaced = going + (len(before.ledger) + len(before.summary) if before else 0)
    text, artifact = ledger.text(int(at.ledger * CHARS_PER_TOKEN)), ""
    if "left out" in text and keep is not None:
        artifact = keep(ledger.whole().encode())
        where = f"artifact:{artifact}: read it with fs_read" if artifact else ""
        text = ledger.text(int(at.ledger * CHARS_PER_TOKEN), where)
    return SummaryPlan(cut, ledger, text, replaced, artifact)


def is_handoff(event: Event) -> bool:
    """Whether ``event`` is what a session that goes on for another began with: its facts are never cut off."""
    return event.type == "compacted" and event.kind == "handoff"


def keep_from(events: Sequence[Event], tail: int) -> int:
    """The seq from which events stay: a turn boundary, never between a call and its result and never behind a user
    message the model has not answered. About ``tail`` tokens stay, twice as many rather than nothing; 0 when nothing
    of the request can go."""
    now = in_request(events)
    pointers = stand_ins(events)
    sizes = [chars(event, pointers) for event in now]
    before = dict(zip((event.seq for event in now), accumulate(sizes, initial=0), strict=False))
    total = sum(sizes)
    places = [seq for seq in _boundaries(now) if before.get(seq, total) > 0]
    for room in (tail, 2 * tail):
        fitting = (seq for seq in places if seq in before and tokens(total - before[seq]) <= room)
        if (first := next(fitting, None)) is not None:
            return first
    return places[-1] if places else 0


def _boundaries(events: Sequence[Event]) -> list[int]:
    """Seqs before which a cut keeps every call with its result, in order; the last may be the end of the log."""
    found: list[int] = []
    waiting: set[str] = set()
    begun = False
    for event in events:
        if not waiting and (event.type in _STARTS or (event.type == "assistant_message" and not begun)):
            found.append(event.seq)
        begun = event.type == "turn_started" or (begun and event.type != "assistant_message")
        if event.type == "assistant_message" and not event.aborted:
            waiting = {call.id for call in event.calls}
        elif event.type == "tool_result":
            waiting.discard(event.call_id)
    if events and not waiting:
        found.append(events[-1].seq + 1)
    unanswered = _first_unanswered(events)
    return [seq for seq in found if unanswered is None or seq <= unanswered]


def _first_unanswered(events: Sequence[Event]) -> int | None:
    """The first user message since the model's last answer."""
    first = None
    for event in events:
        if event.type == "user_message" and first is None:
            first = event.seq
        elif event.type == "assistant_message" and not event.aborted:
            first = None
    return first
