"""The provider's prefix cache, modelled: a request cut into blocks with chained keys, and what the cache holds of it.

``key(i) = hash(key(i-1), block i)``: two requests share exactly the blocks whose keys are equal.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from engine.events import TextBlock, ThinkingBlock, ToolCall
from engine.prompt import tokens
from engine.prompt.cache_rules import CacheRules
from engine.prompt.request import Message, ModelRequest, Part, ResultPart

Layer = Literal["A", "B", "C", "D"]
Kind = Literal["identity", "tool", "skills", "ledger", "you", "runtime", "agent", "thinking", "call", "result"]
Count = Callable[[str], int]

TITLES = {"identity": "identity, rules", "ledger": "ledger, summary"}
PLACES: dict[Kind, Layer] = {"identity": "A", "tool": "B", "skills": "B", "runtime": "D"}
RUNTIME = re.compile(r'<runtime kind="([^"]*)">')
LEDGER = "<compacted>\n"


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a request that is cached whole or not at all. ``text`` is what the model reads of it; ``digest``
    covers everything that is sent, ``key`` this block and all before it. ``message``: index in the request's messages,
    -1 for the prompt."""

    layer: Layer
    kind: Kind
    name: str
    role: str
    text: str
    call_id: str
    message: int
    tokens: int
    digest: str
    key: str

    @property
    def title(self) -> str:
        """What it is, for people: ``result fs_read``."""
        return f"{TITLES.get(self.kind, self.kind)} {self.name}".rstrip()


@dataclass(frozen=True, slots=True)
class Prediction:
    """Tokens read from the cache, written to it and neither; ``blocks``: how many blocks at the start are read.
    ``why``: in words, when the cache holds less than the requests share."""

    read: int
    write: int
    new: int
    blocks: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Piece:
    kind: Kind
    role: str
    text: str
    name: str = ""
    call_id: str = ""
    message: int = -1
    more: str = ""


def cut(request: ModelRequest, tools_first: bool = True, count: Count = tokens.count) -> tuple[Block, ...]:
    """The request's blocks in the order in which the provider caches them."""
    blocks: list[Block] = []
    key = ""
    for piece in _pieces(request, tools_first):
        digest = _digest(piece)
        key = hashlib.sha256(f"{key}{digest}".encode()).hexdigest()
        blocks.append(
            Block(
                layer=PLACES.get(piece.kind, "C"),
                kind=piece.kind,
                name=piece.name,
                role=piece.role,
                text=piece.text,
                call_id=piece.call_id,
                message=piece.message,
                tokens=count(piece.text),
                digest=digest,
                key=key,
            )
        )
    return tuple(blocks)


def _digest(piece: _Piece) -> str:
    """Everything that goes out, each with its length, so that nothing runs into the next."""
    found = hashlib.sha256()
    for part in (piece.kind, piece.role, piece.name, piece.call_id, piece.more, piece.text):
        data = part.encode("utf-8", "surrogatepass")
        found.update(b"%d:" % len(data))
        found.update(data)
    return found.hexdigest()


def _pieces(request: ModelRequest, tools_first: bool) -> Iterator[_Piece]:
    identity = _Piece("identity", "system", request.identity)
    tools = [_Piece("tool", "system", tool.model_dump_json(), tool.name) for tool in request.tools]
    yield from (*tools, identity) if tools_first else (identity, *tools)
    if request.catalogue.strip():
        yield _Piece("skills", "system", request.catalogue)
    for number, message in enumerate(request.messages):
        for part in message.parts:
            yield _piece(part, message, number)


def _piece(part: Part, message: Message, number: int) -> _Piece:
    role = message.role
    match part:
        case ToolCall():
            text = part.bad_input or json.dumps(part.input, ensure_ascii=False, separators=(",", ":"))
            return _Piece("call", role, text, part.name, part.id, number)
        case ResultPart():
            more = "failed" if part.is_error else ""
            return _Piece("result", role, part.text, part.name, part.call_id, number, more)
        case ThinkingBlock():
            return _Piece("thinking", role, part.text, message=number, more=part.model_dump_json())
        case TextBlock():
            if role == "assistant":
                return _Piece("agent", role, part.text, message=number)
            if number == 0 and part.text.startswith(LEDGER):
                return _Piece("ledger", role, part.text, message=number)
            if found := RUNTIME.match(part.text):
                return _Piece("runtime", role, part.text, found[1], message=number)
            return _Piece("you", role, part.text, message=number)


def shared(before: Sequence[Block], now: Sequence[Block]) -> int:
    """How many blocks at the start are the same in both."""
    differ = (n for n, (a, b) in enumerate(zip(before, now, strict=False)) if a.key != b.key)
    return next(differ, min(len(before), len(now)))


def size(blocks: Sequence[Block]) -> int:
    """Tokens of all of them."""
    return sum(block.tokens for block in blocks)


def fitted(blocks: Sequence[Block], total: int) -> tuple[Block, ...]:
    """The blocks with their tokens scaled so that together they are the ``total`` a provider reported."""
    whole, taken, given = size(blocks), 0, 0
    made = []
    for block in blocks:
        taken += block.tokens
        upto = round(total * taken / whole) if whole else 0
        made.append(replace(block, tokens=upto - given))
        given = upto
    return tuple(made)


def predict(blocks: Sequence[Block], previous: Sequence[Block], rules: CacheRules, seconds: float = 0.0) -> Prediction:
    """What the cache gives for ``blocks`` when ``previous`` was the request before, ``seconds`` ago. Entries of still
    older requests are not counted on."""
    total, same = size(blocks), shared(previous, blocks)
    why = ""
    if previous and rules.lifetime is not None and seconds > rules.lifetime:
        same, why = 0, expired_words(rules.lifetime, seconds)
    if rules.breakpoints:
        return _by_marks(blocks, previous, same, rules, why)
    kept = same if rules.keeps_last else min(same, max(0, len(previous) - 1))
    read = size(blocks[:kept]) // rules.step * rules.step
    if kept and read < rules.minimum:
        read, kept, why = 0, 0, f"nothing below {rules.minimum:,} tokens is cached"
    write = 0 if rules.keeps_last else size(blocks[kept : max(kept, len(blocks) - 1)])
    return Prediction(read, write, total - read - write, kept, why)


def expired_words(lifetime: float, seconds: float) -> str:
    """Why nothing is left in the cache ``seconds`` after the request before."""
    return f"the cache was gone: it lives {lifetime / 60:g} min, the request before was {seconds / 60:.0f} min earlier"


def _by_marks(blocks: Sequence[Block], previous: Sequence[Block], same: int, rules: CacheRules, why: str) -> Prediction:
    """Explicit marks: entries end where the request before was marked, and are looked for backwards from the marks."""
    marks = [end for end in _marks(blocks) if size(blocks[:end]) >= rules.minimum]
    if not marks:
        return Prediction(0, 0, size(blocks), 0, f"nothing below {rules.minimum:,} tokens is cached")
    entries = [end for end in _marks(previous) if end <= same and size(blocks[:end]) >= rules.minimum]
    found = [end for end in entries if any(0 <= mark - end <= rules.lookback for mark in marks)]
    kept = max(found, default=0)
    read = size(blocks[:kept])
    write = size(blocks[: marks[-1]]) - read
    return Prediction(read, write, size(blocks) - read - write, kept, why)


def _marks(blocks: Sequence[Block]) -> list[int]:
    """How many blocks lie before each mark the app sets: after the tools, after the system text, where the request
    before ended, and at the end."""
    if not blocks:
        return []
    before_last = blocks[-1].message - 2
    ends = {len(blocks)}
    for n in range(1, len(blocks)):
        block, after = blocks[n - 1], blocks[n]
        ends_tools = block.kind == "tool" and after.kind != "tool"
        ends_message = block.message != after.message and block.message in (-1, before_last)
        if ends_tools or ends_message:
            ends.add(n)
    return sorted(ends)
