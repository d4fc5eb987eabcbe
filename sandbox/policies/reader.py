"""Reads the keys of a policy file, each with its own check; an error names file, line and reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from sandbox.backends.environment import refused_names
from sandbox.network.allowed import Allowed, parse_domain
from sandbox.policy import Limits, Network, Policy

_LIMITS = {field.name: field.type for field in fields(Limits)}
# A folder that holds one of these would show the whole home folder or system.
_TOO_WIDE = (Path("/etc"), Path("/proc"), Path("/sys"), Path("/dev"), Path("/run"), Path("/var"), Path("/boot"))


T = TypeVar("T")


class PolicyError(ValueError):
    """A policy that cannot be used; the text names file, line and reason."""


class Reader:
    """Reads one file. ``text`` is what it holds, for line numbers."""

    def __init__(self, path: Path, text: str, workspace: Path) -> None:
        self._path = path
        self._lines = text.splitlines()
        self._workspace = workspace

    def policy(self, data: dict[str, Any], base: Callable[[str], Policy]) -> Policy:
        """``base`` gives the policy by the name that ``extends`` holds; it raises ValueError for an unknown one.

        ``readable``, ``protected`` and ``env`` add to the base's, everything else takes the place of the base's.
        """
        readers: dict[str, Callable[[Policy, Any], Policy]] = {
            "name": lambda p, v: replace(p, name=self._text("name", v)),
            "extends": lambda p, _: p,
            "writable": lambda p, v: replace(p, writable=self._flag("writable", v)),
            "execute": lambda p, v: replace(p, execute=self._flag("execute", v)),
            "data": lambda p, v: replace(p, data=self._inside("data", v)),
            "wx": lambda p, v: replace(p, wx=self._programs(v)),
            "readable": lambda p, v: replace(p, readable=_joined(p.readable, self._folders(v))),
            "protected": lambda p, v: replace(p, protected=_joined(p.protected, self._inside("protected", v))),
            "network": lambda p, v: replace(p, network=self._network(v)),
            "domains": lambda p, v: replace(p, domains=self._domains(v)),
            "ports": lambda p, v: replace(p, ports=self._ports(v)),
            "env": lambda p, v: replace(p, env=_joined(p.env, self._names(v))),
            "limits": lambda p, v: replace(p, limits=self._limits(p.limits, v)),
        }
        for key in data:
            if key not in readers:
                raise self._error(key, f"unknown key {key!r}; known are {', '.join(readers)}")
        try:
            policy = base(self._text("extends", data.get("extends", "workspace")))
        except PolicyError:
            raise
        except ValueError as error:
            raise self._error("extends", str(error)) from None
        policy = replace(policy, name=self._path.stem)
        for key, value in data.items():
            policy = readers[key](policy, value)
        self._consistent(policy, data)
        return policy

    def _error(self, key: str, reason: str, entry: object = None) -> PolicyError:
        """The line is that of the key, or of the ``entry`` below it in a list over several lines."""
        pattern = re.compile(rf"\s*(?:\[\s*)?[\"']?{re.escape(key)}[\"']?\s*(?:=|\]|\.)")
        line = next((number for number, text in enumerate(self._lines, 1) if pattern.match(text)), 1)
        if entry is not None:
            below = enumerate(self._lines[line - 1 :], line)
            line = next((number for number, text in below if str(entry) in text), line)
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
        for text in value:
            if "\0" in text:
                raise self._error(key, f"{text!r} holds a NUL")
        return value

    def _folders(self, value: Any) -> tuple[Path, ...]:
        return tuple(self._folder(text) for text in self._texts("readable", value))

    def _folder(self, text: str) -> Path:
        try:
            path = Path(text).expanduser()
            real = path.resolve()
            exists = real.exists()
        except (OSError, RuntimeError) as error:
            raise self._error("readable", f"{text!r} is no possible path: {error}", text) from None
        if not path.is_absolute():
            raise self._error("readable", f"{text!r} must be an absolute path", text)
        if not exists:
            raise self._error("readable", f"{text!r} does not exist", text)
        if any(wide.is_relative_to(real) for wide in (Path.home(), *_TOO_WIDE)):
            reason = f"{text!r} would show the whole home folder or system; name a folder below it"
            raise self._error("readable", reason, text)
        return real

    def _inside(self, key: str, value: Any) -> tuple[str, ...]:
        for text in self._texts(key, value):
            path = PurePosixPath(text)
            if path.is_absolute() or ".." in path.parts or not path.parts:
                raise self._error(key, f"{text!r} must be a path inside the workspace, relative to it", text)
        return tuple(str(PurePosixPath(text)) for text in value)

    def _programs(self, value: Any) -> tuple[str, ...]:
        for text in self._texts("wx", value):
            if "/" in text or any(char.isspace() for char in text):
                raise self._error("wx", f"{text!r} must be the plain name of a program, without a path", text)
        return tuple(dict.fromkeys(value))

    def _network(self, value: Any) -> Network:
        try:
            return Network(value)
        except ValueError:
            raise self._error("network", f'network is "off", "allow" or "full", not {value!r}') from None

    def _domains(self, value: Any) -> tuple[str, ...]:
        found = []
        for text in self._texts("domains", value):
            try:
                found.append(parse_domain(text))
            except ValueError as error:
                raise self._error("domains", str(error), text) from None
        return tuple(dict.fromkeys(found))

    def _ports(self, value: Any) -> tuple[int, ...]:
        if not isinstance(value, list) or not value:
            raise self._error("ports", "ports must be a list of whole numbers")
        try:
            return Allowed((), tuple(value)).ports
        except (ValueError, TypeError) as error:
            raise self._error("ports", str(error)) from None

    def _consistent(self, policy: Policy, data: dict[str, Any]) -> None:
        """A list of domains that would not be asked, or a network that leads nowhere, is a mistake."""
        if policy.network is Network.ALLOW and not policy.domains:
            raise self._error("network", 'network is "allow", but domains names none')
        for key in ("domains", "ports"):
            if data.get(key) and policy.network is not Network.ALLOW:
                raise self._error(key, f'{key} needs network = "allow"; it is "{policy.network.value}"')

    def _names(self, value: Any) -> tuple[str, ...]:
        names = self._texts("env", value)
        if refused := refused_names(names):
            raise self._error("env", f"{refused[0]!r} cannot be passed through: it changes which code runs", refused[0])
        return tuple(names)

    def _limits(self, limits: Limits, value: Any) -> Limits:
        if not isinstance(value, dict):
            raise self._error("limits", "limits is a table: [limits]")
        for key, number in value.items():
            if key not in _LIMITS:
                raise self._error(key, f"unknown limit {key!r}; known are {', '.join(_LIMITS)}")
            whole = _LIMITS[key] == "int"
            if isinstance(number, bool) or not isinstance(number, int if whole else (int, float)) or not number > 0:
                raise self._error(key, f"{key} must be a {'whole ' if whole else ''}number above 0")
        return replace(limits, **value)


def _joined(first: tuple[T, ...], second: tuple[T, ...]) -> tuple[T, ...]:
    return tuple(dict.fromkeys((*first, *second)))
