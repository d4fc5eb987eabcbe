"""The questions a compaction has to answer with yes, answered by code over ledger and events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.compaction.facts import Ledger, opening
from engine.compaction.ledger import extract
from engine.compaction.ledger_text import as_entry
from engine.compaction.plan import SummaryPlan, is_handoff
from engine.compaction.visible import in_request
from engine.events import Compacted, Event

GOAL = "the goal is there"
CONSTRAINTS = "what the person said is there word for word, or where it stands"
OUTCOMES = "what failed is told apart from what was done"
SOURCES = "the sources are there"
TODO = "the todo list is there"
PAIRED = "every tool call has its result"
FILLED = "nothing is empty"
SMALLER = "it is really smaller"

Answers = tuple[tuple[str, bool], ...]


def checks(made: SummaryPlan | Compacted, events: Sequence[Event]) -> Answers:
    """Each question and whether ``made`` passes it. events: the session's, the Compacted event among them or not. For
    a hand-off, those of the session it goes on for, or its own: then what the ledger had to hold is not known, and
    the answers are about what the new session begins with."""
    if isinstance(made, SummaryPlan):
        whole, smaller = paired(events, made.keep_from), made.shrinks()
        answers = _of_text(made.ledger, made.ledger_text, made.artifact)
        return (*answers, (PAIRED, whole), (FILLED, bool(made.ledger_text.strip())), (SMALLER, smaller))
    if made.kind in ("summary", "handoff"):
        fresh = made.kind == "handoff"
        whole, smaller = fresh or paired(events, made.keep_from), fresh or _shrank(made)
        answers = _of_text(_ledger(made, events), made.ledger, made.artifact)
        return (*answers, (PAIRED, whole), (FILLED, bool(made.ledger.strip())), (SMALLER, smaller))
    return _of_layer(made, events)


def failed(answers: Answers) -> tuple[str, ...]:
    """The questions that are answered with no."""
    return tuple(question for question, passed in answers if not passed)


def of_ledger(plan: SummaryPlan) -> Answers:
    """Only the questions about the text of the ledger."""
    return _of_text(plan.ledger, plan.ledger_text, plan.artifact)


def paired(events: Sequence[Event], keep_from: int = 0) -> bool:
    """Whether, in the request from ``keep_from`` on, no result is without its call and no call, but the newest answer's
    and those a crash left open anyway, without its result."""
    kept = [e for e in in_request(events) if e.seq >= keep_from]
    answered = {e.call_id for e in kept if e.type == "tool_result"}
    everywhere = {e.call_id for e in events if e.type == "tool_result"}
    called = {c.id for e in kept if e.type == "assistant_message" and not e.aborted for c in e.calls}
    before = {
        c.id for e in events if e.seq < keep_from and e.type == "assistant_message" and not e.aborted for c in e.calls
    }
    return not (answered & before - called) and (called & everywhere) <= answered


def _of_text(ledger: Ledger, text: str, artifact: str) -> Answers:
    # What was left out counts as there when the text says where: the model can look it up. The newest has to be there.
    cut = bool(artifact) and f"artifact:{artifact}" in text
    failures = (*ledger.failures, *(c.text for c in ledger.commands if c.ended not in ("exit 0", "")))
    open_steps = [item.text for item in ledger.todo if item.status != "done"]
    return (
        (GOAL, _has(ledger.said[:1], text)),
        (CONSTRAINTS, _has(ledger.said[1:][-1:], text) if cut else _word_for_word(ledger.said[1:], text)),
        (OUTCOMES, cut or _has(failures, text)),
        (SOURCES, cut or _has(ledger.sources, text)),
        (TODO, _has(open_steps[-1:], text) if cut else _has([item.text for item in ledger.todo], text)),
    )


def _ledger(made: Compacted, events: Sequence[Event]) -> Ledger:
    """What the ledger had to hold: all before the cut, and the todo list as it was when it was made."""
    before = [e for e in events if not made.seq or e.seq < made.seq]
    gone = (e for e in before if made.kind == "handoff" or e.seq < made.keep_from or is_handoff(e))
    todo = next((e.items for e in reversed(before) if e.type == "todo_changed"), None)
    ledger = extract(gone)
    return ledger if todo is None else replace(ledger, todo=todo)


def _shrank(made: Compacted) -> bool:
    return not made.tokens_before or made.tokens_after < made.tokens_before


def _of_layer(made: Compacted, events: Sequence[Event]) -> Answers:
    """A layer that shortens results touches neither what the person said nor the todo list."""
    results = {e.call_id: e for e in events if e.type == "tool_result"}
    calls = (*made.offloaded, *made.texts)
    known = [(results[call], text) for call, text in made.texts.items() if call in results]
    return (
        (GOAL, True),
        (CONSTRAINTS, True),
        (OUTCOMES, made.kind != "drop" or all(result.status == "ok" for result, _ in known)),
        (SOURCES, all(result.external is None for result, _ in known)),
        (TODO, True),
        (PAIRED, all(call in results for call in calls) and paired(events)),
        (FILLED, bool(calls) and all(text.strip() for text in made.texts.values())),
        (SMALLER, all(len(text) < len(result.text) for result, text in known) and _shrank(made)),
    )


def _has(entries: Iterable[str], text: str) -> bool:
    return all(opening(entry) in text for entry in entries)


def _word_for_word(entries: Iterable[str], text: str) -> bool:
    return all(as_entry(entry) in text for entry in entries)
