"""What a sandbox may touch. A policy is frozen data; backends enforce it, the gate names it in every request."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Network(StrEnum):
    """OFF is an empty network namespace; ALLOW is one from which only the proxy leads out, to the policy's domains;
    FULL shares the host's and is never contained."""

    OFF = "off"
    ALLOW = "allow"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Limits:
    """Hard limits of one command, for all its processes together unless said otherwise. Sizes in bytes, times in
    seconds. What holds each of them, and how exactly, is told in `sandbox.limits`.

    output_bytes: how much output is kept (the rest is counted, not stored). printed_bytes: how much it may print.
    memory_bytes: in all, and for each process. processes: with their threads. file_bytes: of each file. open_files: of
    each process. written_bytes, files: how much more, and how many more, the workspace may hold because of it.
    scratch_bytes: what /tmp, the home folder and /dev/shm may each hold; they live in memory. wall_seconds caps
    whatever time-out a call asks for, background commands included.
    """

    output_bytes: int = 64 * 1024 * 1024
    printed_bytes: int = 4 * 1024**3
    memory_bytes: int = 8 * 1024**3
    processes: int = 2048
    cpu_seconds: float = 4 * 3600.0
    file_bytes: int = 4 * 1024**3
    open_files: int = 4096
    written_bytes: int = 16 * 1024**3
    files: int = 500_000
    scratch_bytes: int = 2 * 1024**3
    wall_seconds: float = 3600.0


# Paths below the workspace that stay read-only although the workspace is writable: what runs later, outside.
# commondir and config.worktree are there because git reads hooks and settings from wherever they point.
PROTECTED = (
    ".git/hooks",
    ".git/config",
    ".git/commondir",
    ".git/config.worktree",
    ".agent-tui",
    ".mcp.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
)


@dataclass(frozen=True, slots=True)
class Policy:
    """A named set of rights.

    workspace: the folder the agent works in. writable: whether it may be written. readable: further read-only paths.
    protected: paths relative to the workspace that are never written. env: names passed through from the host.
    hidden: paths that never show inside, wherever they lie (our own records and rules).
    execute: whether what lies in the workspace may be executed. data: folders below it (relative) that may not,
    whatever ``execute`` says. wx: names of programs that may map memory writable and executable (a JIT needs it).
    domains, ports: where the proxy leads to when network is ALLOW.
    """

    name: str
    workspace: Path
    writable: bool = True
    readable: tuple[Path, ...] = ()
    protected: tuple[str, ...] = PROTECTED
    network: Network = Network.OFF
    env: tuple[str, ...] = ("LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ", "NO_COLOR")
    limits: Limits = field(default_factory=Limits)
    hidden: tuple[Path, ...] = ()
    execute: bool = True
    data: tuple[str, ...] = ()
    wx: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    ports: tuple[int, ...] = (80, 443)
