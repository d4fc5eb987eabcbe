"""How large the next request will be: what the provider reported last, and what has been added since.

What has been added is guessed by its length and corrected by what the provider reported for earlier requests of the
same model: reported ÷ guessed, for the layers A and B, as the first report tells, and for the talk after them, as the
newest tells.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.compaction.visible import NOTHING, chars, in_request, last_summary, stand_ins
from engine.events import AssistantMessage, Event, PromptRendered
from engine.prompt import tokens

# Characters of the role, the kind and the ids of a part, which providers count too.
_AROUND = 50
_AROUND_RESULT = 100
# A report further off than this is no count of the whole request: some servers leave out what they had cached.
_LEAST, _MOST = 0.2, 5.0


@dataclass(frozen=True, slots=True)
class Factors:
    """Reported ÷ guessed tokens, of the layers A and B and of the talk. of: guessed tokens of talk that showed it."""

    fixed: float = 1.0
    talk: float = 1.0
    of: float = 0.0


class Meter:
    """Measures one session's requests. It remembers sizes by ``seq`` and the factors of each model."""

    def __init__(self) -> None:
        self._sizes: dict[tuple[int, str | None], int] = {}
        self._counts: dict[int, int] = {}
        self._factors: dict[str, Factors] = {}
        self._learnt: tuple[int, bool] = (0, False)
        self._measured: tuple[tuple[int, Event | None, str, int], int] | None = None

    def next_request(self, events: Sequence[Event], model: str, window: int) -> int:
        """Tokens of the request after ``events`` for ``model`` (its spec), whose window has ``window`` tokens."""
        last, known = events[-1] if events else None, self._measured
        # The very event: one that was only tried out may have had the seq of the one that is there now.
        if known is None or known[0][1] is not last or known[0] != (len(events), last, model, window):
            known = self._measured = (len(events), last, model, window), self._measure(events, model, window)
        return known[1]

    def forget(self, before: int) -> None:
        """The sizes of events before seq ``before`` are not asked for any more."""
        self._sizes = {key: size for key, size in self._sizes.items() if key[0] >= before}
        self._counts = {seq: count for seq, count in self._counts.items() if seq >= before}

    def _measure(self, events: Sequence[Event], model: str, window: int) -> int:
        at = _last_report(events)
        # A report from before a compaction counts another request.
        stale = at is None or any(e.type in ("compacted", "compaction_undone") for e in events[at:])
        if at is None or stale or not self._learn(events, at):
            return self._whole(events, self._factors.get(model, Factors()), window)
        factors = self._factors.get(model, Factors())
        report = _answer(events[at])
        known = report.usage.input
        if not report.aborted:
            known += report.usage.output or round(self._guess([report], NOTHING) * factors.talk)
        known += self._added(events[at + 1 :], NOTHING, factors.talk, window - known)
        return known if report.model == model else max(known, self._whole(events, factors, window))

    def _whole(self, events: Sequence[Event], factors: Factors, window: int) -> int:
        """All of it guessed, as before the first report and after a compaction."""
        fixed = round(_fixed(events) * factors.fixed + _summary(events) * factors.talk)
        return fixed + self._added(in_request(events), stand_ins(events), factors.talk, window - fixed)

    def _added(self, events: Sequence[Event], pointers: Mapping[str, str], factor: float, room: int) -> int:
        """Tokens ``events`` add. A large text decides whether the window overflows, so that one is counted."""
        large = [e for e in events if self._chars(e, pointers) > room * tokens.CHARS_PER_TOKEN / 4 > 0]
        counted = [e for e in large if e.type in ("tool_result", "user_message") and not _is_pointer(e, pointers)]
        seqs = {e.seq for e in counted}
        rest = self._guess((e for e in events if e.seq not in seqs), pointers) * factor
        return round(rest + sum(self._count(e) for e in counted) * min(1.3, max(1.0, factor)))

    def _learn(self, events: Sequence[Event], at: int) -> bool:
        """Take the report at ``at``, the newest, into account, once; whether it can be a count of the whole request."""
        report = _answer(events[at])
        if report.seq == self._learnt[0]:
            return self._learnt[1]
        fixed, talk = self._guessed(events[:at])
        trusted = _LEAST <= report.usage.input / max(1.0, fixed + talk) <= _MOST
        self._learnt = report.seq, trusted
        if trusted:
            before = self._factors.get(report.model) or self._first(events, report.model)
            self._factors[report.model] = _corrected(before, report.usage.input, fixed, talk)
        return trusted

    def _first(self, events: Sequence[Event], model: str) -> Factors:
        """What the first report of ``model`` tells: mostly of the layers A and B, for the talk has just begun."""
        at = next(i for i, e in enumerate(events) if _is_report(e) and _answer(e).model == model)
        fixed, talk = self._guessed(events[:at])
        reported = _answer(events[at]).usage.input
        if talk < fixed / 4 and _LEAST <= (reported - talk) / fixed <= _MOST:
            return Factors((reported - talk) / fixed)
        both = min(_MOST, max(_LEAST, reported / max(1.0, fixed + talk)))
        return Factors(both, both)

    def _guessed(self, events: Sequence[Event]) -> tuple[float, float]:
        """Guessed tokens of the layers A and B, and of all behind them."""
        return _fixed(events), _summary(events) + self._guess(in_request(events), stand_ins(events))

    def _guess(self, events: Iterable[Event], pointers: Mapping[str, str]) -> float:
        return sum(self._chars(event, pointers) for event in events) / tokens.CHARS_PER_TOKEN

    def _chars(self, event: Event, pointers: Mapping[str, str]) -> int:
        key = (event.seq, pointers.get(event.call_id) if event.type == "tool_result" else None)
        if key not in self._sizes:
            size = chars(event, pointers)
            parts = len(event.blocks) if event.type == "assistant_message" else 1
            around = _AROUND_RESULT if event.type == "tool_result" else _AROUND * parts
            self._sizes[key] = size + around if size else 0
        return self._sizes[key]

    def _count(self, event: Event) -> int:
        if event.seq not in self._counts and event.type in ("tool_result", "user_message"):
            self._counts[event.seq] = tokens.count(event.text)
        return self._counts[event.seq]


def _corrected(before: Factors, reported: int, fixed: float, talk: float) -> Factors:
    """``before``, with what a report tells of the talk. A short talk says little: its own length is within what the
    layers before it may be wrong by. So does the rest that a compaction leaves, compared with what was there before."""
    learnt = (reported - fixed * before.fixed) / max(1.0, talk)
    if talk <= max(fixed / 4, before.of / 2) or not _LEAST <= learnt <= _MOST:
        return before
    return replace(before, talk=learnt, of=talk)


def _last_report(events: Sequence[Event]) -> int | None:
    """Where the newest answer with a usage report stands."""
    return next((at for at in range(len(events) - 1, -1, -1) if _is_report(events[at])), None)


def _is_report(event: Event) -> bool:
    return isinstance(event, AssistantMessage) and event.usage.input > 0


def _answer(event: Event) -> AssistantMessage:
    assert isinstance(event, AssistantMessage)
    return event


def _is_pointer(event: Event, pointers: Mapping[str, str]) -> bool:
    return event.type == "tool_result" and event.call_id in pointers


def _fixed(events: Sequence[Event]) -> float:
    """Guessed tokens of layers A and B."""
    rendered = next((e for e in reversed(events) if isinstance(e, PromptRendered)), None)
    if rendered is None:
        return 0.0
    tools = json.dumps([tool.model_dump() for tool in rendered.tools])
    return len(rendered.identity + rendered.catalogue + tools) / tokens.CHARS_PER_TOKEN


def _summary(events: Sequence[Event]) -> float:
    """Guessed tokens of the summary the request begins with."""
    last = last_summary(events)
    return (len(last.ledger) + len(last.summary)) / tokens.CHARS_PER_TOKEN if last else 0.0
