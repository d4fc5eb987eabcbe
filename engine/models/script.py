"""The scripted model: plays a file of turns. The offline default, the demo and the tests' model.

Everything above it is real: tools run, the gate asks, usage is counted and the cache behaves. What it says next is a
pure function of the script and the request (`engine.models.script_position`); only how often a turn has failed on
purpose is remembered, because a retry sends the very same request.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from engine.events import Block, TextBlock, ThinkingBlock, ToolCall, Usage
from engine.models import base
from engine.models.script_file import RETRYABLE, Failure, Script, ScriptedCall, Turn, load
from engine.models.script_position import ENDED, Position, call_id, choose, filled, locate, spoken
from engine.models.script_usage import PrefixCache, answer_tokens
from engine.prompt.markers import COMPACTION_MARKER
from engine.prompt.request import Message, ModelRequest

BUILT_IN = {
    "demo": Path(__file__).parents[1] / "demo" / "script.toml",
    "offline": Path(__file__).with_name("offline.toml"),
}


class ScriptModel:
    """A `Model` that plays ``script``.

    spec: as on the command line. context_window: tokens; None is the script's own. waiting: factor on every delay of
    the script, 0 for none at all.
    """

    def __init__(self, spec: str, script: Script, *, context_window: int | None = None, waiting: float = 1.0) -> None:
        self.spec = spec
        self.context_window = context_window or script.context_window
        self._script = script
        self._waiting = waiting
        self._cache = PrefixCache()
        self._failures: Counter[tuple[str, int]] = Counter()

    @classmethod
    def open(cls, name: str, *, context_window: int | None = None, waiting: float = 1.0) -> ScriptModel:
        """The built-in script ``name`` (demo, offline) or the file of that path. Raises ModelError."""
        path = BUILT_IN.get(name) or Path(name).expanduser()
        return cls(f"script/{name}", load(path), context_window=context_window, waiting=waiting)

    async def stream(self, request: ModelRequest) -> AsyncIterator[base.Part]:
        """Play the turn the request has come to. Raises ModelError where the script fails on purpose, and when the
        prompt is longer than the window."""
        turn, blocks = self._answer(request)
        failure = turn.error if turn.error and self._fails_now(request, turn.error) else None
        await self._pause(self._script.delay if turn.delay is None else turn.delay)
        if failure and not failure.after:
            raise _error(failure)
        usage = self._usage(request)
        yield base.Start(self.spec)
        yield base.UsageReport(usage)
        room = failure.after if failure else None
        async for part in self._streamed(turn, blocks, room):
            yield part
        if failure:
            raise _error(failure)
        yield _done(turn, blocks, usage)

    async def aclose(self) -> None:
        """Nothing is held open."""

    def _answer(self, request: ModelRequest) -> tuple[Turn, tuple[Block, ...]]:
        """The turn to play and what it says."""
        if asked := _without_instruction(request.messages):
            position = locate(self._script, asked)
            summary = self._script.summary or _summary_of(asked)
            return Turn(text=summary), (TextBlock(text=f"{summary}\n\n{position.line()}"),)
        position = locate(self._script, request.messages)
        number = choose(self._script, position)
        turn = self._script.turn[number] if number < self._script.end else Turn(text=ENDED)
        return turn, tuple(_blocks(turn, position, number))

    def _usage(self, request: ModelRequest) -> Usage:
        usage = self._cache.take(request)
        if usage.input > self.context_window:
            raise base.ModelError(
                "context_overflow",
                f"The prompt has about {usage.input:,} tokens; the window holds {self.context_window:,}.",
                suggestion="Compact the session, or give it a larger --context-window.",
            )
        return usage

    def _fails_now(self, request: ModelRequest, failure: Failure) -> bool:
        key = (request.session, locate(self._script, request.messages).step)
        self._failures[key] += 1
        return self._failures[key] <= failure.times

    async def _streamed(self, turn: Turn, blocks: tuple[Block, ...], room: int | None) -> AsyncIterator[base.Part]:
        """The blocks in pieces; with ``room`` only so many characters of them."""
        pace = self._script.pace if turn.pace is None else turn.pace
        for index, block in enumerate(blocks):
            yield _start(index, block)
            for piece in _pieces(_wire_text(block), self._script.chunk):
                if room is not None:
                    piece, room = piece[:room], room - len(piece)
                if piece:
                    yield base.BlockDelta(index, piece)
                if room is not None and room <= 0:
                    return
                await self._pause(pace)
            yield base.BlockEnd(index, block)

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds * self._waiting)


def _blocks(turn: Turn, position: Position, number: int) -> Iterator[Block]:
    inbox = position.inbox
    if turn.thinking:
        yield ThinkingBlock(text=filled(turn.thinking, inbox))
    if turn.text:
        yield TextBlock(text=filled(turn.text, inbox))
    for nth, call in enumerate(turn.call, start=1):
        yield _call(call, call_id(position.step + 1, number, nth), position)


def _call(call: ScriptedCall, identity: str, position: Position) -> ToolCall:
    given = {} if call.raw else _filled(call.input, position)
    return ToolCall(id=identity, name=call.tool, input=given, bad_input=call.raw)


def _filled(value: Any, position: Position) -> Any:
    """``value`` with the substitutions made in every string of it."""
    if isinstance(value, str):
        return filled(value, position.inbox)
    if isinstance(value, dict):
        return {key: _filled(item, position) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, position) for item in value]
    return value


def _start(index: int, block: Block) -> base.BlockStart:
    if isinstance(block, ToolCall):
        return base.BlockStart(index, "tool_call", block.name, block.id)
    return base.BlockStart(index, block.kind)


def _wire_text(block: Block) -> str:
    if isinstance(block, ToolCall):
        return block.bad_input or json.dumps(block.input, ensure_ascii=False)
    return block.text


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[i : i + size] for i in range(0, len(text), size))


def _done(turn: Turn, blocks: tuple[Block, ...], usage: Usage) -> base.Done:
    stop = turn.stop or ("tool_calls" if turn.call else "end")
    output, reasoning = answer_tokens(blocks)
    return base.Done(blocks, stop, stop, usage.model_copy(update={"output": output, "reasoning": reasoning}))


def _error(failure: Failure) -> base.ModelError:
    return base.ModelError(
        failure.kind, failure.message, retryable=failure.kind in RETRYABLE, retry_after=failure.retry_after
    )


def _without_instruction(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The history a summary is asked for, or nothing when the request is an ordinary one."""
    last = messages[-1] if messages else None
    if last is None or last.role != "user" or not last.parts:
        return ()
    final = last.parts[-1]
    if not isinstance(final, TextBlock) or not final.text.startswith(COMPACTION_MARKER):
        return ()
    return (*messages[:-1], Message("user", last.parts[:-1]))


def _summary_of(messages: tuple[Message, ...]) -> str:
    """A plain account of the conversation, for scripts that bring no summary of their own."""
    said = [text for m in messages if m.role == "user" for text in spoken(m.parts)]
    calls = [p for m in messages for p in m.parts if isinstance(p, ToolCall)]
    names = ", ".join(f"{name} ({count})" for name, count in sorted(Counter(c.name for c in calls).items()))
    return "\n".join((
        f"Goal: {said[0] if said else 'none was named'}",
        f"Done so far: {len(calls)} tool calls: {names or 'none'}.",
        "Next: go on with the task where it stands.",
    ))  # fmt: skip
