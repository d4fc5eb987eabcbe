"""A runner over the real log, with a model that plays given turns and a broker whose commands the test holds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine import events as ev
from engine.asking import People
from engine.log import Artifacts, LogStore
from engine.memory import Memory
from engine.models.base import BlockDelta, BlockEnd, BlockStart, Done, Model, ModelError, Part, Start
from engine.paths import Home
from engine.prompt.layers import render
from engine.prompt.request import ModelRequest
from engine.remembering import Remembered
from engine.resuming import Past
from engine.runner import Parts, Runner
from engine.session import Session
from engine.state import TaskState, fold
from engine.tools.registry import specs
from sandbox.approval import ApprovalRequest, Choice
from sandbox.backends.base import OnOutput
from sandbox.operations import Caller, Operation, Outcome, RunCommand, Status
from sandbox.risk import Assessment, Risk
from sandbox.shadow import Shadow
from skills import Catalogue


def text(words: str) -> ev.TextBlock:
    return ev.TextBlock(text=words)


def shell(id: str, command: str) -> ev.ToolCall:
    return ev.ToolCall(id=id, name="shell_run", input={"command": command})


async def no_successor(_runner: Runner, _reason: str) -> str:
    """There is no engine here that could open a fresh session."""
    return "there is no engine"


@dataclass
class Gate:
    """A point the engine reaches and waits at until the test lets it pass."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    passed: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self) -> None:
        self.reached.set()
        await self.passed.wait()


Turn = Sequence[ev.Block] | ModelError | Gate | Callable[[ModelRequest], Sequence[ev.Block]]


class PlayedModel:
    """Plays ``turns`` in order, one a request; a Gate in the list makes the next request wait mid-stream."""

    spec = "script/played"
    context_window = 200_000

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = list(turns)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        self.requests.append(request)
        yield Start(self.spec)
        turn = self._turns.pop(0) if self._turns else [text("done")]
        if isinstance(turn, Gate):
            yield BlockStart(0, "text")
            yield BlockDelta(0, "half a ")
            await turn.wait()
            turn = self._turns.pop(0)
        if isinstance(turn, ModelError):
            raise turn
        assert not isinstance(turn, Gate)
        blocks = tuple(turn(request) if callable(turn) else turn)
        for index, block in enumerate(blocks):
            if block.kind == "text":
                yield BlockStart(index, "text")
                yield BlockDelta(index, block.text)
            yield BlockEnd(index, block)
        called = any(b.kind == "tool_call" for b in blocks)
        usage = ev.Usage(input_uncached=100, output=10)
        yield Done(blocks, "tool_calls" if called else "end", "x", usage)

    async def aclose(self) -> None:
        return None


class HeldBroker:
    """Commands do what their name says: ``hold`` waits at a gate, ``ask`` asks the person, ``fail`` fails."""

    def __init__(self) -> None:
        self.gates: dict[str, Gate] = {}
        self.ran: list[str] = []
        self.people: People | None = None
        self.doing: Callable[[], object] = lambda: None

    def gate(self, command: str) -> Gate:
        return self.gates.setdefault(command, Gate())

    def only_reads(self, op: Operation) -> bool:
        return isinstance(op, RunCommand) and op.command.startswith("hold and read")

    async def run(self, op: Operation, caller: Caller = Caller(), on_output: OnOutput | None = None) -> Outcome:
        assert isinstance(op, RunCommand)
        self.ran.append(op.command)
        self.doing()
        if op.command.startswith("hold"):
            if on_output is not None:
                on_output(b"so far\n")
            await self.gate(op.command).wait()
        if op.command.startswith("ask") and not await self._allowed(op, caller):
            return Outcome(Status.DENIED, error="denied", feedback="not now")
        if op.command.startswith("fail"):
            return Outcome(Status.FAILED, data=b"1 failed\n", exit_code=1, total=9)
        return Outcome(Status.OK, data=b"fine\n", exit_code=0, total=5)

    async def _allowed(self, op: RunCommand, caller: Caller) -> bool:
        assert self.people is not None
        risk = Assessment(Risk.HIGH, ("because",), ("effect",))
        id = f"a-{caller.call_id}"
        request = ApprovalRequest(
            id, "digest", "command", op.command, ".", "workspace", risk, caller.tool, caller.call_id
        )
        answer = await self.people.ask(request)
        return answer.choice is not Choice.DENY

    def set_mode(self, mode: str) -> None:
        if mode not in ("ask", "deny", "rules", "sandboxed"):
            raise ValueError(f"no such mode: {mode}")

    async def close(self) -> None:
        return None


@dataclass
class Kit:
    """A runner with everything around it that a test wants to see."""

    store: LogStore
    runner: Runner
    model: PlayedModel
    broker: HeldBroker
    shown: list[ev.AnyEvent]
    people: People

    @property
    def events(self) -> Sequence[ev.Event]:
        """All that is stored: the session itself holds only what it still needs."""
        return self.store.load(self.runner.session.id).events

    def of(self, kind: type[ev.Stored]) -> list[ev.Event]:
        return [e for e in self.events if isinstance(e, kind)]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait on a condition over what the engine has done so far."""
        async with asyncio.timeout(20):
            while not condition():
                await asyncio.sleep(0)


def make_kit(tmp_path: Path, turns: Sequence[Turn], limits: ev.Limits | None = None, resume: str = "") -> Kit:
    """A new session in ``tmp_path``, or the one called ``resume`` opened again."""
    home = Home(tmp_path / "data", tmp_path / "config", tmp_path / "cache")
    workspace = tmp_path / "work"
    workspace.mkdir(parents=True, exist_ok=True)
    store = LogStore(home)
    shown: list[ev.AnyEvent] = []
    loaded = list(store.load(resume).events) if resume else []
    past = Past(Remembered(loaded), fold(loaded, TaskState(session=resume))) if resume else None
    session = Session(store.open(resume) if resume else store.create(), shown.append, past)
    if not resume:
        session.append(ev.SessionStarted(cwd=str(tmp_path), model="script/played", app_version="test"))
        session.append(render(specs(), ""))
    session.mend()
    model, broker = PlayedModel(turns), HeldBroker()
    people = People(session)
    broker.people = people
    made: Model = model
    parts = Parts(
        broker=broker,  # type: ignore[arg-type]
        artifacts=Artifacts(home.artifacts),
        make_model=lambda _spec: made,
        read_skill=lambda _name: None,
        session_dir=home.session_dir(session.id),
        limits=limits or ev.Limits(),
        sandbox_words="held by the test",
        shadow=Shadow(workspace, home.data / "kept"),
        hand_over=no_successor,
        render=lambda: render(specs(), ""),
        skills=Catalogue((), ()),
        memory=Memory(home.data, workspace),
        find_sessions=store.list,
    )
    return Kit(store, Runner(session, people, parts), model, broker, shown, people)
