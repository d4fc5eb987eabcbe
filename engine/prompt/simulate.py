"""What a session would have cost on other models, with the provider's cache and without: from its log alone.

Every request that was answered is built again, cut into blocks and put to each provider's rules. Tokens are those that
were reported when it was sent, output is as it was: another model would count and say it a little otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from engine import queries as q
from engine.compaction.summary import instruction, summary_request
from engine.events import AssistantMessage, Compacted, Event, Usage
from engine.models import script_usage
from engine.models.pricing import price
from engine.prompt import prefix, tokens
from engine.prompt.builder import Builder
from engine.prompt.cache_rules import CacheRules, rules_for
from engine.prompt.prefix import Block, Prediction
from engine.prompt.request import ModelRequest
from engine.state import TaskState

USUAL = (
    "anthropic/claude-opus-5-5",
    "anthropic/claude-sonnet-5-5",
    "anthropic/claude-haiku-5-5",
    "openai/gpt-6-sol",
    "openai/gpt-6-luna",
    "google/gemini-3.8-flash",
)
"""What is compared when nobody names models: a large and a small one of each provider whose rules are in the table."""
# A summary is asked for again when the first note fails its checks; the log has the sum of both.
MOST_TRIES = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that was sent and answered, the model that was asked, when, and what it reported. ``cost``: as logged,
    None when the price was not known."""

    request: ModelRequest
    model: str
    at: datetime
    usage: Usage
    cost: float | None


def simulate(events: Sequence[Event], models: Sequence[str] = ()) -> tuple[q.SimulatedCost, ...]:
    """A line a model, the session's own first; ``models`` are specs, the usual ones when empty. Nothing for a session
    without an answered request."""
    asked = tuple(requests(events))
    if not asked:
        return ()
    own = asked[-1].model
    count = _Counter(script_usage.tokens if own.startswith("script/") else tokens.count)
    specs = dict.fromkeys((own, *(models or USUAL)))
    bills = [_Bill(spec, rules_for(spec)) for spec in specs]
    for tools_first in {bill.rules.tools_first for bill in bills}:
        those = [bill for bill in bills if bill.rules.tools_first == tools_first]
        for blocks, before, seconds, one in _cut(asked, tools_first, count):
            for bill in those:
                bill.add(blocks, before, seconds, one.usage.output)
    paid = real(asked)
    return tuple(bill.line(paid if bill.model == own else None) for bill in bills)


def requests(events: Sequence[Event]) -> Iterator[Asked]:
    """Every request with an answer, in order; those for summaries among them, with the usage their events hold."""
    answers = {e.turn: e for e in events if isinstance(e, AssistantMessage)}
    model, rendered, builder = "", False, Builder()
    for place, event in enumerate(events):
        rendered = rendered or event.type == "prompt_rendered"
        if not rendered:
            continue
        if event.type == "turn_started":
            model, answer = event.model, answers.get(event.turn)
            # An answer that was cut off before it reported anything tells nothing about what was paid.
            if answer is not None and (answer.usage.input or not answer.aborted):
                yield Asked(_built(builder, events, place), model, event.at, answer.usage, answer.cost)
        elif event.type == "compacted" and event.usage.input and model:
            yield from _summaries(_built(builder, events, place), model, event)


def real(asked: Sequence[Asked]) -> float | None:
    """USD paid for all of them as the log says; None when a price was unknown or another model did a part of it."""
    costs = [one.cost for one in asked]
    if len({one.model for one in asked}) > 1 or None in costs:
        return None
    return sum(cost or 0.0 for cost in costs)


def _built(builder: Builder, events: Sequence[Event], place: int) -> ModelRequest:
    return builder.request(events, TaskState(session=events[place].session), place)


def _summaries(request: ModelRequest, model: str, event: Compacted) -> Iterator[Asked]:
    """The requests behind a compaction: each the whole prompt with one instruction after it."""
    asks = summary_request(request, instruction())
    size = prefix.size(prefix.cut(asks, count=lambda text: tokens.rough(len(text))))
    tries = min(MOST_TRIES, max(1, round(event.usage.input / max(1, size))))
    for number in range(tries):
        share = Usage(**{name: _share(value, number, tries) for name, value in event.usage.model_dump().items()})
        yield Asked(asks, model, event.at, share, None if event.cost is None else event.cost / tries)


def _share(whole: int, number: int, parts: int) -> int:
    return whole * (number + 1) // parts - whole * number // parts


def _cut(
    asked: Sequence[Asked], tools_first: bool, count: Callable[[str], int]
) -> Iterator[tuple[tuple[Block, ...], tuple[Block, ...], float, Asked]]:
    """Each request's blocks with those of the one before and the seconds between them."""
    before: tuple[Block, ...] = ()
    at = asked[0].at
    for one in asked:
        blocks = scaled(prefix.cut(one.request, tools_first, count), before, one.usage.input)
        yield blocks, before, max(0.0, (one.at - at).total_seconds()), one
        before, at = blocks, one.at


def scaled(blocks: tuple[Block, ...], before: tuple[Block, ...], total: int) -> tuple[Block, ...]:
    """``blocks`` in the tokens of the provider, ``total`` of them (0: none were reported). What the request shares with
    the one before keeps the size it had there, so that nothing is read which was never sent."""
    if not total:
        return blocks
    same = prefix.shared(before, blocks)
    known = prefix.size(before[:same])
    if same == len(before) and same < len(blocks) and known <= total:
        return (*before, *prefix.fitted(blocks[same:], total - known))
    return prefix.fitted(blocks, total)


class _Counter:
    """Counts a text once, however many requests have it."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        if text not in self._known:
            self._known[text] = self._count(text)
        return self._known[text]


@dataclass(slots=True)
class _Bill:
    """What one model would have charged so far. Prices are by request: some lists have steps."""

    model: str
    rules: CacheRules
    used: Usage = field(default_factory=Usage)
    cached: float | None = 0.0
    uncached: float | None = 0.0
    fee: bool = False

    def __post_init__(self) -> None:
        if not self.rules.breakpoints and self.rules.keeps_last:
            written, plain = (price(self.model, Usage(**{kind: 1000}))[0] for kind in ("cache_write", "input_uncached"))
            self.fee = written != plain

    def add(self, blocks: Sequence[Block], before: Sequence[Block], seconds: float, output: int) -> None:
        said = prefix.predict(blocks, before, self.rules, seconds)
        write = said.write + (said.new if self._charged(said) else 0)
        usage = Usage(
            input_uncached=said.write + said.new - write, cache_read=said.read, cache_write=write, output=output
        )
        self.used += usage
        self.cached = _sum(self.cached, price(self.model, usage)[0])
        self.uncached = _sum(self.uncached, price(self.model, Usage(input_uncached=usage.input, output=output))[0])

    def _charged(self, said: Prediction) -> bool:
        """Whether what is new is paid as written: where nothing is marked, the provider keeps all of a long prompt, and
        some of them take a fee for that."""
        return self.fee and said.read + said.write + said.new >= self.rules.minimum

    def line(self, paid: float | None) -> q.SimulatedCost:
        used = self.used
        return q.SimulatedCost(
            model=self.model,
            cached=self.cached,
            uncached=self.uncached,
            read=used.cache_read,
            write=used.cache_write,
            new=used.input_uncached,
            output=used.output,
            hit=used.cache_read / used.input if used.input else 0.0,
            real=paid,
            rules=self.rules.words,
        )


def _sum(one: float | None, more: float | None) -> float | None:
    return None if one is None or more is None else one + more
