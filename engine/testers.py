"""Programs that run tests, what wraps them, and the options with which they run none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_VARIABLE = re.compile(r"[A-Za-z_]\w*=")
_PYTHON = re.compile(r"python[\d.]*$")
_BINARIES = re.compile(r"(.*/)?\.?bin/[^/]+")
_SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh"})
_RUNNERS = frozenset({"pytest", "py.test", "tox", "nox", "jest", "vitest", "ctest", "rspec"})
_MODULES = frozenset({"pytest", "unittest", "tox", "nox"})
_WRAPPERS = frozenset({"env", "time", "nice", "nohup", "exec", "npx", "command", "sudo", "stdbuf"})
# Options of wrappers that take the next word as their value.
_TAKE_VALUE = {
    "sudo": {"-u", "-g", "-D"}, "nice": {"-n"}, "timeout": {"-k", "-s"}, "env": {"-u", "-C"},
    "stdbuf": {"-i", "-o", "-e"},
}  # fmt: skip
_TARGETS_ANYWHERE = frozenset({"make", "mvn", "gradle", "./gradlew", "./mvnw"})
_SUBCOMMAND = frozenset({"npm", "pnpm", "yarn", "cargo", "go"})
_MAKE_VALUES = frozenset({"-C", "-f", "-I", "-o", "-W", "-p", "-x"})

_NO_TESTS = frozenset(
    [
        "--version",
        "-V",
        "--help",
        "-h",
        "--collect-only",
        "--co",
        "--fixtures",
        "--markers",
        "--setup-plan",
        "--setup-only",
        "--listTests",
        "--showConfig",
        "--init",
        "--no-run",
        "--list",
        "--notest",
        "--listenvs",
        "--dry-run",
        "--just-print",
        "--recon",
        "--question",
        "--touch",
        "--ignore-errors",
        "--passWithNoTests",
        "--if-present",
        "--show-only",
        "--collect",
        "--fixtures-per-test",
        "--cache-show",
        "--suppress-no-test-exit-code",
        "--exclude-task",
        "--dryrun",
        "--list-envs",
        "-list",
        "-c",
    ]
)
_OF_PROGRAM = {
    "make": re.compile(r"-[A-Za-z]*[nqti][A-Za-z]*$"),
    "ctest": re.compile(r"-N$"),
    "tox": re.compile(r"-(l|a|la)$"),
    "nox": re.compile(r"-l$"),
    "go": re.compile(r"-(n|run|vet|exec)(=.*)?$"),
    "gradle": re.compile(r"-[mx]$"),
    "mvn": re.compile(r"-D(skip|maven\.test).*$"),
}


@dataclass(frozen=True, slots=True)
class Script:
    """What a shell is told to run, and how it takes failures."""

    text: str
    pipefail: bool
    errexit: bool


def without_wrappers(words: Sequence[str]) -> list[str]:
    """Without what only wraps a program: variables, env, timeout 60, time, nice, sudo, uv run and the like."""
    rest = list(words)
    while rest:
        name = rest[0].rpartition("/")[2]
        if _VARIABLE.match(rest[0]):
            rest = rest[1:]
        elif name in _WRAPPERS or name == "timeout":
            rest = _after_options(rest[1:], _TAKE_VALUE.get(name, set()))
            rest = rest[1:] if name == "timeout" else rest
        elif rest[:2] in (["uv", "run"], ["poetry", "run"], ["pdm", "run"], ["hatch", "run"], ["bundle", "exec"]):
            rest = rest[2:]
        elif rest[:3] == ["coverage", "run", "-m"]:
            rest = ["python", *rest[2:]]
        else:
            return rest
    return rest


def _after_options(words: list[str], take_value: set[str]) -> list[str]:
    rest = words
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in take_value else rest[1:]
    return rest


def inner_shell(words: Sequence[str]) -> Script | None:
    """The script in ``bash -euo pipefail -c SCRIPT``; None for anything else."""
    if not words or words[0].rpartition("/")[2] not in _SHELLS:
        return None
    names: list[str] = []
    reads = False
    rest = list(words[1:])
    while rest and rest[0].startswith("-") and not rest[0].startswith("--"):
        letters, rest = rest[0][1:], rest[1:]
        reads = reads or "c" in letters
        names += ["errexit"] if "e" in letters else []
        if letters.endswith("o") and rest:
            names, rest = [*names, rest[0]], rest[1:]
    if not reads or not rest:
        return None
    return Script(rest[0], "pipefail" in names, "errexit" in names)


def is_test(words: Sequence[str]) -> bool | None:
    """Whether this runs tests: True; False, a test program is called so that it may run none; None, no tests."""
    if not words:
        return None
    program = words[0] if words[0].startswith("./") else words[0].rpartition("/")[2]
    if _PYTHON.match(program):
        return _python(words)
    if program in _RUNNERS:
        known = "/" not in words[0] or _BINARIES.fullmatch(words[0]) is not None
        return known and _runs_some(program, words[1:])
    if program in _TARGETS_ANYWHERE:
        found = set(_operands(words[1:], _MAKE_VALUES if program == "make" else frozenset()))
        wanted = {"test"} if program in ("mvn", "./mvnw") else {"test", "check"}
        return _runs_some(program.removeprefix("./").removesuffix("w"), words[1:]) if found & wanted else None
    if program in _SUBCOMMAND:
        targets = _operands(words[1:], frozenset({"-C", "--prefix"}))
        targets = targets[1:] if targets[:1] == ["run"] and program not in ("cargo", "go") else targets
        return _runs_some(program, words[1:]) if targets[:1] == ["test"] else None
    return None


def _python(words: Sequence[str]) -> bool | None:
    rest = list(words[1:])
    while rest and re.fullmatch(r"-[uBIsEOW X]+", rest[0]):
        rest = rest[2:] if rest[0] in ("-W", "-X") else rest[1:]
    if len(rest) > 1 and rest[0] == "-m" and rest[1] in _MODULES:
        return _runs_some(rest[1], rest[2:])
    if len(rest) > 1 and rest[0].rpartition("/")[2] == "manage.py" and rest[1] == "test":
        return _runs_some("python", rest[2:])
    return None


def _operands(words: Sequence[str], take_value: frozenset[str]) -> list[str]:
    found: list[str] = []
    skip = False
    for word in words:
        if not skip and not word.startswith("-") and "=" not in word:
            found.append(word)
        skip = not skip and word in take_value
    return found


def _runs_some(program: str, options: Sequence[str]) -> bool:
    """No option with which ``program`` only lists, explains, or takes a failure for success."""
    own = _OF_PROGRAM.get(program)
    shown = {option.partition("=")[0] for option in options}
    quiet = _NO_TESTS - ({"-c"} if program not in ("go",) else set())
    return not (quiet & shown) and not any(own and own.match(option) for option in options)
