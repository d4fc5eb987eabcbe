"""Further attacks, each a few lines: what the 33 escapes leave out of the twelve lines."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass

from sandbox.backends.base import Sandbox
from sandbox.policy import Limits
from sandbox.proof.stage import PYTHON, Stage
from sandbox.proof.tries import Found, ProofError

# What the probes of resources run into; attacks ask for more than these and bare get it.
LIMITS = Limits(processes=128, memory_bytes=512 * 1024**2, file_bytes=1024**2, open_files=200)
_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Probe:
    """``attack`` is Python that raises when it is stopped.

    wanted: something a sandbox must allow, not an attack.
    """

    line: str
    what: str
    attack: str
    wanted: bool = False


PROBES = (
    Probe("files", "the workspace can be written", "open('written', 'w').write('x')", wanted=True),
    Probe("files", "write a git hook", "open('.git/hooks/pre-commit', 'w').write('x')"),
    Probe("files", "write into the system", "import os; assert os.access('/usr', os.W_OK)"),
    Probe(
        "privileges",
        "gain capabilities",
        "s = open('/proc/self/status').read()\nassert 'NoNewPrivs:\\t0' in s or 'CapEff:\\t' + '0' * 16 not in s",
    ),
    Probe(
        "privileges",
        "use a set-uid program",
        "assert 'NoNewPrivs:\\t0' in open('/proc/self/status').read()",
    ),
    Probe(
        "privileges", "dump core", "from resource import *; setrlimit(RLIMIT_CORE, (4096, getrlimit(RLIMIT_CORE)[1]))"
    ),
    Probe(
        "devices",
        "find a device that matters",
        "import os, stat\n"
        "fine = {'null', 'zero', 'full', 'random', 'urandom', 'tty', 'ptmx', 'console'}\n"
        "kinds = {n: os.lstat('/dev/' + n).st_mode for n in os.listdir('/dev')}\n"
        "assert [n for n, m in kinds.items() if (stat.S_ISCHR(m) or stat.S_ISBLK(m)) and n not in fine]",
    ),
    Probe(
        "devices",
        "make a device",
        "import os; os.mknod('device', 0o20600, os.makedev(1, 3)); os.unlink('device')",
    ),
    Probe("resources", "take a gigabyte of memory", "import mmap; mmap.mmap(-1, 2**30, mmap.MAP_PRIVATE)"),
    Probe("resources", "write a large file", "open('large', 'wb').write(bytes(2 * 1024**2))"),
    Probe("resources", "open many files", "kept = [open('/dev/null') for _ in range(300)]"),
)

_RUNNER = """
import json, os, sys
found = {}
for what, code in json.loads(sys.argv[1]).items():
    child = os.fork()
    if not child:
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 1), os.dup2(null, 2)
        try:
            exec(compile(code, what, "exec"), {})
        except BaseException:
            os._exit(1)
        os._exit(0)
    found[what] = "closed" if os.waitpid(child, 0)[1] else "open"
print(json.dumps(found))
"""


def _argv() -> list[str]:
    return [PYTHON, "-I", "-S", "-c", _RUNNER, json.dumps({probe.what: probe.attack for probe in PROBES})]


def bare(stage: Stage) -> Found:
    """The control. Raises ProofError."""
    done = subprocess.run(_argv(), cwd=stage.workspace, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS)
    return _parsed(done.stdout, done.stderr.decode(errors="replace"))


async def inside(sandbox: Sandbox) -> Found:
    """In a sandbox whose limits are `LIMITS`. Raises ProofError."""
    done = await sandbox.exec(_argv(), timeout=_SECONDS)
    return _parsed(done.data, done.error)


def _parsed(said: bytes, trouble: str) -> Found:
    try:
        found: Found = json.loads(said)
    except ValueError:
        raise ProofError(f"the probes could not be tried: {trouble.strip()[-500:]}") from None
    return found
