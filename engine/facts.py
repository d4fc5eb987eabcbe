"""Facts of a task that conditions speak of, and what a command line says about tests."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from engine.conditions import Value

if TYPE_CHECKING:
    from engine.events import ToolResult
    from engine.state import TaskState

KNOWN: dict[str, type] = {
    "tests_pass": bool, "confirmed_sources": float, "todo_open": float, "todo_done": float, "files_written": float,
    "files_read": float, "commands_failed": float, "turns": float, "calls": float, "cost": float,
}  # fmt: skip

UNKNOWN_TESTS = "no test has run since the last edit"
_RUNNERS = {"pytest", "py.test", "tox", "nox", "jest", "vitest", "ctest", "rspec"}
_WITH_TEST = {"npm", "pnpm", "yarn", "cargo", "go", "make", "mvn", "gradle", "./gradlew", "./mvnw"}
_TARGETS = {"test", "check"}
_VARIABLE = re.compile(r"[A-Za-z_]\w*=")
_PYTHON = re.compile(r"python[\d.]*$")
_NO_TESTS = {"--version", "--help", "-h", "--collect-only", "--co", "--no-run", "-n", "--dry-run", "--listTests"}


def facts(state: TaskState) -> dict[str, Value]:
    """The value of each fact in ``KNOWN``; None when it is not known."""
    return {
        "tests_pass": state.tests_pass,
        "confirmed_sources": float(len(state.sources)),
        "todo_open": float(len(state.todo) - state.todo_done),
        "todo_done": float(state.todo_done),
        "files_written": float(len(state.files_written)),
        "files_read": float(len(state.files_read)),
        "commands_failed": float(len(state.failed_commands)),
        "turns": float(state.turn),
        "calls": float(state.calls),
        "cost": state.cost,
    }


def evidence(state: TaskState, e: ToolResult) -> dict[str, Any]:
    """What a result says about tests, sources and failed commands, as changes of the state."""
    known: dict[str, Any] = dict(tests_pass=None) if e.files_written else {}
    if e.status == "ok" and e.external and e.external.url:
        known["sources"] = tuple(dict.fromkeys((*state.sources, e.external.url)))
    command = dict(state.commands).get(e.call_id)
    if command is None or e.exit_code is None:
        return known
    others = tuple(c for c in state.failed_commands if c != command)
    known["failed_commands"] = (*others, command) if e.exit_code else others
    says = test_run(command)
    if says is not None:
        # A failure is a failure however it came about; a success counts only when it is that of the tests.
        known["tests_pass"] = False if e.exit_code else (True if says else None)
    return known


def test_run(command: str) -> bool | None:
    """What success of ``command`` says: True, that tests passed; False, nothing, since it runs tests but its exit code
    is not theirs (``pytest || true``); None, it runs no tests we know."""
    parts = _split(command)
    places = [place for place, (words, _) in enumerate(parts) if _is_test(_bare(words))]
    if not places:
        return None
    joins = [join for _, join in parts[places[0] :]]
    # After a test run only `&&` keeps its failure; a pipe keeps it only where the shell was told so.
    return all(join in ("&&", "") or (join == "|" and "pipefail" in command) for join in joins) and not any(
        join in ("||", "&") for _, join in parts
    )


def _split(command: str) -> list[tuple[list[str], str]]:
    """(words, what joins it to the next) for each simple command; nothing when the quoting is broken."""
    lexer = shlex.shlex(command.strip().replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    parts: list[tuple[list[str], str]] = []
    words: list[str] = []
    try:
        for word in lexer:
            if word in ("&&", "||", "|", ";", "&", "|&"):
                parts.append((words, word))
                words = []
            elif word not in ("(", ")"):
                words.append(word)
    except ValueError:
        return []
    if words:
        parts.append((words, ""))
    elif parts and parts[-1][1] == ";":
        parts[-1] = (parts[-1][0], "")
    return parts


def _bare(words: list[str]) -> list[str]:
    """Without what only wraps a command: variables, env, timeout 60, time, nice, uv run and the like."""
    rest = list(words)
    while rest:
        if _VARIABLE.match(rest[0]) or rest[0] in ("env", "time", "nice", "nohup", "exec", "npx", "command"):
            rest = rest[1:]
        elif rest[0] == "timeout":
            rest = rest[1:]
            while rest and rest[0].startswith("-"):
                rest = rest[2:] if rest[0] in ("-k", "-s") else rest[1:]
            rest = rest[1:]
        elif rest[:2] in (["uv", "run"], ["poetry", "run"], ["bundle", "exec"]):
            rest = rest[2:]
        else:
            return rest
    return rest


def _is_test(words: list[str]) -> bool:
    if not words or _NO_TESTS & set(words[1:]):
        return False
    name = words[0] if words[0].startswith("./") else words[0].rsplit("/", 1)[-1]
    if name in _RUNNERS:
        return True
    if _PYTHON.match(name):
        return len(words) > 2 and words[1] == "-m" and words[2] in ("pytest", "unittest", "tox", "nox")
    targets = [word for word in words[1:] if not word.startswith("-")]
    if name in ("npm", "pnpm", "yarn") and targets[:1] == ["run"]:
        targets = targets[1:]
    wanted = _TARGETS if name in ("make", "gradle", "./gradlew") else {"test"}
    found = set(targets) if name in ("make", "mvn", "./mvnw", "gradle", "./gradlew") else set(targets[:1])
    return name in _WITH_TEST and bool(found & wanted)
