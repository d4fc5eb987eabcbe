"""What a tool is: a name, a description written for a model, a pydantic input, and an async run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from engine.events import External, ToolSpec
from engine.tools.schema import schema_of
from sandbox.broker import Broker
from sandbox.operations import Caller


class ToolInput(BaseModel):
    """Base of tool inputs: unknown arguments are an error the model can read and mend."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Input = TypeVar("Input", bound=ToolInput)


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a run came to; becomes a ToolResult event. Fields as there. ``output`` is the whole text: the runner caps
    it at 2,000 lines / 50 KB and keeps the rest as an artifact."""

    status: Literal["ok", "error", "denied", "cancelled"]
    output: str
    summary: str = ""
    items: tuple[dict[str, Any], ...] = ()
    error: str = ""
    suggestion: str = ""
    retryable: bool = False
    diff: str = ""
    files_read: tuple[str, ...] = ()
    files_written: tuple[str, ...] = ()
    exit_code: int | None = None
    seconds: float = 0.0
    external: External | None = None


class MemoryUse(Protocol):
    """What is remembered, as tools use it."""

    async def save(self, scope: str, text: str, replaces: str = "") -> tuple[str, str] | None:
        """Remember: (why not, what to do instead), or None when it was saved."""

    async def search(self, query: str, limit: int) -> tuple[list[str], list[str]]:
        """Memories, and lines about earlier sessions, that hold every word."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a run may use. ``ask_user(question, options)`` waits for a person and raises TimeoutError without one.

    progress: called with pieces of text for the live tail. read_artifact: the whole stored output of an earlier
    call, or None. session_dir: the session's own folder (todo.md lives there). read_skill: a file of a skill by
    ``NAME/path``, or None.
    """

    broker: Broker
    caller: Caller
    session_dir: Path
    ask_user: Callable[[str, tuple[str, ...]], Awaitable[str]]
    read_artifact: Callable[[str], bytes | None]
    memory: MemoryUse
    progress: Callable[[str], None] = field(default=lambda _text: None)
    read_skill: Callable[[str], bytes | None] = field(default=lambda _path: None)


class Tool(ABC, Generic[Input]):
    """A tool. Subclasses set the class variables and write ``run``; they hold no state of their own.

    read_only: calls may run side by side and be repeated freely. keep: what is shown of an output over the cap: its
    head, or both ends with the middle left out.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    input: type[Input]
    read_only: ClassVar[bool] = False
    keep: ClassVar[Literal["head", "ends"]] = "head"

    @abstractmethod
    async def run(self, args: Input, ctx: ToolContext) -> ToolOutcome:
        """Do it. Expected failures are outcomes with a suggestion, never exceptions."""

    def only_reads(self, args: Input, broker: Broker) -> bool:
        """Whether this very call changes nothing, so that cutting it leaves nothing half done."""
        return self.read_only

    def title(self, args: Input) -> str:
        """One line for a person: the path, the command."""
        return ""

    def spec(self) -> ToolSpec:
        """The tool as the model sees it; byte-stable for one version of the app."""
        return ToolSpec(name=self.name, description=self.description, schema_=schema_of(self.input))
