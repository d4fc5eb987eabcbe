"""Whether the success of a command line is the success of tests. Strict: what is not certain is no proof.

The line is read as the sandbox reads it, never by looking for words in it; bash runs it without ``pipefail``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.testers import inner_shell, is_test, without_wrappers
from sandbox.classify.line import Command, Line, read_line
from sandbox.classify.words import NotPlain

DEEPEST = 4
# Where the classifier may think itself: what a line changes is judged by its text alone.
_NOWHERE = Path("/nowhere")
# After these, a line is no longer read as it looks, or may end before its tests do.
_UNSETTLING = frozenset(
    [
        "alias",
        "unalias",
        "trap",
        "exit",
        "return",
        "eval",
        "enable",
        "hash",
        "shopt",
        "builtin",
        "function",
        "break",
        "continue",
        "source",
        ".",
        "kill",
        "read",
        "mapfile",
        "coproc",
        "wait",
    ]
)
_TURNS_TESTS_OFF = re.compile(
    r"PATH|.*_ADDOPTS|LD_\w+|BASH_\w+|ENV|SHELLOPTS|MAKEFLAGS|GOFLAGS|MAVEN_\w+|JAVA_TOOL_\w+"
)
_LOOKS_LIKE_TESTS = re.compile(r"\b(pytest|unittest|tox|nox|jest|vitest|ctest|rspec|test|check)\b")


@dataclass(frozen=True, slots=True)
class _Shell:
    """How the shell takes failures: of any part of a pipe, and whether it ends at the first."""

    pipefail: bool = False
    errexit: bool = False


def tests_passed(command: str) -> bool | None:
    """What success of ``command`` says: True, that tests passed; False, nothing, since it runs tests but its exit code
    may not be theirs (``pytest || true``); None, it runs no tests we know."""
    return _success(command, _Shell(), 0)


def only_reads(command: str) -> bool:
    """Whether ``command`` certainly changes no file, by the sandbox's classifier."""
    from sandbox.classify import classify
    from sandbox.risk import Risk

    return classify(command, workspace=_NOWHERE, home=_NOWHERE / "home").risk is Risk.LOW


def _success(text: str, shell: _Shell, depth: int) -> bool | None:
    try:
        line = read_line(text)
    except NotPlain:
        return False if _LOOKS_LIKE_TESTS.search(text) else None
    verdicts = [_verdict(item, shell, depth) for item in line.commands]
    if all(verdict is None for verdict in verdicts):
        return None
    if depth > DEEPEST or False in verdicts or not _steady(text, line):
        return False
    return _counts(text, line, verdicts, shell)


def _verdict(item: Command, shell: _Shell, depth: int) -> bool | None:
    """What success of one simple command says; a shell is asked what success of its script says."""
    words = without_wrappers(item.argv)
    script = inner_shell(words)
    if script is not None:
        if not all(word.literal for word in item.words):
            return False if _LOOKS_LIKE_TESTS.search(script.text) else None
        return _success(script.text, _Shell(script.pipefail, script.errexit), depth + 1)
    found = is_test(words)
    if found is None:
        return None
    certain = found and not any(word.unknown or word.could_be_option for word in item.words)
    return certain and not any(_turns_off(word.text) for word in (*item.assigns, *item.words))


def _turns_off(assignment: str) -> bool:
    name, equals, _ = assignment.partition("=")
    return bool(equals) and _TURNS_TESTS_OFF.fullmatch(name.rstrip("+")) is not None


def _steady(text: str, line: Line) -> bool:
    """Whether the exit code of the line is what its last commands say: nothing in it goes another way round."""
    if "||" in line.joined or "&" in line.joined:
        return False
    for item in line.commands:
        parts = [word.start for word in (*item.assigns, *item.words)] + [part.start for part in item.redirects]
        if text[item.start : min(parts)].strip():
            return False  # turned round by `!`
        if item.name in _UNSETTLING and not (item.name in ("source", ".") and item.argv[-1].endswith("/activate")):
            return False
        if item.name == "exec" and len(item.words) < 2:
            return False
        if (not item.words or item.name in ("export", "declare", "typeset", "readonly")) and any(
            _turns_off(word.text) for word in (*item.assigns, *item.words)
        ):
            return False
    return True


def _counts(text: str, line: Line, verdicts: Sequence[bool | None], shell: _Shell) -> bool:
    """Whether a failure of any test run would be a failure of the line, and nothing changed files after one."""
    last, tested = len(line.commands) - 1, False
    for place, item in enumerate(line.commands):
        shell = _told(item, shell)
        if verdicts[place] is None:
            if tested and not only_reads(text[item.start : item.end]):
                return False
            continue
        tested = True
        rest = line.joined[place:]
        end = next((n for n, join in enumerate(rest) if join not in ("|", "|&")), len(rest))
        if end and not shell.pipefail:
            return False
        alone = place + end == last or rest[end] in ("", ";", "\n")
        final = all(join in ("&&", "|", "|&", "") for join in rest[:-1]) and rest[-1] in ("", ";", "\n")
        if not final and not (alone and shell.errexit):
            return False
    return True


def _told(item: Command, shell: _Shell) -> _Shell:
    """What ``set`` makes of the shell, where it is not in a pipe."""
    if item.name != "set" or item.upstream or item.downstream:
        return shell
    words = item.argv[1:]
    for place, word in enumerate(words):
        on = word.startswith("-")
        if word[:1] in "-+" and "e" in word[1:]:
            shell = replace(shell, errexit=on)
        if word in ("-o", "+o") or (word[:1] in "-+" and word.endswith("o")):
            name = words[place + 1] if place + 1 < len(words) else ""
            shell = replace(shell, pipefail=on) if name == "pipefail" else shell
            shell = replace(shell, errexit=on) if name == "errexit" else shell
    return shell
