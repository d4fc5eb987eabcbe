"""The twelve lines of defence, and how each stands here under each backend: said only by what was just tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from sandbox.backends import NAMES
from sandbox.backends.bare import BareBackend
from sandbox.backends.base import Backend, Capabilities, Sandbox
from sandbox.backends.bubblewrap import BubblewrapBackend
from sandbox.policies import named_policy
from sandbox.proof import probes, tries
from sandbox.proof.claims import CLAIMS
from sandbox.proof.stage import Stage, stage

LINES = (
    "files",
    "environment",
    "tools",
    "person",
    "privileges",
    "devices",
    "system calls",
    "processes",
    "resources",
    "network",
    "ipc and signals",
    "record",
)

_OF_FILES = (
    "write outside; read keys of the home folder; read credentials of clouds and packages; read another project; "
    "read through proc root; inherited descriptor; write through an old hard link; read through an old symbolic link"
)
_OF_CALLS = (
    "io uring; kernel key rings; bpf; userfaultfd; perf events; nested user namespace; mount; "
    "run a file that lies nowhere; memory to write and run at once; memory written then run; "
    "run a program made in the workspace; calls of another ABI"
)
_OF_NETWORK = "host network by netlink; another address by TCP or UDP; loopback of the host"
_OF_IPC = (
    "socket in the file system; abstract socket; signal a process of the host; SysV memory of the host; "
    "POSIX memory of the host; type into the terminal"
)
_OF_PROCESSES = "ptrace a process of the host; read memory of a process of the host"
ESCAPES = {
    "files": _OF_FILES.split("; "),
    "environment": ["secret in the environment"],
    "system calls": _OF_CALLS.split("; "),
    "processes": _OF_PROCESSES.split("; "),
    "resources": ["processes without end"],
    "network": _OF_NETWORK.split("; "),
    "ipc and signals": _OF_IPC.split("; "),
}

# Running what was built in the workspace is what the policy is for; `strict` refuses it.
BUILDING = ("run a program made in the workspace",)


class State(StrEnum):
    """What the attacks on a line say about it."""

    ENFORCED = "enforced"
    PARTLY = "partly"
    NOT = "not enforced"


@dataclass(frozen=True, slots=True)
class Check:
    """One attack (or, ``wanted``, one thing that must work). bare and inside (by backend): open, closed or n/a."""

    line: str
    what: str
    bare: str
    inside: dict[str, str] = field(default_factory=dict)
    wanted: bool = False

    def held(self, backend: str) -> bool:
        """The control worked and the sandbox did what it should: that proves something."""
        return self.bare == "open" and (self.inside[backend] == "open") == self.wanted

    def failed(self, backend: str) -> bool:
        """The sandbox did not do what it should."""
        return (self.inside[backend] == "open") != self.wanted and not self.by_policy(backend)

    def by_policy(self, backend: str) -> bool:
        """It works because the policy says so."""
        return self.what in BUILDING and self.inside[backend] == "open"


@dataclass(frozen=True, slots=True)
class Proof:
    """All checks, under the backends that could be started; ``found`` tells about all of them."""

    checks: tuple[Check, ...]
    backends: tuple[str, ...]
    found: dict[str, Capabilities]

    def of(self, line: str) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.line == line)

    def state(self, line: str, backend: str) -> State:
        """Enforced: attacks that work bare were stopped, and none got through."""
        if backend not in self.backends:
            return State.NOT
        checks = self.of(line)
        held = any(check.held(backend) and not check.wanted for check in checks)
        if not any(check.failed(backend) for check in checks):
            return State.ENFORCED if held else State.PARTLY
        return State.PARTLY if held else State.NOT


async def prove() -> Proof:
    """Try everything, bare and under every backend that works here, in a workspace made for it. Takes seconds.

    Raises ProofError when the attacks could not be tried, OSError when there is no room for what they need.
    """
    with stage() as place:
        checks = _controls(place)
        found: dict[str, Capabilities] = {}
        started: list[str] = []
        for backend in (BubblewrapBackend(), BareBackend()):
            found[backend.name] = backend.capabilities()
            if found[backend.name].contained or backend.name == "bare":
                checks = await _under(backend, place, checks)
                started.append(backend.name)
        assert tuple(found) == NAMES
        return Proof(tuple(checks), tuple(started), found)


def _controls(place: Stage) -> list[Check]:
    bare = tries.bare(place)
    checks = [Check(line, name, bare[name]) for line, names in ESCAPES.items() for name in names]
    more = probes.bare(place)
    checks += [Check(probe.line, probe.what, more[probe.what], wanted=probe.wanted) for probe in probes.PROBES]
    checks += [Check(claim.line, claim.what, "open" if claim.bare(place) else "closed") for claim in CLAIMS]
    return checks


async def _under(backend: Backend, place: Stage, checks: Sequence[Check]) -> list[Check]:
    policy = replace(named_policy("workspace", place.workspace), limits=probes.LIMITS)
    sandbox = await backend.start(policy)
    try:
        found = await tries.inside(sandbox, place) | await probes.inside(sandbox) | await _claims(place, sandbox)
    finally:
        await sandbox.stop()
    return [replace(check, inside=check.inside | {backend.name: found[check.what]}) for check in checks]


async def _claims(place: Stage, sandbox: Sandbox) -> tries.Found:
    return {claim.what: "closed" if await claim.holds(place, sandbox) else "open" for claim in CLAIMS}
