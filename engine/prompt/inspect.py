"""What was sent and what of it was cached, read back from the log: the answers behind the context inspector."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from engine import queries as q
from engine.events import AssistantMessage, Event, Usage
from engine.models import script_usage
from engine.models.pricing import price
from engine.prompt import prefix, tokens
from engine.prompt.builder import Builder
from engine.prompt.cache_rules import rules_for
from engine.prompt.causes import Divergence, Sent, compare, sent
from engine.prompt.prefix import Block, Prediction
from engine.prompt.request import ModelRequest
from engine.state import TaskState

TOLERANCE = 0.03
"""Share of the request by which a prediction may miss what the provider reports."""
THOUSAND = 1000


class Inspector:
    """Answers for any number of sessions, from several threads. Blocks are counted once; the list of requests of a
    session is carried on where it ended."""

    def __init__(self) -> None:
        self._sizes: dict[bytes, int] = {}
        self._lists: dict[str, _Lines] = {}
        self._lock = threading.Lock()

    def requests(self, session: str, events: Sequence[Event]) -> tuple[q.RequestLine, ...]:
        """Every request of the session, in order."""
        with self._lock:
            lines = self._lists.get(session)
            if lines is None or not lines.begins(events):
                lines = self._lists[session] = _Lines()
            lines.carry_on(events)
            return tuple(lines.made)

    def request(self, events: Sequence[Event], turn: int = 0) -> q.InspectedRequest | None:
        """The newest request up to ``turn`` (0: of all), None when there is none."""
        places = _places(events)
        upto = [n for n, place in enumerate(places) if not turn or _turn(events[place]) <= turn] or [0][: len(places)]
        if not upto:
            return None
        number = upto[-1]
        now = sent(events, places[number], self._counter(events[places[number]]))
        before = sent(events, places[number - 1], self._counter(events[places[number - 1]])) if number else None
        return _inspected(events, before, now, number + 1, len(places))

    def _counter(self, started: Event) -> prefix.Count:
        """How the model of a turn counts: a scripted one has a measure of its own."""
        is_scripted = started.type == "turn_started" and started.model.startswith("script/")
        return script_usage.tokens if is_scripted else self._count

    def _count(self, text: str) -> int:
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        if key not in self._sizes:
            self._sizes[key] = tokens.count(text)
        return self._sizes[key]


@dataclass
class _Lines:
    """The lines made so far of one session, and the last request they speak of."""

    made: list[q.RequestLine] = field(default_factory=list)
    place: int = -1
    request: ModelRequest | None = None
    builder: Builder = field(default_factory=Builder)
    first: Event | None = None

    def begins(self, events: Sequence[Event]) -> bool:
        """Whether ``events`` go on from those seen."""
        return len(events) > self.place and (not events or events[0] == self.first)

    def carry_on(self, events: Sequence[Event]) -> None:
        answers = _answers(events)
        self.first = events[0] if events else None
        for place in _places(events):
            if place > self.place:
                self._add(events, place)
        self.made = [_answered(line, answers.get(line.turn)) for line in self.made]

    def _add(self, events: Sequence[Event], place: int) -> None:
        started = events[place]
        settled = self.builder.settled
        request = self.builder.request(events, TaskState(session=started.session), place)
        same = settled if self.builder.carried else 0
        last = events[self.place] if self.request else None
        # Blocks are cut and hashed only where the requests show that something broke: most of a long session is whole.
        if last and self.request and _model(last) == _model(started) and _grown(self.request, request, same):
            found = Divergence(0, "appended", breaks=False)
        else:
            found = compare(sent(events, self.place, _uncounted) if last else None, sent(events, place, _uncounted))
        why = _expired(last.at if last else None, started.at, _model(started))
        cause = found.cause if found.breaks or not why else why
        self.made.append(q.RequestLine(_turn(started), 0, 0, None, found.breaks or bool(why), cause))
        self.place, self.request = place, request


def _grown(before: ModelRequest, now: ModelRequest, same: int) -> bool:
    """Whether ``now`` begins with all of ``before`` and has more: part by part, for the last message may have grown.
    same: messages at the start that are known to be the same."""
    fixed = before.identity == now.identity and before.catalogue == now.catalogue and before.tools == now.tools
    old, new = before.messages, now.messages
    if not fixed or not old or old[same:-1] != new[same : len(old) - 1] or len(new) < len(old):
        return False
    parts = old[-1].parts
    same = old[-1].role == new[len(old) - 1].role and parts == new[len(old) - 1].parts[: len(parts)]
    return same and (len(new) > len(old) or len(new[-1].parts) > len(parts))


def _answered(line: q.RequestLine, answer: AssistantMessage | None) -> q.RequestLine:
    if answer is None:
        return line
    return replace(line, input=answer.usage.input, read=answer.usage.cache_read, cost=answer.cost)


def _uncounted(_text: str) -> int:
    return 0


def _places(events: Sequence[Event]) -> list[int]:
    """Where requests were sent; one before any prompt was rendered cannot be built again and is left out."""
    first = next((n for n, e in enumerate(events) if e.type == "prompt_rendered"), len(events))
    return [n for n, e in enumerate(events) if e.type == "turn_started" and n > first]


def _turn(event: Event) -> int:
    return event.turn if event.type == "turn_started" else 0


def _model(event: Event) -> str:
    return event.model if event.type == "turn_started" else ""


def _answers(events: Sequence[Event]) -> dict[int, AssistantMessage]:
    return {e.turn: e for e in events if e.type == "assistant_message"}


def _expired(before: datetime | None, now: datetime, model: str) -> str:
    """In words, when the cache's lifetime ended between the two requests."""
    rules, seconds = rules_for(model), _seconds(before, now)
    if rules.lifetime is None or seconds <= rules.lifetime:
        return ""
    return prefix.expired_words(rules.lifetime, seconds)


def _seconds(before: datetime | None, now: datetime) -> float:
    return max(0.0, (now - before).total_seconds()) if before else 0.0


def _inspected(events: Sequence[Event], before: Sent | None, now: Sent, number: int, count: int) -> q.InspectedRequest:
    answers, found, rules = _answers(events), compare(before, now), rules_for(now.model)
    answer = answers.get(now.turn)
    usage = answer.usage if answer and answer.usage.input else None
    past, blocks = _fitted(before, now, answers, found)
    usable = past if before and before.model == now.model else ()
    since = before.at if before else None
    said = prefix.predict(blocks, usable, rules, _seconds(since, now.at))
    expired = bool(_expired(since, now.at, now.model))
    differing = before.blocks[found.same] if before and found.breaks and found.same < len(before.blocks) else None
    return q.InspectedRequest(
        number=number,
        count=count,
        turn=now.turn,
        model=now.model,
        tokens=prefix.size(blocks),
        cost=answer.cost if answer else None,
        blocks=_blocks(blocks, before, found, said, expired, _prices(now.model)),
        predicted=q.Split(said.read, said.write, said.new),
        reported=q.Split(usage.cache_read, usage.cache_write, usage.input_uncached) if usage else None,
        as_predicted=usage is not None
        and abs(said.read - usage.cache_read) <= max(rules.step, TOLERANCE * usage.input),
        against=before.turn if before else 0,
        same=found.same,
        cause=found.cause,
        broken=found.breaks or expired,
        byte=found.byte,
        before=differing.text if differing else "",
        why=said.why,
        exact=now.exact,
        rules=rules.words,
    )


def _fitted(
    before: Sent | None, now: Sent, answers: dict[int, AssistantMessage], found: Divergence
) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """Blocks of both requests in the tokens of the provider, as far as it reported any. What was appended is scaled by
    itself, so that the part before it keeps the size it was reported with."""
    total = _reported(now, answers)
    past, old = before.blocks if before else (), _reported(before, answers) if before else 0
    past = prefix.fitted(past, old) if old else past
    if not total:
        return past, (*past[: found.same], *now.blocks[found.same :])
    if found.same and found.same == len(past) and 0 < old <= total:
        return past, (*past, *prefix.fitted(now.blocks[found.same :], total - old))
    return past, prefix.fitted(now.blocks, total)


def _reported(request: Sent, answers: dict[int, AssistantMessage]) -> int:
    answer = answers.get(request.turn)
    return answer.usage.input if answer else 0


def _blocks(
    blocks: Sequence[Block],
    before: Sent | None,
    found: Divergence,
    said: Prediction,
    expired: bool,
    price_of: Callable[[int, bool], float | None],
) -> tuple[q.InspectedBlock, ...]:
    known = {block.digest for block in before.blocks} if before and (found.breaks or expired) else set()
    made = []
    for n, block in enumerate(blocks):
        read = n < said.blocks
        again = block.digest in known or (found.breaks and n == found.same and n < len(before.blocks if before else ()))
        made.append(
            q.InspectedBlock(
                block.layer,
                block.kind,
                block.title,
                block.text,
                block.tokens,
                price_of(block.tokens, read),
                "read" if read else "broken" if again else "new",
            )
        )
    return tuple(made)


def _prices(spec: str) -> Callable[[int, bool], float | None]:
    """(tokens, read from the cache) to USD. What is written is priced as a write where the provider charges for it."""
    rules = rules_for(spec)
    fresh = Usage(cache_write=THOUSAND) if rules.breakpoints else Usage(input_uncached=THOUSAND)
    rates = {True: price(spec, Usage(cache_read=THOUSAND))[0], False: price(spec, fresh)[0]}

    def price_of(count: int, read: bool) -> float | None:
        rate = rates[read]
        return None if rate is None else rate * count / THOUSAND

    return price_of
