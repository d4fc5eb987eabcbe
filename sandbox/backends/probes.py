"""Live probes: each tries to break one line of defence, inside the sandbox and bare, and says what happened.

A line counts as enforced only when the attack failed inside *and* succeeded in the bare control run next to it.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sandbox.backends.base import Backend
from sandbox.policy import Policy

_SECONDS = 20
_OPEN, _BLOCKED = "open", "blocked"


@dataclass(frozen=True, slots=True)
class Probe:
    """``attack`` is Python code that raises when it is blocked; names in braces are filled in for the run.

    wanted: it is something the sandbox must allow, not an attack.
    """

    line: str
    what: str
    attack: str
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """inside, bare: "open" or "blocked", with the reason in ``detail``. ``enforced``: proved by both."""

    line: str
    what: str
    inside: str
    bare: str
    enforced: bool
    detail: str = ""


PROBES = (
    Probe("files", "the workspace can be written", "open('made-by-probe', 'w').write('x')", wanted=True),
    Probe("files", "secrets outside it cannot be read", "open({secret!r}).read()"),
    Probe("files", "nothing outside it can be written", "open({outside!r}, 'r+').write('x')"),
    Probe("files", "git hooks cannot be written", "open('.git/hooks/pre-commit', 'w').write('x')"),
    Probe("environment", "secrets of the host are not passed on", "import os; os.environ[{variable!r}]"),
    Probe(
        "privileges",
        "no capabilities, and none to be gained",
        "s = open('/proc/self/status').read(); assert 'NoNewPrivs:\\t0' in s or 'CapEff:\\t0000000000000000' not in s",
    ),
    Probe(
        "devices",
        "only the harmless devices are there",
        "import os, stat\n"
        "fine = {{'null', 'zero', 'full', 'random', 'urandom', 'tty', 'ptmx', 'console'}}\n"
        "kinds = {{n: os.lstat('/dev/' + n).st_mode for n in os.listdir('/dev')}}\n"
        "assert [n for n, m in kinds.items() if (stat.S_ISCHR(m) or stat.S_ISBLK(m)) and n not in fine]",
    ),
    Probe(
        "system calls",
        "the key ring of the kernel is out of reach",
        "import ctypes, platform\n"
        "number = {{'x86_64': 250, 'aarch64': 219}}[platform.machine()]\n"
        "assert ctypes.CDLL(None).syscall(number, 0, -3, 1, 0, 0) > 0",
    ),
    Probe(
        "system calls",
        "no new namespaces",
        "import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == 0",
    ),
    Probe("processes", "processes of the host cannot be signalled", "import os; os.kill({pid}, 0)"),
    Probe(
        "resources",
        "memory and file size are limited",
        "from resource import *; assert RLIM_INFINITY in (getrlimit(RLIMIT_DATA)[1], getrlimit(RLIMIT_FSIZE)[1])",
    ),
    Probe(
        "network",
        "no connection to this machine or any other",
        "import socket; socket.create_connection(('127.0.0.1', {port}), 2)",
    ),
    Probe(
        "ipc",
        "no abstract sockets of the host",
        "import socket; socket.socket(socket.AF_UNIX).connect('\\0' + {abstract!r})",
    ),
)


async def run_probes(backend: Backend) -> tuple[Finding, ...]:
    """Run every probe under ``backend`` and bare, in a workspace made for it and removed afterwards."""
    with _targets() as (workspace, names):
        sandbox = await backend.start(Policy("workspace", workspace))
        try:
            found = []
            for probe in PROBES:
                code = probe.attack.format(**names)
                # -S and -I: the probe runs what Python itself brings, whatever is installed.
                done = await sandbox.exec([os.path.realpath(sys.executable), "-I", "-S", "-c", code], timeout=_SECONDS)
                said = (done.data.decode(errors="replace") or done.error).strip().rpartition("\n")[2]
                found.append(_judge(probe, done.exit_code == 0, _bare(code, workspace), said))
            return tuple(found)
        finally:
            await sandbox.stop()


def _judge(probe: Probe, inside: bool, bare: bool, said: str) -> Finding:
    enforced = inside and bare if probe.wanted else bare and not inside
    detail = "" if inside else said
    if not bare and not probe.wanted:
        detail = "the bare control run was blocked as well, so nothing is proved here"
    states = {True: _OPEN, False: _BLOCKED}
    return Finding(probe.line, probe.what, states[inside], states[bare], enforced, detail)


def _bare(code: str, workspace: Path) -> bool:
    argv = [os.path.realpath(sys.executable), "-I", "-S", "-c", code]
    try:
        done = subprocess.run(argv, cwd=workspace, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


@contextmanager
def _targets() -> Iterator[tuple[Path, dict[str, object]]]:
    """Something to attack on the host: a secret, a folder, listeners, a variable. All gone afterwards."""
    with ExitStack() as stack:
        base = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agent-tui-probe-"))).resolve()
        workspace = base / "workspace"
        (workspace / ".git" / "hooks").mkdir(parents=True)
        for name in ("secret", "outside"):
            (base / name).write_text(name)
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        abstract = f"agent-tui-probe-{secrets.token_hex(8)}"
        unix = stack.enter_context(socket.socket(socket.AF_UNIX))
        unix.bind("\0" + abstract)
        unix.listen()
        variable = "AGENT_TUI_PROBE_SECRET"
        os.environ[variable] = "secret"
        stack.callback(os.environ.pop, variable, None)
        yield (
            workspace,
            {
                "secret": str(base / "secret"),
                "outside": str(base / "outside"),
                "variable": variable,
                "pid": os.getpid(),
                "port": tcp.getsockname()[1],
                "abstract": abstract,
            },
        )
