"""Which programs of a command may have memory that is writable and executable: the named exceptions of the policy."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.policy import Policy

# Programs that only run another one, and how many operands of their own come before it.
_WRAPPERS = {"timeout": 1, "env": 0, "nice": 0, "time": 0, "nohup": 0, "stdbuf": 0, "setsid": 0, "command": 0}
_SHELLS = frozenset({"bash", "sh", "dash"})


def exceptions(policy: Policy, argv: Sequence[str]) -> tuple[str, ...]:
    """The names on ``policy.wx`` among the programs that ``argv`` runs, a shell's command line read as well.

    A line that is not plain (loops, substitutions) names no program for sure and gets no exception.
    """
    if not policy.wx:
        return ()
    named = (_program(words) for words in _commands(argv))
    return tuple(dict.fromkeys(name for name in named if name in policy.wx))


def effect(policy: Policy, names: Sequence[str]) -> tuple[str, ...]:
    """What an exception means, for the person who is asked and for the record."""
    return tuple(f"{name} may map memory writable and executable (policy {policy.name})" for name in names)


def _commands(argv: Sequence[str]) -> Sequence[Sequence[str]]:
    if len(argv) > 2 and argv[-2] == "-c" and _base(argv[0]) in _SHELLS:
        from sandbox.classify import commands

        return commands(argv[-1]) or ()
    return (argv,)


def _program(words: Sequence[str]) -> str:
    """The program itself, behind wrappers. An option with a value of its own hides it, and then there is none."""
    rest = list(words)
    while rest and (name := _base(rest[0])) in _WRAPPERS:
        rest = rest[1:]
        while rest and (rest[0].startswith("-") or (name == "env" and "=" in rest[0])):
            rest = rest[1:]
        rest = rest[_WRAPPERS[name] :]
    return _base(rest[0]) if rest else ""


def _base(path: str) -> str:
    return path.rpartition("/")[2]
