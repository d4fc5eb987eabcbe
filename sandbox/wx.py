"""Which programs of a command may have memory that is writable and executable: the named exceptions of the policy."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.policy import Policy

# Programs that only run another one, and how many operands of their own come before it.
_WRAPPERS = {"timeout": 1, "env": 0, "nice": 0, "time": 0, "nohup": 0, "stdbuf": 0, "setsid": 0, "command": 0}
_SHELLS = frozenset({"bash", "sh", "dash"})


def exceptions(policy: Policy, argv: Sequence[str]) -> tuple[str, ...]:
    """The names on ``policy.wx`` among the programs that ``argv`` runs; of a shell's line, all that it names.

    What only comes out when the line runs (a variable, ``eval``) and what another program starts is not named.
    """
    if not policy.wx:
        return ()
    named = [_program(words) for words in _commands(argv)]
    return tuple(dict.fromkeys(name for name in named if name in policy.wx))


def effect(policy: Policy, names: Sequence[str]) -> tuple[str, ...]:
    """What an exception means, for the person who is asked and for the record."""
    return tuple(f"{name} may map memory writable and executable (policy {policy.name})" for name in names)


def _commands(argv: Sequence[str]) -> Sequence[Sequence[str]]:
    if len(argv) < 3 or argv[-2] != "-c" or _base(argv[0]) not in _SHELLS:
        return (argv,)
    from sandbox.classify.tree import Unreadable, read_tree

    try:
        found = read_tree(argv[-1]).commands
    except Unreadable:
        return ()
    return tuple(command.argv for command in found if command.words and command.words[0].literal)


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
