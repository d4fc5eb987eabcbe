"""How large the next request will be: what the provider reported last, and what has been added since.

What has been added is guessed by its length and corrected by what the provider reported for earlier requests of the
same model: reported ÷ guessed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from engine.compaction.visible import chars, in_request, last_summary, offloaded
from engine.events import AssistantMessage, Event, PromptRendered
from engine.prompt import tokens

# Role, kind and ids of a part, which providers count too.
_AROUND = 30
# A report further off than this is no count of the whole request: some servers leave out what they had cached.
_LEAST, _MOST = 0.2, 5.0


class Meter:
    """Measures one session's requests. It remembers sizes by ``seq`` and one factor a model."""

    def __init__(self) -> None:
        self._sizes: dict[tuple[int, bool], int] = {}
        self._counts: dict[int, int] = {}
        self._factors: dict[str, float] = {}
        self._learnt = 0

    def next_request(self, events: Sequence[Event], model: str, window: int) -> int:
        """Tokens of the request after ``events`` for ``model`` (its spec), whose window has ``window`` tokens."""
        factor = self._learn(events, model)
        at = _last_report(events, since_compaction=True)
        report = events[at] if at is not None else None
        if at is None or not isinstance(report, AssistantMessage) or not self._is_true(events, at):
            return self._whole(events, factor, window)
        known = report.usage.input
        if not report.aborted:
            known += report.usage.output or round(self._guess([report], frozenset()) * factor)
        known += self._added(events[at + 1 :], frozenset(), factor, window - known)
        return known if report.model == model else max(known, self._whole(events, factor, window))

    def _whole(self, events: Sequence[Event], factor: float, window: int) -> int:
        """All of it guessed, as before the first report and after a compaction."""
        fixed = round(_fixed(events) / tokens.CHARS_PER_TOKEN * factor)
        return fixed + self._added(in_request(events), offloaded(events), factor, window - fixed)

    def _added(self, events: Sequence[Event], pointers: frozenset[str], factor: float, room: int) -> int:
        """Tokens ``events`` add. A large text decides whether the window overflows, so that one is counted."""
        large = [e for e in events if self._chars(e, pointers) > room * tokens.CHARS_PER_TOKEN / 4 > 0]
        counted = [e for e in large if e.type in ("tool_result", "user_message") and not _is_pointer(e, pointers)]
        seqs = {e.seq for e in counted}
        rest = self._guess((e for e in events if e.seq not in seqs), pointers) * factor
        return round(rest + sum(self._count(e) for e in counted) * min(1.3, max(1.0, factor)))

    def _learn(self, events: Sequence[Event], model: str) -> float:
        """The factor for ``model``, after the newest report has been taken into account."""
        at = _last_report(events, since_compaction=False)
        report = events[at] if at is not None else None
        if at is not None and isinstance(report, AssistantMessage) and report.seq != self._learnt:
            self._learnt = report.seq
            if self._is_true(events, at):
                self._factors[report.model] = report.usage.input / self._guessed(events[:at])
        return self._factors.get(model, 1.0)

    def _is_true(self, events: Sequence[Event], at: int) -> bool:
        """Whether the report at ``at`` can be a count of the whole request."""
        report = events[at]
        assert isinstance(report, AssistantMessage)
        return _LEAST <= report.usage.input / max(1.0, self._guessed(events[:at])) <= _MOST

    def _guessed(self, events: Sequence[Event]) -> float:
        return _fixed(events) / tokens.CHARS_PER_TOKEN + self._guess(in_request(events), offloaded(events))

    def _guess(self, events: Iterable[Event], pointers: frozenset[str]) -> float:
        return sum(self._chars(event, pointers) for event in events) / tokens.CHARS_PER_TOKEN

    def _chars(self, event: Event, pointers: frozenset[str]) -> int:
        key = (event.seq, _is_pointer(event, pointers))
        if key not in self._sizes:
            size = chars(event, pointers)
            parts = len(event.blocks) if event.type == "assistant_message" else 1
            self._sizes[key] = size + _AROUND * parts if size else 0
        return self._sizes[key]

    def _count(self, event: Event) -> int:
        if event.seq not in self._counts and event.type in ("tool_result", "user_message"):
            self._counts[event.seq] = tokens.count(event.text)
        return self._counts[event.seq]


def _last_report(events: Sequence[Event], since_compaction: bool) -> int | None:
    """Where the newest answer with a usage report stands."""
    for at in range(len(events) - 1, -1, -1):
        event = events[at]
        if event.type == "assistant_message" and event.usage.input:
            return at
        if event.type == "compacted" and since_compaction:
            return None
    return None


def _is_pointer(event: Event, pointers: frozenset[str]) -> bool:
    return event.type == "tool_result" and event.call_id in pointers


def _fixed(events: Sequence[Event]) -> int:
    """Characters of layers A and B and of the summary the request begins with."""
    rendered = next((e for e in reversed(events) if isinstance(e, PromptRendered)), None)
    summary = last_summary(events)
    size = len(summary.ledger) + len(summary.summary) if summary else 0
    if rendered is not None:
        size += len(rendered.identity + rendered.catalogue + json.dumps([t.model_dump() for t in rendered.tools]))
    return size
