"""Finding and ending the processes of one call.

Every call runs in a session and process group of its own; bwrap and its first process inside never leave that group,
so killing the group kills that first process, and with it the kernel ends everything in its PID namespace.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from contextlib import suppress
from pathlib import Path

from sandbox.limits import processes
from sandbox.limits.allotment import Allotment
from sandbox.limits.rlimits import limit_processes
from sandbox.policy import Limits


class Group:
    """The processes of one call. ``leader``: its process group. ``info``: descriptor on which bwrap says which process
    is the first inside; None without bwrap. ``gate``: descriptor the first process waits on before it starts the
    program, if it does. ``allotment``: the cgroups they are in, if any."""

    def __init__(
        self,
        leader: int,
        info: int | None = None,
        gate: int | None = None,
        allotment: Allotment | None = None,
    ) -> None:
        self.leader = leader
        self.allotment = allotment
        self.info = info
        self._gate = gate
        self._first: int | None = None

    @property
    def waits(self) -> bool:
        """Whether the program waits for `open_gate`."""
        return self._gate is not None

    def open_gate(self, limits: Limits) -> None:
        """Once bwrap has said (or never will) which process is the first: limit how many there may be, and let it
        start the program. A first process that cannot be limited is not let go on."""
        first = self.first()
        if first is not None:
            limit_processes(first, limits)
            if self._gate is not None:
                with suppress(BrokenPipeError):
                    os.write(self._gate, b"1")
        self._close_gate()

    def kill(self) -> None:
        """SIGKILL to all; quietly when they are gone."""
        _killpg(self.leader, signal.SIGKILL)

    def signal(self, number: int) -> None:
        """Send a signal to the programs of the call, not to the processes that hold the sandbox up."""
        first = self.first()
        if first is None:
            _killpg(self.leader, number)
            return
        for pid in processes.tree(first)[1:]:
            try:
                os.kill(pid, number)
            except (ProcessLookupError, PermissionError):
                continue

    async def gone(self, timeout: float) -> bool:
        """Wait until none of them is left, at most ``timeout`` seconds."""
        end = time.monotonic() + timeout
        pause = 0.0002
        while self._alive():
            if time.monotonic() > end:
                return False
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.02)
        return True

    def close(self) -> None:
        """Forget about them."""
        self._close_gate()
        if self.info is not None:
            os.close(self.info)
            self.info = None

    def _close_gate(self) -> None:
        if self._gate is not None:
            os.close(self._gate)
            self._gate = None

    def first(self) -> int | None:
        """The first process inside (as the host numbers it), once bwrap has made it."""
        if self._first is None and self.info is not None:
            try:
                said = os.read(self.info, 4096)
            except BlockingIOError:
                return None
            found = re.search(rb'"child-pid": (\d+)', said)
            self._first = int(found[1]) if found else None
        return self._first

    def _alive(self) -> bool:
        """The first process of a PID namespace ends last, so it stands for all; a zombie has ended."""
        first = self.first()
        if first is None:
            return self.info is None and _killpg(self.leader, 0)
        try:
            status = Path(f"/proc/{first}/stat").read_text()
        except OSError:
            return False
        return status.rpartition(") ")[2][:1] not in "ZX"


def _killpg(group: int, number: int) -> bool:
    """Whether there was such a group to signal."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
