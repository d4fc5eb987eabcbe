"""The environment a process in the sandbox starts with: built from an allow-list, never inherited."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from sandbox.policy import Policy

_SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")

# Names a caller may never set: each changes which code runs, or where its traffic goes.
_REFUSED = frozenset(
    "PATH HOME SHELL ENV BASH_ENV IFS CDPATH PS4 PROMPT_COMMAND GLOBIGNORE SHELLOPTS BASHOPTS NODE_OPTIONS NODE_PATH "
    "RUBYOPT RUBYLIB PERLLIB PERL5LIB PERL5OPT JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH "
    "EDITOR VISUAL PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE SSH_ASKPASS SUDO_ASKPASS MAKEFLAGS GCONV_PATH "
    "RIPGREP_CONFIG_PATH TAR_OPTIONS FTP_PROXY HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY".split()
)
_REFUSED_PREFIXES = ("LD_", "DYLD_", "PYTHON", "GIT_", "BASH_FUNC_", "RUSTC", "CARGO_", "NPM_CONFIG_", "GLIBC_")


def refused_names(names: Iterable[str]) -> list[str]:
    """Those of ``names`` that no caller may set: unusable ones, and ones that change which code runs."""
    return sorted(name for name in names if not _harmless(name))


def _harmless(name: str) -> bool:
    upper = name.upper()
    return name.isidentifier() and name.isascii() and upper not in _REFUSED and not upper.startswith(_REFUSED_PREFIXES)


def search_path(roots: Iterable[Path], workspace: Path) -> str:
    """PATH inside: the host's entries that are visible there, then the system's, then this Python's own folder."""
    visible = [*roots, workspace]
    kept: list[str] = []
    for entry in os.environ.get("PATH", "").split(os.pathsep):
        path = Path(entry)
        if path.is_absolute() and (entry in _SYSTEM_PATH or any(path.is_relative_to(root) for root in visible)):
            kept.append(entry)
    kept += [*_SYSTEM_PATH, str(Path(sys.executable).parent)]
    return os.pathsep.join(dict.fromkeys(kept))


def build(policy: Policy, home: str, path: str, extra: Mapping[str, str]) -> dict[str, str]:
    """The whole environment: fixed names, what ``policy.env`` passes through, then ``extra`` of tools and the call.

    Values with a NUL cannot be passed to a process and are left out.
    """
    env = {"PATH": path, "HOME": home, "TMPDIR": "/tmp", "LANG": "C.UTF-8", "TERM": "dumb", "PAGER": "cat"}
    env |= {"GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "AGENT_TUI_SANDBOX": "1"}
    env |= {name: os.environ[name] for name in policy.env if name in os.environ}
    env |= extra
    return {name: value for name, value in env.items() if "\0" not in value}
