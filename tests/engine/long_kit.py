"""A model played in process that counts as a wire's server does, and commands with outputs like those of builds."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine import events as ev
from engine.models.base import BlockEnd, Done, ModelError, Part, Start
from engine.prompt.request import ModelRequest
from sandbox.operations import Caller, Operation, Outcome, Status
from tests.engine.kit import Kit, make_kit, shell, text
from tests.fakes.asking import params_for
from tests.fakes.prefix import Block, blocks
from tests.fakes.prefix import tokens as counted
from tests.fakes.seals import seal
from tests.fakes.turns import Format

NOTE = "## Goal\nMake it work.\n## Done\nSome steps.\n## Next\nThe next step."
WORDS = ["compile", "link", "test", "warning", "error", "note", "file", "line", "column", "module", "unused", "value"]


def asks_for_summary(request: ModelRequest) -> bool:
    last = request.messages[-1].parts[-1]
    return isinstance(last, ev.TextBlock) and last.text.startswith("[compaction]")


@dataclass
class Sent:
    """One request: its sizes as the server counted them, and how much of it began as the one before did."""

    request: ModelRequest
    total: int
    shared: int
    summary: bool
    compactions: int


@dataclass
class StrictModel:
    """Works through ``steps`` calls, one a turn, then ends. Reports what the wire's server counts."""

    format: Format
    context_window: int
    steps: int
    compactions: Callable[[], int]
    spec: str = "script/played"
    sent: list[Sent] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    _before: ModelRequest | None = None
    _layers: object = None
    _fixed: list[Block] = field(default_factory=list)
    _counts: list[list[Block]] = field(default_factory=list)
    done: int = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        total, shared = self._count(request)
        self.sent.append(Sent(request, total, shared, asks_for_summary(request), self.compactions()))
        if total + request.max_output > self.context_window:
            raise ModelError("context_overflow", f"prompt is too long: {total} tokens > {self.context_window} maximum")
        yield Start(self.spec)
        made = self._answer(request)
        for index, block in enumerate(made):
            yield BlockEnd(index, block)
        stop = "tool_calls" if any(b.kind == "tool_call" for b in made) else "end"
        output = sum(counted(json.dumps(b.input) if b.kind == "tool_call" else b.text) for b in made)
        usage = ev.Usage(input_uncached=total - shared, cache_read=shared, output=output)
        yield Done(made, stop, "x", usage)  # type: ignore[arg-type]

    def _count(self, request: ModelRequest) -> tuple[int, int]:
        """All tokens as the wire's server counts them, and those with which the request before began too. Messages
        that are the same as before are not counted anew; all but the last are sent exactly so again."""
        before = self._before.messages[:-1] if self._before else ()
        same = next((i for i, (a, b) in enumerate(zip(request.messages, before, strict=False)) if a != b), len(before))
        self._counts = self._counts[:same]
        for message in request.messages[same:]:
            body = params_for(self.format, replace(request, messages=(message,)))
            self._counts.append([b for b in blocks(body) if b.section == "messages"])
        layers = (request.identity, request.catalogue, request.tools)
        if layers != self._layers:
            body = params_for(self.format, replace(request, messages=request.messages[:1]))
            self._layers, self._fixed = layers, [b for b in blocks(body) if b.section != "messages"]
        found = [*self._fixed, *(block for message in self._counts for block in message)]
        keys = [block.content for block in found]
        shared = next((i for i, (a, b) in enumerate(zip(keys, self.keys, strict=False)) if a != b), None)
        shared = min(len(keys), len(self.keys)) if shared is None else shared
        self.keys, self._before = keys, request
        return sum(b.tokens for b in found), sum(b.tokens for b in found[:shared])

    def _answer(self, request: ModelRequest) -> tuple[ev.Block, ...]:
        if asks_for_summary(request):
            return (text(NOTE),)
        if self.done >= self.steps:
            return (text("All of it is done."),)
        n, self.done = self.done, self.done + 1
        thought = f"thinking about step {n}"
        opaque = {"wire": "anthropic", "block": {"type": "thinking", "thinking": thought, "signature": seal(thought)}}
        thinking = (ev.ThinkingBlock(text=thought, opaque=opaque),) if self.format == "anthropic" else ()
        return (*thinking, text(f"Step {n}: look further."), shell(f"toolu_{n:08d}", f"make step{n}"))

    async def aclose(self) -> None:
        return None


class Outputs:
    """Runs commands whose outputs are short or long; the same for the same seed. most: characters of the longest."""

    def __init__(self, seed: int, most: int) -> None:
        self._random = random.Random(seed)
        self._most = most

    async def run(self, op: Operation, caller: Caller = Caller(), on_output: object = None) -> Outcome:
        size = self._random.choice((40, 400, self._most // 2, self._most))
        made = " ".join(self._random.choices(WORDS, k=size // 6))
        data = "\n".join(made[at : at + 90] for at in range(0, len(made), 90)).encode() + b"\n"
        return Outcome(Status.OK, data=data, exit_code=0, total=len(data))


@dataclass(frozen=True)
class Repeated:
    """Every command has the same output."""

    data: bytes

    async def run(self, op: Operation, caller: Caller = Caller(), on_output: object = None) -> Outcome:
        return Outcome(Status.OK, data=self.data, exit_code=0, total=len(self.data))


def long_kit(tmp_path: Path, format: Format, window: int, steps: int, resume: str = "") -> tuple[Kit, StrictModel]:
    """A session in ``tmp_path`` whose model makes calls up to step ``steps``, from the first or from where it was."""
    kit = make_kit(tmp_path, [], resume=resume)
    session = kit.runner.session
    model = StrictModel(format, window, steps, lambda: session.state.compactions, done=session.state.calls)
    kit.runner._replace_model(model)
    kit.broker.run = Outputs(window + session.state.calls, window // 5).run  # type: ignore[method-assign]
    if not resume:
        session.append(ev.SettingChanged(name="context_window", value=window))
    return kit, model
