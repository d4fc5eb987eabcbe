"""A broker over a real folder for the tools' tests: files by the sandbox's own helper, commands as the test says."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engine.events import ToolCall, ToolResult
from engine.tools.base import ToolContext
from engine.tools.runner import run_call
from sandbox.backends.base import OnOutput
from sandbox.broker import Broker
from sandbox.helper import files, search
from sandbox.helper.places import Refused, Space
from sandbox.operations import (
    Caller,
    Entry,
    ListFiles,
    Match,
    Operation,
    Outcome,
    PollBackground,
    ReadFile,
    RunCommand,
    SearchFiles,
    Status,
    WriteFile,
)

Commands = Callable[[RunCommand | PollBackground, OnOutput], Outcome]


class FolderBroker(Broker):
    """Runs file operations on ``root``. ``commands`` answers the others; ``deny`` names operation types refused."""

    def __init__(self, root: Path, commands: Commands | None = None) -> None:
        self.root = root
        self.space = Space(str(root.resolve()), (".git/hooks",), True)
        self.commands = commands
        self.deny: dict[type, Outcome] = {}
        self.ran: list[Operation] = []
        self.before_write: Callable[[], None] = lambda: None

    def only_reads(self, op: Operation) -> bool:
        return not isinstance(op, WriteFile | RunCommand)

    async def run(self, op: Operation, caller: Caller = Caller(), on_output: OnOutput | None = None) -> Outcome:
        self.ran.append(op)
        await asyncio.sleep(0)
        if type(op) in self.deny:
            return self.deny[type(op)]
        if isinstance(op, RunCommand | PollBackground):
            assert self.commands is not None
            return self.commands(op, on_output or (lambda _data: None))
        try:
            return self._file_operation(op)
        except Refused as refused:
            status = Status.DENIED if refused.status == "denied" else Status.ERROR
            return Outcome(status, error=str(refused), suggestion=refused.suggestion)

    def _file_operation(self, op: Operation) -> Outcome:
        if isinstance(op, ReadFile):
            header, data = files.read(self.space, asdict(op), b"")
            return Outcome(Status.OK, data=data, **header)
        if isinstance(op, WriteFile):
            self.before_write()
            header, _ = files.write(self.space, {"path": op.path, "expected": op.expected_sha256}, op.data)
            return Outcome(Status.OK, **header)
        if isinstance(op, ListFiles):
            header, _ = files.listing(self.space, asdict(op), b"")
            return Outcome(
                Status.OK, entries=tuple(Entry(*row) for row in header["entries"]), truncated=header["truncated"]
            )
        assert isinstance(op, SearchFiles)
        header, _ = search.search(self.space, asdict(op), b"")
        return Outcome(
            Status.OK, matches=tuple(Match(*row) for row in header["matches"]), truncated=header["truncated"]
        )


class NothingRemembered:
    """A memory that takes everything and holds nothing."""

    async def save(self, scope: str, text: str, replaces: str = "") -> tuple[str, str] | None:
        return None

    async def search(self, query: str, limit: int) -> tuple[list[str], list[str]]:
        return [], []


@dataclass
class Bench:
    """Calls tools in a folder and keeps what they store and say."""

    root: Path
    commands: Commands | None = None
    answers: list[str] = field(default_factory=list)
    skills: dict[str, bytes] = field(default_factory=dict)
    artifacts: dict[str, bytes] = field(default_factory=dict)
    progress: list[str] = field(default_factory=list)
    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.workspace = self.root / "ws"
        self.workspace.mkdir()
        self.session_dir = self.root / "session"
        self.broker = FolderBroker(self.workspace, self.commands)
        self.memory = NothingRemembered()

    def put(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        self.artifacts[digest] = data
        return digest

    def write(self, path: str, data: bytes | str) -> Path:
        target = self.workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data.encode() if isinstance(data, str) else data)
        return target

    @property
    def context(self) -> ToolContext:
        async def ask(question: str, options: tuple[str, ...]) -> str:
            self.asked.append((question, options))
            if not self.answers:
                raise TimeoutError
            return self.answers.pop(0)

        return ToolContext(
            broker=self.broker,
            caller=Caller("s", "t", "c"),
            session_dir=self.session_dir,
            ask_user=ask,
            read_artifact=self.artifacts.get,
            memory=self.memory,
            progress=self.progress.append,
            read_skill=self.skills.get,
        )

    async def call(self, name: str, bad_input: str = "", **input: Any) -> ToolResult:
        call = ToolCall(id="c1", name=name, input=input, bad_input=bad_input)
        return await run_call(call, 1, self.context, self.put)
