"""The seam every way of containing a process must fit: Backend starts a Sandbox, a Sandbox runs and reads and writes.

Linux bubblewrap is the first; Seatbelt, AppContainer, wasm, containers and VMs fit behind the same verbs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sandbox.network.events import OnEvent
from sandbox.operations import DecodePicture, ListFiles, Outcome, ReadFile, SearchFiles, WriteFile
from sandbox.policy import Policy

OnOutput = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a backend enforces here. ``works`` False: there are no walls; ``why`` and ``hint`` say what is missing and
    what to do.

    filtered: whether a system call filter is on as well. landlock: version of the kernel's second wall, 0 for none;
    policies that forbid execution stand behind it. gaps: what this kernel lacks, each with what to do.
    """

    name: str
    works: bool
    contained: bool
    why: str = ""
    hint: str = ""
    filtered: bool = False
    landlock: int = 0
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path leads, as the sandbox sees it: before anybody is asked about it.

    real: absolute path with every link followed. inside: it lies in the workspace. protected: the protected path it
    is or lies in, else "". kind: file, dir, missing or other. sha256: of a file's bytes, "" when missing or too large.
    """

    real: str
    inside: bool
    protected: str
    kind: str
    sha256: str = ""
    error: str = ""


class Process(Protocol):
    """A command that runs on while others run. Times in seconds, output in bytes from its beginning."""

    @property
    def output(self) -> bytearray: ...
    @property
    def total(self) -> int: ...
    @property
    def exit_code(self) -> int | None: ...
    async def wait(self, timeout: float | None) -> bool: ...
    async def stop(self, grace: float = ...) -> None: ...
    def outcome(self) -> Outcome: ...


class Sandbox(Protocol):
    """A started sandbox for one policy. Every method is safe to cancel: the process tree is gone when it returns.

    call: name of the tool call, for the record of the connections it makes.
    """

    async def exec(
        self,
        argv: Sequence[str],
        *,
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        on_output: OnOutput | None = None,
        call: str = "",
    ) -> Outcome: ...

    async def spawn(
        self, argv: Sequence[str], *, cwd: str = ".", env: Mapping[str, str] | None = None, call: str = ""
    ) -> Process | Outcome: ...

    @property
    def path(self) -> str: ...
    async def look(self, path: str) -> Place: ...
    async def read(self, op: ReadFile) -> Outcome: ...
    async def list(self, op: ListFiles) -> Outcome: ...
    async def search(self, op: SearchFiles) -> Outcome: ...
    async def write(self, op: WriteFile) -> Outcome: ...
    async def picture(self, op: DecodePicture) -> Outcome: ...
    async def stop(self) -> None: ...


class Backend(Protocol):
    """A way of containing processes. on_connection: told every decision about the network; it may raise, which
    refuses."""

    name: str

    def capabilities(self) -> Capabilities: ...
    async def start(self, policy: Policy, on_connection: OnEvent = ...) -> Sandbox: ...
    def foreground(self, policy: Policy, argv: Sequence[str], cwd: str = ..., on_connection: OnEvent = ...) -> int: ...
