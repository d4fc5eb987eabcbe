"""The shapes in which the engine tells the screens of the settings: plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.settings_keys import Value


@dataclass(frozen=True, slots=True)
class SettingSaid:
    """What one source says of a setting. ``source``: user, project, environment or command line; ``where``: the file
    with the line, or the variable."""

    source: str
    where: str
    value: Value


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting. ``source`` of the ``value`` that holds: as in SettingSaid, or default. ``said``: what every source
    says, the weakest first. ``at_once``: a change shows at once, else from the next session on. ``editable`` False: it
    can be changed in its file only."""

    name: str
    group: str
    meaning: str
    may_be: str
    value: Value
    source: str
    default: Value = None
    said: tuple[SettingSaid, ...] = ()
    choices: tuple[str, ...] = ()
    switch: bool = False
    at_once: bool = False
    editable: bool = True

    def of(self, source: str) -> SettingSaid | None:
        """What ``source`` says of it; None when it says nothing."""
        return next((said for said in self.said if said.source == source), None)


@dataclass(frozen=True, slots=True)
class SettingProblem:
    """Something in the settings that is not used. ``path`` is empty and ``line`` 0 where there is no file or line;
    ``key``: what it is about; ``reason``: why, and what may have been meant."""

    path: str
    line: int
    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class SettingsShown:
    """``file``: the person's own, ``project``: that of the folder, empty when there is none. ``keys``: actions a person
    gave other keys: the keys as written, and the line of the file."""

    rows: tuple[SettingRow, ...]
    problems: tuple[SettingProblem, ...]
    keys: Mapping[str, tuple[str, int]]
    file: str
    project: str = ""
