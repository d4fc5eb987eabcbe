"""One settings file, read as far as it can be. `engine.settings_write` changes one."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.settings_keys import KEYS, PROVIDER_KEYS, Key, SettingError, Value
from engine.settings_task import TaskSettings, read_task

NOT_YOURS = "only your own settings file may set this, not a project's"


@dataclass(frozen=True, slots=True)
class SettingWarning:
    """Something in the settings that was not used, where (line 0: no line) and why."""

    source: str
    line: int
    key: str
    reason: str

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}" if self.line else self.source
        return f"{place}: {self.key}: {self.reason}" if self.key else f"{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class FileContent:
    """What a file sets. ``providers``: name to its settings. ``keys``: action of the screen to the keys that do it."""

    values: Mapping[str, Value] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    providers: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    task: TaskSettings = field(default_factory=TaskSettings)
    warnings: tuple[SettingWarning, ...] = ()


def read_file(path: Path, *, personal: bool = True) -> FileContent:
    """The settings in ``path``; a missing file sets nothing. What cannot be used is a warning, the rest counts.
    ``personal`` False: it is not the person's own, and may not set what concerns their screen alone."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        data = tomllib.loads(text)
    except FileNotFoundError:
        return FileContent()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        return FileContent(warnings=(SettingWarning(str(path), 0, "", f"not used: {reason}"),))
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        line = int(found[1]) if found else 0
        return FileContent(warnings=(SettingWarning(str(path), line, "", f"not used, it is not TOML: {error}"),))
    return _Reader(str(path), text, personal).read(data)


def known_key(name: str) -> Key:
    """The setting called ``name``. Raises SettingError with near misses."""
    if name in KEYS:
        return KEYS[name]
    parts = name.split(".")
    if len(parts) == 3 and parts[0] == "providers" and parts[1] and parts[2] in PROVIDER_KEYS:
        return PROVIDER_KEYS[parts[2]]
    if len(parts) == 2 and parts[0] == "keys" and parts[1]:
        return Key(name, str, "", "keys that do it, parted by commas", group="keys", personal=True)
    raise SettingError(f"there is no setting {name!r}{_near(name, KEYS)}")


def line_of(text: str, key: str) -> int:
    """The line on which ``key`` (dotted) is set or its table begins, counted from 1; 0 when it is not found."""
    table: tuple[str, ...] = ()
    wanted, best = tuple(key.split(".")), 0
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[+([^\]]+)\]", line):
            table = _dotted(header[1])
            here = table
        elif assigned := re.match(r"\s*([\w\-.\"' ]+?)\s*=", line):
            here = (*table, *_dotted(assigned[1]))
        else:
            continue
        if here == wanted:
            return number
        if not best and here == wanted[: len(here)] and here != table:
            best = number
    return best


class _Reader:
    """Sorts the data of one file into values and warnings."""

    def __init__(self, source: str, text: str, personal: bool) -> None:
        self._source = source
        self._text = text
        self._personal = personal
        self._warnings: list[SettingWarning] = []

    def read(self, data: dict[str, Any]) -> FileContent:
        providers, keys = data.pop("providers", {}), data.pop("keys", {})
        task = read_task(data.pop("task"), self._refuse) if "task" in data else TaskSettings()
        values: dict[str, Value] = {}
        for name, value in _flat(data):
            self._take(values, name, KEYS.get(name), name, value)
        return FileContent(values, self._keys(keys), self._providers(providers), task, tuple(self._warnings))

    def _keys(self, data: object) -> dict[str, str]:
        """Action to keys; whether there is such an action and such a key is for the screens to say."""
        if not isinstance(data, dict):
            self._refuse("keys", "must be a table: [keys]")
            return {}
        if data and not self._personal:
            self._refuse("keys", NOT_YOURS)
            return {}
        for action in [name for name, keys in data.items() if not isinstance(keys, str)]:
            self._refuse(f"keys.{action}", 'must be text such as "ctrl+g"')
            del data[action]
        return data

    def _providers(self, data: object) -> dict[str, Mapping[str, Value]]:
        if not isinstance(data, dict):
            self._refuse("providers", "must be a table of tables: [providers.NAME]")
            return {}
        found: dict[str, Mapping[str, Value]] = {}
        for provider, keys in data.items():
            if not isinstance(keys, dict):
                self._refuse(f"providers.{provider}", "must be a table")
                continue
            values: dict[str, Value] = {}
            for name, value in keys.items():
                self._take(values, name, PROVIDER_KEYS.get(name), f"providers.{provider}.{name}", value)
            found[provider] = values
        return found

    def _take(self, values: dict[str, Value], name: str, key: Key | None, shown: str, value: object) -> None:
        if key is None:
            known = PROVIDER_KEYS if shown.startswith("providers.") else KEYS
            self._refuse(shown, f"there is no such setting{_near(name, known)}")
            return
        if key.personal and not self._personal:
            self._refuse(shown, NOT_YOURS)
            return
        try:
            values[name] = key.check(value)
        except SettingError as error:
            self._refuse(shown, str(error))

    def _refuse(self, key: str, reason: str) -> None:
        self._warnings.append(SettingWarning(self._source, line_of(self._text, key), key, f"not used: {reason}"))


def _flat(data: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted names and values; a table that no setting lies below is one value."""
    for name, value in data.items():
        full = f"{above}{name}"
        if isinstance(value, dict) and any(known.startswith(f"{full}.") for known in KEYS):
            yield from _flat(value, f"{full}.")
        else:
            yield full, value


def _near(name: str, known: Mapping[str, Key]) -> str:
    from engine.models.spec import near

    close = near(name, known, limit=1)
    return f"; did you mean {close[0]}?" if close else ""


def _dotted(text: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in text.split("."))
