"""Builds an answer out of a wire's pieces: the one place where streamed dirt becomes clean blocks.

Blocks are numbered as they first show something, so nothing empty is ever announced and the numbers have no gaps.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from engine.events import Block, TextBlock, ThinkingBlock, ToolCall, Usage
from engine.models.base import BlockDelta, BlockEnd, BlockStart, Done, Part
from engine.models.sanitize import TurnIds, make_call, normal_stop, read_arguments, tidy_name
from engine.text import clean

Kind = Literal["text", "thinking", "tool_call"]


@dataclass(slots=True)
class _Open:
    """A block being written. ``index`` is None until it shows; ``held`` is text that cannot be shown yet."""

    kind: Kind
    index: int | None = None
    pieces: list[str] = field(default_factory=list)
    held: str = ""
    name: str = ""
    provider_id: str = ""
    call_id: str = ""

    @property
    def raw(self) -> str:
        return "".join(self.pieces)


class Assembly:
    """One answer in the making. ``key`` is the wire's own name for a block; every method yields parts to pass on."""

    def __init__(self, ids: TurnIds) -> None:
        self._ids = ids
        self._open: dict[Hashable, _Open] = {}
        self._doubtful: list[_Open] = []
        self._done: dict[int, Block] = {}
        self._shown = 0

    def knows(self, key: Hashable) -> bool:
        """Whether the block is open."""
        return key in self._open

    def raw(self, key: Hashable) -> str:
        """Exactly what arrived for an open block, uncleaned."""
        return self._open[key].raw if key in self._open else ""

    def write(self, key: Hashable, kind: Literal["text", "thinking"], piece: str) -> Iterator[Part]:
        """More text or thinking; opens the block if need be."""
        block = self._open.setdefault(key, _Open(kind))
        block.pieces.append(piece)
        block.held += piece
        if block.index is None and not block.held.strip():
            return
        yield from self._show(block)

    def call(self, key: Hashable, name: str = "", provider_id: str = "", arguments: str = "") -> Iterator[Part]:
        """Any of a call's parts; it shows once its name is known."""
        block = self._open.setdefault(key, _Open("tool_call"))
        block.provider_id = block.provider_id or provider_id
        if block.index is None:
            block.name += name
        block.pieces.append(arguments)
        block.held += arguments
        if block.name:
            yield from self._show(block)

    def close(self, key: Hashable, opaque: dict[str, Any] | None = None) -> Iterator[Part]:
        """The block is whole; ``opaque`` is what the provider wants back with thinking."""
        block = self._open.pop(key, None)
        if block is None:
            return
        if block.kind == "tool_call":
            yield from self._close_call(block)
        elif block.index is not None or opaque:
            yield from self._show(block, last=True)
            text = clean(block.raw)
            ended = ThinkingBlock(text=text, opaque=opaque or {}) if block.kind == "thinking" else TextBlock(text=text)
            yield self._end(block, ended)

    def close_all(self, *kinds: Kind) -> Iterator[Part]:
        """Close every open block of these kinds, of all kinds when none is named."""
        for key, block in list(self._open.items()):
            if not kinds or block.kind in kinds:
                yield from self.close(key)

    def opaque(self, key: Hashable, opaque: dict[str, Any]) -> Iterator[Part]:
        """A whole thinking block that has no text to show."""
        self._open.setdefault(key, _Open("thinking"))
        yield from self.close(key, opaque)

    def finish(self, provider_stop: str, usage: Usage) -> Iterator[Part]:
        """The end: closes what is open and yields `Done`."""
        yield from self.close_all()
        cut = normal_stop(provider_stop, has_calls=False) == "length"
        for block in self._doubtful:
            yield self._end(block, make_call(block.call_id, block.name, block.raw, cut=cut))
        blocks = tuple(self._done[index] for index in sorted(self._done))
        has_calls = any(isinstance(block, ToolCall) for block in blocks)
        yield Done(blocks, normal_stop(provider_stop, has_calls), clean(provider_stop), usage)

    def _close_call(self, block: _Open) -> Iterator[Part]:
        yield from self._show(block, last=True)
        if read_arguments(block.raw) is None:
            # Whether they may be repaired depends on the stop reason, which comes last.
            self._doubtful.append(block)
        else:
            yield self._end(block, make_call(block.call_id, block.name, block.raw, cut=False))

    def _show(self, block: _Open, *, last: bool = False) -> Iterator[Part]:
        """Announce the block if need be and pass on what it holds, save half a surrogate pair: the rest may follow."""
        if block.index is None:
            block.index, self._shown = self._shown, self._shown + 1
            if block.kind == "tool_call":
                block.name = tidy_name(block.name)
                block.call_id = self._ids.give(block.provider_id)
            yield BlockStart(block.index, block.kind, block.name, block.call_id)
        keep = not last and block.held[-1:] != "" and "\ud800" <= block.held[-1] <= "\udbff"
        ready, block.held = (block.held[:-1], block.held[-1]) if keep else (block.held, "")
        if ready:
            yield BlockDelta(block.index, clean(ready))

    def _end(self, block: _Open, ended: Block) -> BlockEnd:
        assert block.index is not None
        self._done[block.index] = ended
        return BlockEnd(block.index, ended)
