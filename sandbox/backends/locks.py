"""What a policy needs beyond bubblewrap, and whether this kernel has it: noexec mounts, Landlock, memory protection.

`sandbox.launcher.enter` turns these locks inside. Most policies need none of them, and then nothing is started for it.
"""

from __future__ import annotations

import ctypes
import errno
import sys
from functools import cache
from pathlib import Path

from sandbox.backends import filter
from sandbox.backends.toolchains import SYSTEM
from sandbox.policy import Network, Policy

_MOUNT_SETATTR, _CREATE_RULESET = 442, 444
_GET_MDWE = 66
_ASK_VERSION = 1
_TCP_SINCE, _SCOPES_SINCE = 4, 6
_NEWEST = 7


class LocksError(ValueError):
    """A policy that this machine cannot enforce; the text says what is missing and what to do."""


def needed(policy: Policy) -> bool:
    """Whether something must run inside before the command."""
    return not policy.execute or bool(policy.data)


@cache
def landlock_abi() -> int:
    """The version of Landlock in this kernel; 0 when there is none."""
    if sys.platform != "linux":
        return 0
    found: int = ctypes.CDLL(None).syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    return max(0, found)


@cache
def has_noexec() -> bool:
    """Whether mounts can be changed all at once (Linux 5.12). Asked with arguments that change nothing."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(_MOUNT_SETATTR, -1, b"", 0, None, ctypes.c_size_t(0))
    return ctypes.get_errno() != errno.ENOSYS


@cache
def has_memory_protection() -> bool:
    """Whether the kernel itself can keep memory from becoming executable (Linux 6.3)."""
    return sys.platform == "linux" and bool(ctypes.CDLL(None).prctl(_GET_MDWE, 0, 0, 0, 0) >= 0)


@cache
def gaps() -> tuple[str, ...]:
    """What this kernel cannot enforce of the locks, each with what to do. Empty when all of them work."""
    found = []
    if not filter.program():
        found.append("no system call filter: pip install seccompy (x86_64 and arm64 only)")
    if not has_noexec():
        found.append("folders cannot be made noexec: policies that forbid execution need Linux 5.12 or newer")
    abi = landlock_abi()
    if not abi:
        found.append("no Landlock as the second wall: use Linux 5.13 or newer with landlock in the lsm= boot parameter")
    elif abi < _SCOPES_SINCE:
        lacks = "TCP, signals and abstract sockets" if abi < _TCP_SINCE else "signals and abstract sockets"
        found.append(f"Landlock {abi} does not know {lacks}: the namespaces hold them alone; use Linux 6.12 or newer")
    if not has_memory_protection():
        found.append("the kernel does not follow memory over time: only the filter forbids it to run (Linux 6.3)")
    return tuple(found)


def check(policy: Policy, roots: tuple[Path, ...], python: str) -> None:
    """Raises LocksError when ``policy`` needs locks that cannot be turned here. ``python`` is the interpreter that
    turns them; it must lie where nothing inside can write: in the system's folders or the tool folders ``roots``."""
    if not needed(policy):
        return
    if not has_noexec():
        raise LocksError(
            f"the policy {policy.name} forbids running files, which this kernel cannot enforce: {gaps()[0]}"
        )
    if not any(Path(python).is_relative_to(safe) for safe in (*SYSTEM, *roots)):
        raise LocksError(
            f"the policy {policy.name} needs a Python that nothing inside can change, and {python} is none: "
            "install agent-tui outside the workspace, or choose another workspace"
        )
    for name in policy.data:
        data_folder(policy, name)


def data_folder(policy: Policy, name: str) -> Path:
    """The real path of a data folder, made when it is missing (what is made later could be run).

    Raises LocksError when it is no folder of the workspace.
    """
    path = policy.workspace / name
    try:
        if policy.writable:
            path.mkdir(parents=True, exist_ok=True)
        real = path.resolve(strict=True)
    except OSError as error:
        raise LocksError(f"the data folder {name} cannot be used: {error.strerror}") from error
    if not real.is_dir() or not real.is_relative_to(policy.workspace) or real == policy.workspace:
        raise LocksError(f"the data folder {name} must be a folder below the workspace; it leads to {real}")
    return real


def data_folders(policy: Policy) -> tuple[Path, ...]:
    """Those that need a mount of their own, parents first. None when nothing in the workspace runs anyway."""
    return tuple(sorted({data_folder(policy, name) for name in policy.data})) if policy.execute else ()


def mounts_for(policy: Policy) -> list[str]:
    """bwrap options that give every data folder a mount of its own. They come before those for protected paths."""
    bind = "--bind" if policy.writable else "--ro-bind"
    return [word for path in data_folders(policy) for word in (bind, str(path), str(path))]


def words(policy: Policy, roots: tuple[Path, ...], program: bytes, *, wx: bool) -> list[str]:
    """The words for `sandbox.launcher.enter`. roots: tool folders that are shown; program: the system call filter.

    wx: the command may have memory that is writable and executable.
    """
    out = [f"filter={program.hex()}"] if program else []
    if policy.execute:
        return [*out, *(f"noexec={path}" for path in data_folders(policy))]
    out += ["noexec=/", *(f"exec={path}" for path in _runnable(roots))]
    if abi := landlock_abi():
        out.append(f"landlock={min(abi, _NEWEST)}")
    if policy.network is Network.OFF:
        out.append("tcp=off")
    if not wx and has_memory_protection():
        out.append("mdwe=on")
    return out


def _runnable(roots: tuple[Path, ...]) -> list[Path]:
    """All of them are mounted read-only."""
    system = [path for path in SYSTEM if path.is_dir() and not path.is_symlink()]
    return [*system, *(path for path in roots if path.is_dir())]
