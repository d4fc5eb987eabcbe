"""Waiting for a command on the caller's own thread, with the meter in hand: what `Running` does on a loop."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

from sandbox.backends.tree import Group
from sandbox.limits.hits import Hit, of_exit
from sandbox.limits.meter import FIRST_LOOK, LONGEST_PAUSE, Meter
from sandbox.policy import Limits


class Attendance:
    """Of one command. ``hit``: the limit it reached, if any. ``writes``: the folder on disk it may fill."""

    def __init__(self, group: Group, limits: Limits, writes: Path | None) -> None:
        self.hit: Hit | None = None
        self._group, self._limits = group, limits
        first = group.first if group.info is not None else lambda: group.leader
        self._meter = Meter(limits, first, group.allotment, writes)

    def until_end(self, process: subprocess.Popen[bytes]) -> int:
        """Wait for the end, killing the command when it is over a limit. Returns its exit code, -N for signal N."""
        if sys.platform != "linux":
            return process.wait()
        if self._group.waits and self._group.info is not None:
            select.select([self._group.info], [], [])
            self._group.open_gate(self._limits)
        ended, pause = os.pidfd_open(process.pid), FIRST_LOOK
        try:
            while not select.select([ended], [], [], pause)[0]:
                self.hit = self.hit or self._meter.look()
                if self.hit is not None:
                    self._group.kill()
                pause = min(pause * 1.5, LONGEST_PAUSE)
        finally:
            os.close(ended)
        code = process.wait()
        self.hit = self.hit or self._meter.end() or of_exit(code, b"")
        return code
