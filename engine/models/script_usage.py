"""Usage a scripted model reports: tokens by length, and a prefix cache that behaves like a provider's.

What the last request of the session began with is read from the cache, what follows is written to it, and the newest
part is sent uncached, as with a breakpoint before it. So the cache pane shows how the prompt really behaves.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from engine.events import Block, TextBlock, ThinkingBlock, Usage
from engine.prompt.request import ModelRequest, Part, ResultPart
from engine.prompt.tokens import CHARS_PER_TOKEN


class PrefixCache:
    """Remembers, for each session, what its last request began with."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, ...]] = {}

    def take(self, request: ModelRequest) -> Usage:
        """Usage of sending ``request``, output left at 0; the request becomes what the next one is compared with."""
        blocks = _blocks(request)
        keys = _chain(blocks)
        before = self._seen.get(request.session, ())
        shared = next((i for i, (a, b) in enumerate(zip(keys, before, strict=False)) if a != b), None)
        known = min(len(keys), len(before)) if shared is None else shared
        sizes = [tokens(block) for block in blocks]
        newest = max(known, len(blocks) - 1)
        self._seen[request.session] = keys[:newest]
        return Usage(
            cache_read=sum(sizes[:known]), cache_write=sum(sizes[known:newest]), input_uncached=sum(sizes[newest:])
        )


def tokens(text: str) -> int:
    """A plausible count, cheap enough for every turn."""
    return int(len(text) / CHARS_PER_TOKEN) + 1 if text else 0


def answer_tokens(blocks: Sequence[Block]) -> tuple[int, int]:
    """(all output, thinking alone) of an answer."""
    thinking = sum(tokens(b.text) for b in blocks if isinstance(b, ThinkingBlock))
    return sum(tokens(_text(b)) for b in blocks), thinking


def _blocks(request: ModelRequest) -> list[str]:
    tools = json.dumps([tool.model_dump() for tool in request.tools], sort_keys=True)
    parts = [f"{m.role}\0{_text(p)}" for m in request.messages for p in m.parts]
    return [request.identity, tools, request.catalogue, *parts]


def _chain(blocks: Sequence[str]) -> tuple[str, ...]:
    """One key a block, each of which stands for all blocks up to it."""
    keys: list[str] = []
    for block in blocks:
        above = keys[-1] if keys else ""
        keys.append(hashlib.sha256(f"{above}\0{block}".encode("utf-8", "replace")).hexdigest())
    return tuple(keys)


def _text(part: Part) -> str:
    if isinstance(part, TextBlock | ThinkingBlock):
        return part.text
    if isinstance(part, ResultPart):
        return part.text
    return f"{part.name} {part.bad_input or json.dumps(part.input, sort_keys=True)}"
