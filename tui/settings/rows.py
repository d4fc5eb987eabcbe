"""What the settings screen lists: what is wrong, then every setting, then every action with its keys. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.actions import ACTIONS, Action, key_name
from tui.keymap import keymap
from tui.look import homely

if TYPE_CHECKING:
    from engine.settings_shown import SettingProblem, SettingRow, SettingsShown
    from engine.state import TaskState

PROBLEMS, KEYS = "not used", "keys"
WHOSE = {"user": "your file", "project": "project's file"}
ORDER = ("default", "user", "project", "environment", "command line")
"""The sources, the weakest first."""
NEXT_SESSION, AT_ONCE = "from the next session on", "at once"
# What changes the session that is open, by the beginning of the setting's name.
HERE = {"model": "/model", "approve": "/approve", "limits.": "/limits", "compaction": "/compact auto or off"}


@dataclass(frozen=True, slots=True)
class Said:
    """What one source says, in words. ``holds``: this is the value in force."""

    source: str
    value: str
    where: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the list. ``mine``: what the person's own file says, '' for nothing. ``note``: what is odd about it.
    ``path`` and ``line``: where it stands. ``facts``: label and words. One of ``row``, ``action`` and ``problem`` is
    what it is about."""

    group: str
    name: str
    value: str
    source: str
    meaning: str
    mine: str = ""
    note: str = ""
    path: str = ""
    line: int = 0
    facts: tuple[tuple[str, str], ...] = ()
    said: tuple[Said, ...] = ()
    row: SettingRow | None = None
    action: Action | None = None
    problem: SettingProblem | None = None

    @property
    def key(self) -> str:
        """The name it has in the file."""
        return f"keys.{self.action.name}" if self.action else self.name

    @property
    def editable(self) -> bool:
        """Whether it can be changed here, and not in the file alone."""
        if self.action is not None:
            return self.action.place != "widget"
        return self.row is not None and self.row.editable

    def has(self, words: Sequence[str]) -> bool:
        """Whether all the words are somewhere in it."""
        text = f"{self.group} {self.name} {self.value} {self.source} {self.meaning} {self.note}".casefold()
        return all(word in text for word in words)


def entries(shown: SettingsShown, session: Mapping[str, object], themes: Sequence[str]) -> tuple[Entry, ...]:
    """All there is to list. ``session``: settings the open session has; ``themes``: those that can be put on."""
    settings = tuple(_setting(row, session, shown, themes) for row in shown.rows)
    screens = [entry for entry in settings if entry.row and entry.row.group not in ("providers", "task")]
    rest = [entry for entry in settings if entry not in screens]
    refused = keymap({name: keys for name, (keys, _) in shown.keys.items()}, ACTIONS).refused
    actions = (_keys(action, shown, refused.get(action.name, "")) for action in ACTIONS)
    return (*_problems(shown, refused, themes), *screens, *actions, *rest)


def of_session(state: TaskState | None) -> dict[str, object]:
    """What the open session has, by the name of the setting."""
    if state is None:
        return {}
    limits = {f"limits.{name}": value for name, value in state.limits.model_dump().items()}
    return {"model": state.model, "approve": state.approve, "compaction": state.compaction} | limits


def value_words(value: object) -> str:
    """A value as a person would write it; '' for none."""
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def _setting(row: SettingRow, session: Mapping[str, object], shown: SettingsShown, themes: Sequence[str]) -> Entry:
    mine = row.of("user")
    path, line = _place(mine.where) if mine else (shown.file, 0)
    may_be = f"one of {len(themes)} themes; Enter lists them" if row.name == "theme" else row.may_be
    facts = [("may be", may_be), ("counts", AT_ONCE if row.at_once else NEXT_SESSION)]
    if row.name in session:
        change = next((how for name, how in HERE.items() if row.name.startswith(name)), "")
        present = value_words(session[row.name]) or "none"
        facts.append(("session", f"the open one has {present}" + (f"; {change} changes it" if change else "")))
    if not row.editable:
        facts.append(("change", "o opens the file in your editor"))
    elif row.at_once:
        facts.append(("project", "no project may set this"))
    return Entry(
        group=row.group,
        name=row.name,
        value=value_words(row.value),
        source=WHOSE.get(row.source, row.source),
        meaning=row.meaning,
        mine=value_words(mine.value) if mine else "",
        note=_stronger(row),
        path=path,
        line=line,
        facts=tuple(facts),
        said=tuple(_all_said(row)),
        row=row,
    )


def _stronger(row: SettingRow) -> str:
    """That the person's own value does not hold, and why."""
    mine = row.of("user")
    if mine is None or row.source == "user":
        return ""
    if row.source == "default":
        return "your address is left aside: it belongs to the model your file names"
    other = row.of(row.source)
    named = f"{WHOSE.get(row.source, row.source)} {homely(other.where) if other else ''}".rstrip()
    return f"your file says {value_words(mine.value) or 'nothing'}, but {named} is stronger"


def _all_said(row: SettingRow) -> Iterator[Said]:
    for source in ORDER:
        said = row.of(source)
        if source == "default":
            yield Said(source, value_words(row.default), "", row.source == source)
        elif said is not None:
            yield Said(WHOSE.get(source, source), value_words(said.value), said.where, row.source == source)


def _place(where: str) -> tuple[str, int]:
    """A file and a line from ``path:line``."""
    path, colon, line = where.rpartition(":")
    return (path, int(line)) if colon and line.isdigit() else (where, 0)


def _keys(action: Action, shown: SettingsShown, refused: str) -> Entry:
    own, line = shown.keys.get(action.name, ("", 0))
    default = _named(action.keys + action.typed)
    may_be = "any key; one that writes counts while nothing is typed" if action.typed else "any key that writes nothing"
    facts = [("may be", may_be)]
    if action.place == "widget":
        facts = [("change", "this one cannot be changed: where you type decides it")]
    facts.append(("counts", AT_ONCE))
    if action.slash:
        facts.append(("command", f"/{action.slash}"))
    holds = bool(own) and not refused
    said = [Said("default", default, "", not holds)]
    if own:
        said.append(Said(WHOSE["user"], own, f"{shown.file}:{line}", holds))
    return Entry(
        group=KEYS,
        name=action.name,
        value=_named(action.shown) if holds else default,
        source=WHOSE["user"] if holds else "default",
        meaning=action.title,
        mine=own,
        note=f"your file says {own}: {refused}" if refused else "",
        path=shown.file,
        line=line,
        facts=tuple(facts),
        said=tuple(said),
        action=action,
    )


def _named(keys: Sequence[str]) -> str:
    return ", ".join(map(key_name, keys))


def _problems(shown: SettingsShown, refused: Mapping[str, str], themes: Sequence[str]) -> Iterator[Entry]:
    from engine.settings_shown import SettingProblem

    found = list(shown.problems)
    for name, reason in refused.items():
        found.append(SettingProblem(shown.file, shown.keys[name][1], f"keys.{name}", f"not used: {reason}"))
    theme = next(row for row in shown.rows if row.name == "theme")
    if theme.value and theme.value not in themes:
        near = difflib.get_close_matches(str(theme.value), themes, n=1)
        path, line = _place(theme.said[-1].where)
        reason = "not used: there is no such theme" + (f"; did you mean {near[0]}?" if near else "")
        found.append(SettingProblem(path if line else "", line, "theme", reason))
    for problem in found:
        where = f"{problem.path}:{problem.line}" if problem.line else problem.path or "environment"
        opens = (("change", "Enter opens it there in your editor"),) if problem.path else ()
        yield Entry(
            group=PROBLEMS,
            name=problem.key or "the whole file",
            value="",
            source=where,
            meaning=problem.reason,
            path=problem.path,
            line=problem.line,
            facts=(("where", homely(where)), *opens),
            problem=problem,
        )
