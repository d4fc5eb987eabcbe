"""Approval rules: one line of text each, readable and editable by hand.

    allow shell git commit *        allow write src/**        deny shell curl *

Words of a shell rule are matched against the parsed words of *every* simple command of a line, so a rule for
``git log *`` says nothing about ``git log; rm x``, ``git log | sh``, ``git log > f`` or ``git -c … log``. A line that
holds anything but plain words (substitution, redirection, assignment, globs, control flow) matches no allow rule.
``*`` as the last word stands for any further words, inside a word for any characters of it; quoted it is itself.

Risk. A rule admits at most the risk it was confirmed for. One made from a high-risk request admits high risk, for
exactly the text the person confirmed; any other, and one written by hand without ``risk = "high"``, stops at medium.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath

from sandbox.risk import Risk

_ACTIONS = ("allow", "deny")
_KINDS = {"shell": "command", "write": "write", "read": "read"}
_ANY_REST = "*"

# Programs whose first argument says what they do: a suggested rule keeps it.
_WITH_VERBS = frozenset(
    "git npm pnpm yarn npx cargo go pip pip3 uv poetry docker podman kubectl gh make just mvn gradle dotnet bundle "
    "composer brew apt terraform helm systemctl mix rails deno bun".split()
)
# Programs that run the file named by their first argument: a suggested rule keeps it, or is exact.
_INTERPRETERS = frozenset("python python3 node bash sh dash zsh ruby perl php lua Rscript java env xargs sudo".split())


class RuleError(ValueError):
    """A rule that cannot be read; the text says what is wrong with which part."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``kind`` is command, write or read; ``words`` are regular expressions, one a word (or one path)."""

    text: str
    allow: bool
    kind: str
    words: tuple[str, ...]
    open_ended: bool = False
    wildcard: bool = False
    ceiling: Risk = Risk.MEDIUM

    def fits(self, argv: tuple[str, ...]) -> bool:
        """Whether a simple command (or a path, as its only word) is one of those the rule speaks of."""
        if len(argv) < len(self.words) or (len(argv) > len(self.words) and not self.open_ended):
            return False
        return all(re.fullmatch(word, said, re.DOTALL) for word, said in zip(self.words, argv, strict=False))


def parse_rule(text: str, ceiling: Risk = Risk.MEDIUM) -> Rule:
    """Read a rule. Raises RuleError."""
    text = text.strip()
    if "\n" in text:
        raise RuleError("a rule is one line")
    action, _, rest = text.partition(" ")
    kind, _, pattern = rest.strip().partition(" ")
    if action not in _ACTIONS:
        raise RuleError(f"a rule begins with allow or deny, not {action!r}")
    if kind not in _KINDS:
        raise RuleError(f"after {action} comes shell, write or read, not {kind!r}")
    if not pattern.strip():
        raise RuleError(f"nothing follows {kind}: say what to {action}")
    rule = _shell_rule(pattern.strip()) if kind == "shell" else _path_rule(pattern.strip())
    return replace(rule, text=text, allow=action == "allow", kind=_KINDS[kind], ceiling=ceiling)


def _shell_rule(pattern: str) -> Rule:
    from sandbox.classify.line import read_line
    from sandbox.classify.words import NotPlain

    try:
        line = read_line(pattern)
    except NotPlain as error:
        raise RuleError(f"{pattern!r} cannot be read as words: put quotes around special characters") from error
    if len(line.commands) != 1 or any(line.joined):
        raise RuleError("a rule speaks of one command: no ; | & or line breaks outside quotes")
    command = line.commands[0]
    if command.redirects or command.assigns:
        raise RuleError("a rule cannot hold redirections or NAME=value before the program")
    for word in command.words:
        if word.expands or word.unknown or (word.glob and set("?[") & set(word.mask)):
            raise RuleError(f"{word.text!r}: only * is a wildcard; put quotes around other special characters")
    words = [(_expression(word.text, word.mask, ".*"), word.glob) for word in command.words]
    if words[0][1]:
        raise RuleError("the program itself must be named without *")
    open_ended = len(words) > 1 and command.words[-1].mask == _ANY_REST
    if open_ended:
        words.pop()
    wildcard = open_ended or any(glob for _, glob in words)
    return Rule("", True, "", tuple(word for word, _ in words), open_ended, wildcard)


def _expression(text: str, mask: str, any_text: str) -> str:
    """A regular expression for a word whose unquoted ``*`` (those in ``mask``) match ``any_text``."""
    return "".join(any_text if sign == "*" else re.escape(char) for char, sign in zip(text, mask, strict=True))


def _path_rule(pattern: str) -> Rule:
    path = PurePosixPath(pattern)
    if path.is_absolute() or ".." in path.parts or pattern.startswith("~"):
        raise RuleError(f"{pattern!r} must be a path inside the workspace, written relative to it")
    pieces = []
    for part in path.parts:
        if "**" in part and part != "**":
            raise RuleError(f"{part!r}: ** stands alone between slashes")
        pieces.append("(?:[^/]+/)*" if part == "**" else _expression(part, part, "[^/]*") + "/")
    text = "".join(pieces)
    expression = text + "[^/]+" if path.parts[-1] == "**" else text.removesuffix("/")
    return Rule("", True, "", (expression,), wildcard="*" in pattern)


@lru_cache(maxsize=256)
def simple_commands(command: str) -> tuple[tuple[str, ...], ...] | None:
    """The words of every simple command of a line; None when the line holds anything but plain words."""
    from sandbox.classify import commands

    return commands(command)


def admits(rules: Iterable[Rule], kind: str, subject: str, risk: Risk) -> Rule | None:
    """The (last needed) rule by which all of ``subject`` is allowed, or None: every part needs a rule of its own."""
    parts = simple_commands(subject) if kind == "command" else ((subject,),)
    usable = [rule for rule in rules if rule.allow and rule.kind == kind and risk <= rule.ceiling]
    found: Rule | None = None
    for part in parts or ():
        found = next((rule for rule in usable if rule.fits(part)), None)
        if found is None:
            return None
    return found


def forbids(rules: Iterable[Rule], kind: str, subject: str) -> Rule | None:
    """The rule by which any part of ``subject`` is denied, or None.

    A line that cannot be taken apart is denied when the words of a deny rule stand anywhere in it.
    """
    denying = [rule for rule in rules if not rule.allow and rule.kind == kind]
    if not denying:
        return None
    parts = simple_commands(subject) if kind == "command" else ((subject,),)
    if parts is None:
        return next((rule for rule in denying if _stands_in(rule, subject)), None)
    return next((rule for rule in denying if any(rule.fits(part) for part in parts)), None)


def _stands_in(rule: Rule, command: str) -> bool:
    words = r"['\"]?\s+['\"]?".join(rule.words)
    return re.search(rf"(?<![\w./-]){words}(?![\w./-])", command) is not None


def suggest_shell(argv: tuple[str, ...], risk: Risk) -> str:
    """The rule an "always" would store for one simple command: exact for high risk, else by program and verb."""
    if any(not word.isprintable() for word in argv) or not argv:
        return ""
    verb = len(argv) > 1 and re.fullmatch(r"[A-Za-z0-9_./][\w./:@-]*", argv[1]) is not None
    if risk is Risk.HIGH or (argv[0] in _INTERPRETERS and not verb):
        return f"allow shell {shlex.join(argv)}"
    keep = 2 if verb and argv[0] in _WITH_VERBS | _INTERPRETERS else 1
    return f"allow shell {shlex.join(argv[:keep])} *"


def suggest_path(kind: str, path: str) -> str:
    """The rule an "always" would store for a file: everything in its folder, or only it when it lies at the top."""
    folder, slash, _ = path.rpartition("/")
    if not path.isprintable() or "*" in path:
        return ""
    return f"allow {kind} {folder}/**" if slash else f"allow {kind} {path}"


def try_rule(text: str, commands: Iterable[str], workspace: Path | None = None) -> tuple[str, ...]:
    """Those of ``commands`` the rule would have allowed (or denied). Raises RuleError.

    ``workspace`` is where they ran; with it, high-risk ones are left out unless the rule names them word for word.
    """
    rule = parse_rule(text, Risk.HIGH)
    if rule.kind != "command":
        return ()
    if not rule.allow:
        return tuple(c for c in commands if forbids((rule,), "command", c))
    return tuple(c for c in commands if admits((rule,), "command", c, Risk.LOW) and _would_stop(rule, c, workspace))


def _would_stop(rule: Rule, command: str, workspace: Path | None) -> bool:
    if not rule.wildcard or workspace is None:
        return True
    from sandbox.classify import classify

    return classify(command, workspace=workspace).risk < Risk.HIGH
