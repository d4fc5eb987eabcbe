"""Named policies, and policies from a small TOML file. Anything unclear in a file is refused, never guessed.

name = "reviews"              # optional; the file's name otherwise
extends = "read-only"         # optional; "workspace" otherwise
writable = false              # may the workspace be written
readable = ["/data/corpus"]   # further folders, read-only
protected = ["deploy"]        # more paths of the workspace that are never written
network = "off"               # or "full"
env = ["CI"]                  # more variables passed through

[limits]                      # bytes and seconds
wall_seconds = 600
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path, PurePosixPath
from typing import Any

from sandbox.backends.environment import refused_names
from sandbox.policy import Limits, Network, Policy

NAMES = ("workspace", "read-only")
_LIMITS = tuple(field.name for field in fields(Limits))


class PolicyError(ValueError):
    """A policy that cannot be used; the text names file, line and reason."""


def named_policy(name: str, workspace: Path) -> Policy:
    """``workspace`` (it may be written) or ``read-only``. Raises PolicyError for another name."""
    if name not in NAMES:
        raise PolicyError(f"there is no policy {name!r}: choose {' or '.join(NAMES)}, or give a file")
    return Policy(name=name, workspace=workspace, writable=name == "workspace")


def load_policy(path: Path, workspace: Path) -> Policy:
    """The policy in a TOML file. Raises PolicyError naming file, line and reason."""
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except OSError as error:
        raise PolicyError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyError(f"{path}: {error}") from error
    return _Reader(path, text, workspace).policy(data)


def find_policy(name_or_file: str, workspace: Path) -> Policy:
    """A named policy, or the one in a file: what the command line takes. Raises PolicyError."""
    if name_or_file in NAMES:
        return named_policy(name_or_file, workspace)
    path = Path(name_or_file)
    return load_policy(path, workspace) if path.exists() else named_policy(name_or_file, workspace)


class _Reader:
    def __init__(self, path: Path, text: str, workspace: Path) -> None:
        self._path = path
        self._lines = text.splitlines()
        self._workspace = workspace

    def policy(self, data: dict[str, Any]) -> Policy:
        readers: dict[str, Callable[[Policy, Any], Policy]] = {
            "name": lambda p, v: replace(p, name=self._text("name", v)),
            "extends": lambda p, _: p,
            "writable": lambda p, v: replace(p, writable=self._flag("writable", v)),
            "readable": lambda p, v: replace(p, readable=(*p.readable, *self._folders(v))),
            "protected": lambda p, v: replace(p, protected=(*p.protected, *self._inside(v))),
            "network": lambda p, v: replace(p, network=self._network(v)),
            "env": lambda p, v: replace(p, env=(*p.env, *self._names(v))),
            "limits": lambda p, v: replace(p, limits=self._limits(p.limits, v)),
        }
        for key in data:
            if key not in readers:
                raise self._error(key, f"unknown key {key!r}; known are {', '.join(readers)}")
        base = self._text("extends", data.get("extends", "workspace"))
        if base not in NAMES:
            raise self._error("extends", f"there is no policy {base!r} to extend: {' or '.join(NAMES)}")
        policy = replace(named_policy(base, self._workspace), name=self._path.stem)
        for key, value in data.items():
            policy = readers[key](policy, value)
        return policy

    def _error(self, key: str, reason: str) -> PolicyError:
        pattern = re.compile(rf"\s*(?:\[\s*)?[\"']?{re.escape(key)}[\"']?\s*(?:=|\]|\.)")
        line = next((number for number, text in enumerate(self._lines, 1) if pattern.match(text)), 1)
        return PolicyError(f"{self._path}, line {line}: {reason}")

    def _text(self, key: str, value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise self._error(key, f"{key} must be a text")
        return value

    def _flag(self, key: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self._error(key, f"{key} must be true or false")
        return value

    def _texts(self, key: str, value: Any) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self._error(key, f"{key} must be a list of texts")
        return value

    def _folders(self, value: Any) -> tuple[Path, ...]:
        return tuple(self._folder(text) for text in self._texts("readable", value))

    def _folder(self, text: str) -> Path:
        path = Path(text).expanduser()
        if not path.is_absolute():
            raise self._error("readable", f"{text!r} must be an absolute path")
        real = path.resolve()
        if not real.exists():
            raise self._error("readable", f"{text!r} does not exist")
        if Path.home().is_relative_to(real) or Path("/etc").is_relative_to(real) or Path("/proc").is_relative_to(real):
            raise self._error(
                "readable", f"{text!r} would show the whole home folder or system; name a folder below it"
            )
        return real

    def _inside(self, value: Any) -> tuple[str, ...]:
        for text in self._texts("protected", value):
            path = PurePosixPath(text)
            if path.is_absolute() or ".." in path.parts or not path.parts:
                raise self._error("protected", f"{text!r} must be a path inside the workspace, relative to it")
        return tuple(str(PurePosixPath(text)) for text in value)

    def _network(self, value: Any) -> Network:
        try:
            return Network(value)
        except ValueError:
            raise self._error("network", f'network is "off" or "full", not {value!r}') from None

    def _names(self, value: Any) -> tuple[str, ...]:
        names = self._texts("env", value)
        if refused := refused_names(names):
            raise self._error("env", f"{refused[0]!r} cannot be passed through: it changes which code runs")
        return tuple(names)

    def _limits(self, limits: Limits, value: Any) -> Limits:
        if not isinstance(value, dict):
            raise self._error("limits", "limits is a table: [limits]")
        for key, number in value.items():
            if key not in _LIMITS:
                raise self._error(key, f"unknown limit {key!r}; known are {', '.join(_LIMITS)}")
            whole = key != "wall_seconds"
            if isinstance(number, bool) or not isinstance(number, int if whole else (int, float)) or number <= 0:
                raise self._error(key, f"{key} must be a {'whole ' if whole else ''}number above 0")
        return replace(limits, **value)
