"""What is being completed, and what a slash command says. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

_COMMAND_BEING_TYPED = re.compile(r"/([\w-]*)")
_FILE_BEING_TYPED = re.compile(r"(?:^|\s)@([^\s@]*)$")
_COMMAND = re.compile(r"/([\w-]+)(?:[ \t]+(.*))?")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A word that can be completed: its kind, the column it starts at (the sign included), what was typed of it."""

    kind: Literal["file", "command"]
    start: int
    typed: str


def wanted(line: str, column: int, only_line: bool) -> Wanted | None:
    """What the text before the cursor asks to be completed."""
    head = line[:column]
    if only_line and (command := _COMMAND_BEING_TYPED.fullmatch(head)):
        return Wanted("command", 0, command[1])
    if file := _FILE_BEING_TYPED.search(head):
        return Wanted("file", file.start(1) - 1, file[1])
    return None


def command_of(text: str) -> tuple[str, str] | None:
    """``(command, argument)`` of a text that is a slash command: one line, one slash, one word after it."""
    found = _COMMAND.fullmatch(text.strip())
    return (found[1], (found[2] or "").strip()) if found else None


def matching(typed: str, commands: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Commands that begin with what was typed, then those that hold its letters in order."""
    begin = [command for command in commands if command[0].startswith(typed)]
    loose = re.compile(".*".join(map(re.escape, typed)))
    return begin + [command for command in commands if command not in begin and loose.search(command[0])]


def nearest(typed: str, commands: Sequence[tuple[str, str]]) -> str:
    """The command that was probably meant; '' when none is near."""
    near = difflib.get_close_matches(typed, [name for name, _ in commands], n=1, cutoff=0.6)
    return near[0] if near else ""
