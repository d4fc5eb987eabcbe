"""An attack: a script, and how to tell on the host that it worked. Run in the sandbox and bare, on hosts alike."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

SECRET = "the-secret-of-the-host"
WON = b"ATTACK-WORKED"


@dataclass
class Host:
    """What there is to attack: a secret, a folder outside the workspace, listeners, a process, a descriptor."""

    base: Path
    port: int
    abstract: str
    victim: subprocess.Popen[bytes]
    descriptor: int

    @property
    def workspace(self) -> Path:
        return self.base / "workspace"

    @property
    def outside(self) -> Path:
        return self.base / "outside"

    def names(self) -> dict[str, str]:
        """Variables of the scripts."""
        return {
            "SECRET_FILE": str(self.base / "outside" / "secret"),
            "OUTSIDE": str(self.outside),
            "SOCKET": str(self.outside / "socket"),
            "RULES": str(self.base / "config" / "rules.toml"),
            "AUDIT": str(self.base / "audit" / "audit.jsonl"),
            "PORT": str(self.port),
            "ABSTRACT": self.abstract,
            "VICTIM": str(self.victim.pid),
            "FD": str(self.descriptor),
            "PY": os.path.realpath(sys.executable) + " -I -S",
        }

    def victim_lives(self) -> bool:
        return self.victim.poll() is None


Told = Callable[[Host, bytes], bool]


def says_so(_host: Host, output: bytes) -> bool:
    """The script itself prints that it worked."""
    return WON in output


def leaks(_host: Host, output: bytes) -> bool:
    """The secret is in the output."""
    return SECRET.encode() in output


def leaves(path: str, line: str = "evil") -> Told:
    """A file below the host's base folder has the line the script wrote."""

    def told(host: Host, _output: bytes) -> bool:
        target = host.base / path
        return target.is_file() and line in map(str.strip, target.read_text().splitlines())

    return told


@dataclass(frozen=True)
class Attack:
    """``script`` is bash; ``setup`` runs on the host before; ``needs`` names a program it cannot do without."""

    name: str
    script: str
    told: Told = says_so
    setup: str = ""
    needs: str = ""
    root: bool = False

    def __str__(self) -> str:
        return self.name


def script_of(attack: Attack, host: Host) -> str:
    """The script with the host's facts in front."""
    return "".join(f"{name}={value!r}\n" for name, value in host.names().items()) + attack.script


def bare(attack: Attack, host: Host) -> bytes:
    """The control: the same script with nothing around it."""
    environment = os.environ | {"HOST_SECRET": SECRET, "HOME": str(host.base / "home")}
    done = subprocess.run(
        ["bash", "--norc", "-c", script_of(attack, host)],
        cwd=host.workspace,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        close_fds=False,
        timeout=20,
    )
    return done.stdout


@contextmanager
def host(base: Path, attack: Attack) -> Iterator[Host]:
    """A host to attack, made anew, with everything it started ended afterwards."""
    with ExitStack() as stack:
        workspace, outside = base / "workspace", base / "outside"
        for folder in (workspace, outside, base / "home" / ".ssh", base / "config", base / "audit"):
            folder.mkdir(parents=True)
        (outside / "secret").write_text(SECRET)
        (base / "home" / ".ssh" / "id_ed25519").write_text(SECRET)
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        abstract = f"attack-{os.getpid()}-{base.name}"
        for address in ("\0" + abstract, str(outside / "socket")):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            _bind(listener, address)
        victim = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        descriptor = os.open(outside, os.O_RDONLY | os.O_DIRECTORY)
        os.set_inheritable(descriptor, True)
        stack.callback(os.close, descriptor)
        if attack.setup:
            subprocess.run(["bash", "-c", attack.setup], cwd=workspace, check=True, capture_output=True, timeout=20)
        yield Host(base, tcp.getsockname()[1], abstract, victim, descriptor)


def _bind(listener: socket.socket, address: str) -> None:
    """Bind a unix socket; a path too long for one is bound from its folder."""
    if address.startswith("\0") or len(address) < 100:
        listener.bind(address)
    else:
        link = Path(f"/tmp/attack-{os.getpid()}")
        link.symlink_to(Path(address).parent)
        try:
            listener.bind(str(link / Path(address).name))
        finally:
            link.unlink()
    listener.listen()


def missing(attack: Attack) -> str:
    """Why the attack cannot be tried on this machine at all; empty when it can."""
    if attack.root and os.geteuid() != 0:
        return f"{attack.name}: bare it needs root"
    if attack.needs and shutil.which(attack.needs) is None:
        return f"{attack.name}: needs {attack.needs}"
    return ""
