"""Named policies, a person's own from a TOML file, and a project's. Anything unclear in a file is refused, not guessed.

The named ones are the files beside this one: copy one, change it, and give its path instead of a name.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from sandbox.policies.reader import PolicyError, Reader
from sandbox.policy import Policy

__all__ = ["NAMES", "PROJECT_FILE", "PolicyError", "find_policy", "load_policy", "named_policy", "session_policy"]

NAMES = ("workspace", "read-only", "strict")
PROJECT_FILE = Path(".agent-tui/policy.toml")


def named_policy(name: str, workspace: Path) -> Policy:
    """``workspace`` (it may be written and built in), ``read-only``, or ``strict`` (nothing written there runs).

    Raises PolicyError for another name.
    """
    if name not in NAMES:
        raise PolicyError(f"there is no policy {name!r}: choose {_or(NAMES)}, or give a file")
    return replace(_shipped(name), workspace=workspace)


def load_policy(path: Path, workspace: Path) -> Policy:
    """The policy in a TOML file. Raises PolicyError naming file, line and reason."""
    return _read(path, partial(_extended, workspace=workspace), workspace)


def find_policy(name_or_file: str, workspace: Path) -> Policy:
    """A named policy, or the one in a file: what the command line takes. Raises PolicyError."""
    if name_or_file in NAMES:
        return named_policy(name_or_file, workspace)
    path = Path(name_or_file)
    return load_policy(path, workspace) if path.exists() else named_policy(name_or_file, workspace)


def session_policy(workspace: Path, *, trusted: bool, name: str = "workspace") -> Policy:
    """What a session in ``workspace`` starts with: the project's own ``.agent-tui/policy.toml`` when the folder is
    trusted and has one, else the policy called ``name``. Raises PolicyError for a file that cannot be used.

    A folder that is not trusted has no say: its file is not even read.
    """
    own = workspace / PROJECT_FILE
    return load_policy(own, workspace) if trusted and own.exists() else named_policy(name, workspace)


@cache
def _shipped(name: str) -> Policy:
    return _read(Path(__file__).parent / f"{name}.toml", lambda _base: Policy(name=name, workspace=Path()), Path())


def _extended(base: str, *, workspace: Path) -> Policy:
    if base not in NAMES:
        raise ValueError(f"there is no policy {base!r} to extend: {_or(NAMES)}")
    return named_policy(base, workspace)


def _read(path: Path, base: Callable[[str], Policy], workspace: Path) -> Policy:
    try:
        text = path.read_text(encoding="utf-8")
        data: dict[str, Any] = tomllib.loads(text)
    except OSError as error:
        raise PolicyError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyError(f"{path}: {error}") from error
    return Reader(path, text, workspace).policy(data, base)


def _or(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
