"""No containment at all: for platforms without a sandbox. It says so; the gate asks before every command.

The environment is still scrubbed and file operations still refuse what lies outside the workspace, but that is our
own code being careful, not a wall. A process that leaves its session outlives its call.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from sandbox.backends import environment, mounts
from sandbox.backends.base import Capabilities
from sandbox.backends.foreground import run_foreground
from sandbox.backends.local import LocalSandbox
from sandbox.backends.mounts import Bind
from sandbox.backends.running import Launch, argv_bytes
from sandbox.backends.way_out import Way, unheard
from sandbox.network.events import OnEvent
from sandbox.policy import Policy


class Wrap:
    """Starts a program as it is."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.path = os.environ.get("PATH", os.defpath)
        self.python = sys.executable, str(Path(__file__).parent.parent.parent)

    def launch(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        binds: tuple[Bind, ...],
        way: Way | None = None,
    ) -> Launch:
        """``binds`` and ``way`` are for backends that have walls. Raises ValueError when a word holds a NUL."""
        argv_bytes(argv)
        scrubbed = environment.build(self.policy, str(Path.home()), self.path, env)
        return Launch(tuple(argv), cwd=str(self.policy.workspace / cwd), env=scrubbed)


class BareBackend:
    """See the module."""

    name = "bare"

    def __init__(self, why: str = "", hint: str = "") -> None:
        self._why = why or "chosen by name: nothing contains what runs"
        self._hint = hint or "leave out `--sandbox bare` to use a sandbox"

    def capabilities(self) -> Capabilities:
        """It runs programs, but nothing of what a sandbox is for works: it never counts as one."""
        return Capabilities(self.name, works=False, contained=False, why=self._why, hint=self._hint)

    async def start(self, policy: Policy, on_connection: OnEvent = unheard) -> LocalSandbox:
        """Nothing is started yet; connections go by unseen. Raises WorkspaceError for an unusable workspace."""
        return LocalSandbox(_wrap(policy), None, guarded=False)

    def foreground(self, policy: Policy, argv: Sequence[str], cwd: str = ".", on_connection: OnEvent = unheard) -> int:
        """Run one program on the caller's own stdin, stdout and stderr. Returns its exit code."""
        return run_foreground(_wrap(policy), argv, cwd)


def _wrap(policy: Policy) -> Wrap:
    return Wrap(mounts.at(policy, mounts.check_workspace(policy.workspace)))
