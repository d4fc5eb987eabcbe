"""Keys of a person's own choice: the table ``[keys]`` of the settings, checked against the actions there are."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from textual.keys import _character_to_key, key_to_character

from tui.actions import Action, key_name

# What a terminal can send: held keys, then a name or a character as Textual calls it.
_KEY = re.compile(r"(?:(?:ctrl|alt|shift|super)\+)*(?:[a-z_]{2,}\d*|f\d{1,2}|[^\s,+])")
_EDITING = frozenset({"space", "enter", "backspace", "delete", "left", "right", "up", "down", "home", "end"})
# Without these nobody finds the way out again.
_KEPT = {"ctrl+q": "quit", "ctrl+p": "command_palette"}


@dataclass(frozen=True, slots=True)
class Keymap:
    """``keys``: action to the keys that do it instead of its own. ``refused``: what could not be used and why."""

    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(f"[keys] {name}: {problem}" for name, problem in self.refused.items())

    def of(self, action: Action) -> tuple[str, ...]:
        """The keys that do ``action`` now, the first is the one to show."""
        return self.keys.get(action.name, action.keys + action.typed)

    def bound(self) -> dict[str, str]:
        """As Textual takes it: the id of a binding to its keys."""
        return {name: ",".join(keys) for name, keys in self.keys.items()}


def keymap(wanted: Mapping[str, str], actions: Iterable[Action]) -> Keymap:
    """The keymap that ``wanted`` (action name to keys, separated by commas) comes to."""
    every = tuple(actions)
    known = {action.name: action for action in every if action.place != "widget"}
    keys: dict[str, tuple[str, ...]] = {}
    refused: dict[str, str] = {}
    taken = {key: act.name for act in every if act.name not in wanted for key in act.keys + act.typed}
    for name, text in wanted.items():
        chosen = tuple(_normal(key) for key in text.split(",") if key.strip())
        if problem := _problem(name, chosen, known, taken):
            refused[name] = problem
            taken.update(dict.fromkeys(known[name].keys + known[name].typed, name) if name in known else {})
            continue
        keys[name] = chosen
        taken.update(dict.fromkeys(chosen, name))
    return Keymap(keys, refused)


def refusal(name: str, key: str, wanted: Mapping[str, str], actions: Iterable[Action]) -> str:
    """Why ``key`` cannot do the action ``name`` beside what is ``wanted`` of the others; empty when it can."""
    others = {other: keys for other, keys in wanted.items() if other != name}
    return keymap({**others, name: key}, actions).refused.get(name, "")


def written(key: str) -> str:
    """A key as a person would write it into the file: the character itself where it is one."""
    character = _character(key)
    return character if character not in ("", " ", ",", "+") else key


def _problem(name: str, keys: tuple[str, ...], known: Mapping[str, Action], taken: Mapping[str, str]) -> str:
    """Why these keys cannot be used; empty when they can."""
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        return "there is no such action" + (f"; did you mean {near[0]}?" if near else "")
    if not keys:
        return "no key is named; leave the line out for the key it has anyway"
    for key in keys:
        if not _KEY.fullmatch(key):
            return f"{key!r} is no key; write it like ctrl+g, alt+up, f7 or x"
        if _KEPT.get(key, name) != name:
            return f"{key_name(key)} stays with {_KEPT[key]}"
        # Those of the app come before what is being typed.
        if _is_typed(key) and (known[name].place == "app" or not known[name].typed):
            return f"{key!r} is a character people type; hold ctrl or alt with it, or take a function key"
        if taken.get(key, name) != name:
            return f"{key_name(key)} does {taken[key]} already; give that another key too"
    return ""


def _is_typed(key: str) -> bool:
    """Whether pressing it writes a character or edits the line being written."""
    return bool(_character(key)) or key in _EDITING


def _character(key: str) -> str:
    """What the key writes, '' for one that writes nothing."""
    character = key_to_character(key) or ""
    return character if character.isprintable() else ""


def _normal(key: str) -> str:
    """The key as Textual calls it."""
    key = key.strip()
    return _character_to_key(key) if len(key) == 1 else key.lower().replace(" ", "")
