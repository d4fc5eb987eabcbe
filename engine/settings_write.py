"""Changing one setting in the person's own file, without touching the rest of it."""

from __future__ import annotations

import json
import os
import stat
import tempfile
import threading
import tomllib
from pathlib import Path
from typing import Any

from engine.paths import Home
from engine.settings_file import known_key
from engine.settings_keys import SettingError, Value

_BOM = "\ufeff"
# Two changes at once would each be written over what the other had read.
_one_at_a_time = threading.Lock()


def write_setting(home: Home, key: str, value: Value) -> None:
    """Set ``key`` in the user's settings, or remove it with None. Comments, order and line ends stay; the file changes
    at once or not at all. Raises SettingError when there is no such setting, the value does not fit, or the file cannot
    be read or written."""
    from tomlkit.exceptions import TOMLKitError

    known = known_key(key)
    checked = None if value is None else known.check(value)
    path = home.settings
    with _one_at_a_time:
        try:
            before = path.read_bytes().decode("utf-8") if path.exists() else ""
            after = _changed(before.removeprefix(_BOM), key.split("."), checked)
        except (OSError, ValueError, TOMLKitError) as error:
            raise SettingError(f"{path} cannot be changed safely, so it was left alone: {error}") from error
        try:
            _replace(path, (_BOM if before.startswith(_BOM) else "") + after)
        except OSError as error:
            raise SettingError(f"{path} cannot be written: {error.strerror or error}") from error


def _changed(text: str, parts: list[str], value: Value) -> str:
    """``text`` with the one setting changed. Raises ValueError when it is no TOML, or would not come out as meant."""
    import tomlkit

    wanted = tomllib.loads(text)
    document = tomlkit.parse(text)
    _put(document, parts, value)
    changed = tomlkit.dumps(document)
    if text.count("\r\n") == text.count("\n") > 0:
        changed = changed.replace("\r\n", "\n").replace("\n", "\r\n")
    _put(wanted, parts, value)
    if _comparable(tomllib.loads(changed)) != _comparable(wanted):
        raise ValueError("the change would have altered something else")
    return changed


def _put(document: Any, parts: list[str], value: Value) -> None:
    import tomlkit

    table = document
    for part in parts[:-1]:
        if part not in table:
            if value is None:
                return
            table[part] = tomlkit.table()
        table = table[part]
        if not isinstance(table, dict):
            raise SettingError(f"{part!r} is no table in the file")
    if value is None:
        table.pop(parts[-1], None)
    elif parts[-1] in table or not isinstance(table, tomlkit.items.Table):
        table[parts[-1]] = value
    else:
        _add(table, parts[-1], value)


def _add(table: Any, name: str, value: Value) -> None:
    """A new line after the last of the table, before comments at its end: these are mostly about what comes next."""
    body = table.value.body
    at = len(body)
    while at and body[at - 1][0] is None:
        at -= 1
    rest = body[at:]
    del body[at:]
    table[name] = value
    body.extend(rest)


def _comparable(data: dict[str, Any]) -> str:
    """Equal for files that set the same: order and empty tables do not count, and nan is like nan."""
    return json.dumps(_without_empty(data), sort_keys=True, default=str)


def _without_empty(data: dict[str, Any]) -> dict[str, Any]:
    inner = {name: _without_empty(value) if isinstance(value, dict) else value for name, value in data.items()}
    return {name: value for name, value in inner.items() if value != {}}


def _replace(path: Path, text: str) -> None:
    """Write ``text`` beside ``path`` and move it there, so that no reader ever sees half of it. Who may read the file
    stays as it was; one that may not be written is not replaced either."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    if mode is not None and (not mode & 0o222 or not os.access(path, os.W_OK)):
        raise PermissionError(0, "it is read-only")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".new")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
