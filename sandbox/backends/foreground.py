"""One program on the caller's own terminal, as `sandbox exec` does: signals are passed on, the exit code comes back."""

from __future__ import annotations

import errno
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType

from sandbox.backends.attendance import Attendance
from sandbox.backends.guard import Protection, survey, sweep
from sandbox.backends.hardlinks import OldLinks
from sandbox.backends.local import Wrap
from sandbox.backends.running import Starter, let_go
from sandbox.backends.tree import Group
from sandbox.backends.way_out import Way
from sandbox.limits import hits

_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def run_foreground(wrap: Wrap, argv: Sequence[str], cwd: str, way: Way | None = None) -> int:
    """Run ``argv`` with inherited stdin, stdout and stderr. Must be called from the main thread.

    Returns its exit code, 128 + N when signal N ended it. Raises OSError or ValueError when it cannot be started.
    """
    policy = wrap.policy
    program = str(policy.workspace / cwd / argv[0]) if "/" in argv[0] else argv[0]
    if shutil.which(program, path=wrap.path) is None:
        raise FileNotFoundError(errno.ENOENT, "no such program", argv[0])
    protection = survey(policy.workspace, policy.protected) if policy.writable else Protection()
    old_links = OldLinks(policy.workspace).binds() if policy.writable else ()
    with Starter(wrap.launch(argv, cwd, {}, protection.binds + old_links, way), policy.limits) as starter:
        process = starter.start()
        group = starter.admit(process.pid)
    previous = {number: signal.signal(number, _forward(group)) for number in _FORWARDED}
    watch = Attendance(group, policy.limits, policy.workspace if policy.writable else None)
    try:
        code = watch.until_end(process)
    finally:
        group.kill()
        let_go(group)
        for number, handler in previous.items():
            signal.signal(number, handler)
    if watch.hit is not None:
        sys.stderr.write(f"limit: {hits.explain(watch.hit, policy.limits)[0]}\n")
    for violation in sweep(policy.workspace, protection.watched):
        sys.stderr.write(f"protected: {violation.path} was created; it is now {violation.moved_to}\n")
    return code if code >= 0 else 128 - code


def _forward(group: Group) -> Callable[[int, FrameType | None], None]:
    def pass_on(number: int, _frame: FrameType | None) -> None:
        group.signal(number)

    return pass_on
