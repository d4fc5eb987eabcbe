"""The seam every way of containing a process must fit: Backend starts a Sandbox, a Sandbox runs and reads and writes.

Linux bubblewrap is the first; Seatbelt, AppContainer, wasm, containers and VMs fit behind the same four verbs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sandbox.operations import ListFiles, Outcome, ReadFile, SearchFiles, WriteFile
from sandbox.policy import Policy

OnOutput = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a backend enforces here. ``works`` False: ``why`` and ``hint`` say what is missing and what to do."""

    name: str
    works: bool
    contained: bool
    why: str = ""
    hint: str = ""


class Sandbox(Protocol):
    """A started sandbox for one policy. Every method is safe to cancel: the process tree is gone when it returns."""

    async def exec(
        self,
        argv: Sequence[str],
        *,
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        on_output: OnOutput | None = None,
    ) -> Outcome: ...

    async def read(self, op: ReadFile) -> Outcome: ...
    async def list(self, op: ListFiles) -> Outcome: ...
    async def search(self, op: SearchFiles) -> Outcome: ...
    async def write(self, op: WriteFile) -> Outcome: ...
    async def stop(self) -> None: ...


class Backend(Protocol):
    """A way of containing processes."""

    name: str

    def capabilities(self) -> Capabilities: ...
    async def start(self, policy: Policy) -> Sandbox: ...
