"""What is visible inside bubblewrap: an allow-list of mounts, as bwrap options. Pure but for looking at paths."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.backends.toolchains import SYSTEM
from sandbox.policy import Network, Policy

HELPER = "/run/agent-tui"

# The parts of /etc that programs need to start, find users and names, and check certificates. No secrets among them.
_ETC = (
    "alternatives ca-certificates ca-certificates.conf debian_version fonts group host.conf hosts inputrc java "
    "ld.so.cache ld.so.conf ld.so.conf.d locale.alias localtime magic mime.types nsswitch.conf os-release passwd "
    "pki/ca-trust pki/tls/certs pki/tls/cert.pem protocols services shells ssl/certs ssl/openssl.cnf terminfo timezone"
).split()
_ETC_NETWORK = ("resolv.conf", "gai.conf")

# The parts of /proc that change the machine when they are written.
_KERNEL = "acpi asound bus driver dynamic_debug fs irq mtrr pressure scsi sys sysrq-trigger".split()

# A workspace that is or contains one of these would swallow the walls themselves.
_TOO_WIDE = tuple(Path(p) for p in ("/usr", "/etc", "/proc", "/sys", "/dev", "/run", "/tmp", "/var", "/boot"))


class WorkspaceError(ValueError):
    """A folder that cannot be a workspace; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Bind:
    """A path to mount over itself inside the workspace, so that it cannot be renamed or (read-only) written."""

    path: Path
    read_only: bool


def check_workspace(workspace: Path) -> Path:
    """The real path of a usable workspace. Raises WorkspaceError for a missing or too wide one."""
    try:
        real = workspace.resolve(strict=True)
    except OSError as error:
        raise WorkspaceError(f"{workspace} cannot be opened: {error.strerror}; choose an existing folder") from error
    if not real.is_dir():
        raise WorkspaceError(f"{workspace} is not a folder")
    if any(top.is_relative_to(real) for top in _TOO_WIDE):
        raise WorkspaceError(f"{real} holds system folders and cannot be a workspace; choose a folder below it")
    return real


def at(policy: Policy, workspace: Path) -> Policy:
    """``policy`` with the real path of its workspace."""
    return policy if policy.workspace == workspace else replace(policy, workspace=workspace)


def fixed(policy: Policy, roots: tuple[Path, ...]) -> list[str]:
    """bwrap options for the part of the view that stays the same for a policy: system, tools, the workspace itself.

    policy.workspace must be a real path (see check_workspace). roots: read-only tool folders.
    """
    work = str(policy.workspace)
    most = policy.limits.scratch_bytes
    out = [*_system(), *_etc(policy.network), *_proc(), "--dev", "/dev", *_scratch("/dev/shm", "1777", most)]
    # What lies in memory is bounded by its size, so nothing else of /dev may be written.
    out += ["--remount-ro", "/dev", *_scratch("/tmp", "1777", most)]
    shown = {path for path in (*roots, *policy.readable) if not path.is_relative_to(policy.workspace)}
    # Under a link real paths would not be what they are outside.
    real = any(path.is_relative_to("/var/tmp") for path in (policy.workspace, *shown))
    out += _scratch("/var/tmp", "1777", most) if real else ["--symlink", "../tmp", "/var/tmp"]
    out += _home(policy.workspace, most)
    for path in sorted(shown, key=lambda p: len(p.parts)):
        out += ["--ro-bind-try", str(path), str(path)]
    return [*out, "--bind" if policy.writable else "--ro-bind", work, work]


def fresh(policy: Policy, roots: tuple[Path, ...], binds: tuple[Bind, ...], ours: Mapping[Path, str]) -> list[str]:
    """bwrap options that follow `fixed` and depend on what is there now: later mounts cover earlier ones.

    binds: protected paths. ours: what the sandbox itself needs inside, read-only, and where it shows there.
    """
    hidden = [real for real in (path.resolve() for path in policy.hidden) if real.exists()]
    out = list(_parents_of_hidden(policy, hidden))
    for bind in binds:
        out += ["--ro-bind" if bind.read_only else "--bind", str(bind.path), str(bind.path)]
    out += [*_hide(policy, roots, hidden), *_mask_home(policy.workspace, roots)]
    for outside, inside in ours.items():
        out += ["--ro-bind", str(outside), inside]
    return [*out, "--remount-ro", "/"]


def home_inside(workspace: Path) -> str:
    """HOME inside: the same path as outside but empty and private, or a folder of /tmp when it is the workspace."""
    home = Path.home()
    return "/tmp/home" if home.is_relative_to(workspace) else str(home)


def _system() -> Iterator[str]:
    for path in SYSTEM:
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))


def _proc() -> Iterator[str]:
    """A /proc of its own. What lies in it belongs to root of the machine, and root outside is its owner inside as well,
    capabilities or not: a program could set the kernel's values (core_pattern runs a program outside)."""
    yield from ("--proc", "/proc")
    if os.geteuid() == 0:
        for name in _KERNEL:
            path = Path("/proc") / name
            if path.exists():
                yield from ("--ro-bind", str(path), str(path))


def _etc(network: Network) -> Iterator[str]:
    for name in (*_ETC, *(_ETC_NETWORK if network is Network.FULL else ())):
        path = Path("/etc") / name
        if path.exists():
            yield from ("--ro-bind", str(path), str(path))


def _scratch(path: str, mode: str, most: int) -> list[str]:
    """An empty private folder that holds at most so many bytes."""
    return ["--size", str(most), "--perms", mode, "--tmpfs", path]


def _home(workspace: Path, most: int) -> list[str]:
    inside = home_inside(workspace)
    return ["--perms", "0700", "--dir", inside] if inside.startswith("/tmp/") else _scratch(inside, "0700", most)


def _mask_home(workspace: Path, roots: tuple[Path, ...]) -> Iterator[str]:
    """When the workspace holds the home folder, its dot-files (keys, credentials, shell start-up) do not show, but for
    the tool folders in them."""
    home = Path.home()
    if not home.is_relative_to(workspace):
        return
    for entry in sorted(os.scandir(home), key=lambda e: e.name):
        if entry.name.startswith(".") and entry.name not in (".git", ".agent-tui") and not entry.is_symlink():
            yield from _cover(Path(entry.path), tuple(root for root in roots if root.is_relative_to(entry.path)))


def _parents_of_hidden(policy: Policy, hidden: list[Path]) -> Iterator[str]:
    """Folders of a writable workspace that lead to what is hidden, mounted over themselves so that none can be moved
    away. Before the protected paths, which may lie in them."""
    if not policy.writable:
        return
    for real in hidden:
        if real.is_relative_to(policy.workspace):
            for parent in reversed(real.relative_to(policy.workspace).parents[:-1]):
                folder = str(policy.workspace / parent)
                yield from ("--bind", folder, folder)


def _hide(policy: Policy, roots: tuple[Path, ...], hidden: list[Path]) -> Iterator[str]:
    shown = (policy.workspace, *roots, *policy.readable)
    for real in hidden:
        if any(real.is_relative_to(top) for top in shown):
            yield from _cover(real)


def _cover(path: Path, but_for: tuple[Path, ...] = ()) -> list[str]:
    """Put nothing in the place of a path, except for some folders in it, which stay readable."""
    if not path.is_dir():
        return ["--ro-bind", "/dev/null", str(path)]
    if path in but_for:
        return ["--ro-bind", str(path), str(path)]
    kept = [word for folder in but_for for word in ("--ro-bind", str(folder), str(folder))]
    return ["--perms", "0755", "--tmpfs", str(path), *kept, "--remount-ro", str(path)]
