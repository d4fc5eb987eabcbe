"""Something to attack: secrets, files, sockets, memory and a process on the host, for as long as a proof takes."""

from __future__ import annotations

import ctypes
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
from typing import Any

PYTHON = os.path.realpath(sys.executable)
VARIABLE = "AGENT_TUI_PROOF_SECRET"

_IPC_CREAT_EXCL, _IPC_RMID = 0o3000, 0
# Keeps the secret in its memory, says where, and lets any process look: the kernel's own policy about who may trace
# whom must not stand in for ours. Only the last word tells it apart.
_VICTIM = """
import ctypes, sys
kept = ctypes.create_string_buffer(sys.stdin.readline().strip().encode())
ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)
print(ctypes.addressof(kept), flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True, slots=True)
class Stage:
    """``workspace``: where attacks run. ``facts``: what `escapes.py` is told. ``descriptor``: a folder of the host's,
    open and inheritable."""

    base: Path
    facts: dict[str, Any]
    descriptor: int

    @property
    def workspace(self) -> Path:
        return self.base / "workspace"


@contextmanager
def stage(forks: int = 256) -> Iterator[Stage]:
    """Set it up; all is gone afterwards. While it stands, HOME is the planted one and the environment holds a secret.

    forks: how many processes an attack must be able to have at once to count as without limit.
    """
    secret = secrets.token_hex(16)
    with ExitStack() as stack:
        base = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agent-tui-proof-"))).resolve()
        _plant_files(base, secret)
        for name, value in ((VARIABLE, secret), ("HOME", str(base / "home"))):
            stack.callback(_restore, name, os.environ.get(name))
            os.environ[name] = value
        descriptor = os.open(base / "outside", os.O_RDONLY | os.O_DIRECTORY)
        os.set_inheritable(descriptor, True)
        stack.callback(os.close, descriptor)
        facts = {
            "secret": secret,
            "home": str(base / "home"),
            "project": str(base / "project"),
            "outside": str(base / "outside" / "target"),
            "forks": forks,
            "bare": False,
            **_sockets(stack, base),
            **_memory(stack, secret),
            **_victim(stack, secret),
        }
        yield Stage(base, facts, descriptor)


def _plant_files(base: Path, secret: str) -> None:
    for name in (
        "home/.ssh/id_ed25519",
        "home/.aws/credentials",
        "home/.npmrc",
        "project/.env",
        "outside/secret",
        "outside/planted",
        "outside/target",
        "outside/linked",
    ):
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(secret)
    workspace = base / "workspace"
    for folder in ("mountpoint", ".git/hooks"):
        (workspace / folder).mkdir(parents=True)
    (workspace / "old-hardlink").hardlink_to(base / "outside" / "linked")
    (workspace / "old-symlink").symlink_to(base / "outside")


def _sockets(stack: ExitStack, base: Path) -> dict[str, Any]:
    """Listeners on the loopback, on an address of this machine (where it has one), and on two unix sockets."""
    loopback = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    abstract = f"agent-tui-proof-{secrets.token_hex(8)}"
    path = str(base / "outside" / "socket")
    for name in ("\0" + abstract, path):
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(name)
        listener.listen()
    address, far_port = own_address(), 0
    if address:
        far_port = stack.enter_context(socket.create_server((address, 0))).getsockname()[1]
    others = [name for _, name in socket.if_nameindex() if name != "lo"]
    return {
        "port": loopback.getsockname()[1],
        "abstract": abstract,
        "socket": path,
        "address": address,
        "far_port": far_port,
        "interface": others[0] if others else "",
    }


def own_address() -> str:
    """An address of this machine that is not its loopback; "" when it has none. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("203.0.113.1", 9))
            found = str(probe.getsockname()[0])
        except OSError:
            return ""
    return "" if found.startswith("127.") else found


def _memory(stack: ExitStack, secret: str) -> dict[str, Any]:
    """Shared memory of both kinds, readable for this user."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    key = secrets.randbelow(2**30) + 1
    segment = libc.shmget(key, 4096, _IPC_CREAT_EXCL | 0o600)
    if segment >= 0:
        stack.callback(libc.shmctl, segment, _IPC_RMID, None)
        at = ctypes.c_void_p(libc.shmat(segment, None, 0))
        ctypes.memmove(at, secret.encode(), len(secret))
        libc.shmdt(at)
    name = f"agent-tui-proof-{secrets.token_hex(8)}"
    shared = Path("/dev/shm") / name
    if shared.parent.is_dir():
        shared.write_text(secret)
        stack.callback(shared.unlink)
    return {"shm_key": key, "shm_name": name}


def _victim(stack: ExitStack, secret: str) -> dict[str, Any]:
    marker = f"agent-tui-proof-{secrets.token_hex(8)}"
    victim = subprocess.Popen(
        [PYTHON, "-I", "-S", "-c", _VICTIM, marker], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}
    )
    stack.enter_context(victim)
    stack.callback(victim.kill)
    assert victim.stdin is not None and victim.stdout is not None
    victim.stdin.write(secret.encode() + b"\n")
    victim.stdin.flush()
    return {"victim": victim.pid, "marker": marker, "victim_address": int(victim.stdout.readline())}


def _restore(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
