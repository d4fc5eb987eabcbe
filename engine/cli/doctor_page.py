"""What ``agent-tui doctor`` prints about the sandbox: at most 80 columns, told by words and signs, never by colour."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from sandbox.backends.base import Capabilities
from sandbox.proof.lines import LINES, Check, Proof, State

_WIDTH = 79
_SIGNS = {State.ENFORCED: "✓", State.PARTLY: "~", State.NOT: "✗"}
# What helps with a line when the backend itself has no better word.
_ADVICE = {
    "system calls": "install the wheel that builds the filter: pip install seccompy",
    "resources": "start it where control groups may be made (systemd-run --user --scope -p Delegate=yes agent-tui), "
    "or not as root: then the kernel counts processes itself",
}


def page(proof: Proof, default: str) -> list[str]:
    """The page's lines. ``default``: the backend that is used when none is named."""
    return [*_head(proof.found[default]), "", *_table(proof, default), "", *_foot(proof, default), ""]


def _head(found: Capabilities) -> Iterator[str]:
    if found.contained:
        walls = "with a system call filter" if found.filtered else "without a system call filter"
        second = f" and Landlock {found.landlock}" if found.landlock else ""
        yield f"sandbox   {found.name}, {walls}{second}"
    else:
        yield from wrapped(f"none: {found.why}", "sandbox   ")
        yield from wrapped(found.hint, "          ")
        yield "          every command asks a person first"
    for gap in found.gaps:
        yield from wrapped(gap, "missing   ")


def _table(proof: Proof, default: str) -> Iterator[str]:
    others = [name for name in proof.found if name != default]
    columns = [default, *others]
    yield f"{'':<20}{''.join(f'{name:<18}' for name in columns)}attacks stopped".rstrip()
    for number, line in enumerate(LINES, 1):
        states = "".join(f"{_said(proof.state(line, name)):<18}" for name in columns)
        yield f"{number:>2} {line:<17}{states}{_count(proof, line, default)}".rstrip()
        if proof.state(line, default) is not State.ENFORCED:
            yield from _trouble(proof, line, default)


def _said(state: State) -> str:
    return f"{_SIGNS[state]} {state.value}"


def _count(proof: Proof, line: str, backend: str) -> str:
    """So many of those that work bare."""
    if backend not in proof.backends:
        return ""
    attacks = [check for check in proof.of(line) if not check.wanted and check.bare == "open"]
    return f"{sum(check.held(backend) for check in attacks)} of {len(attacks)}"


def _trouble(proof: Proof, line: str, backend: str) -> Iterator[str]:
    """What got through, and what to do."""
    found = proof.found[backend]
    if backend in proof.backends:
        through = [_failure(check, backend) for check in proof.of(line) if check.failed(backend)]
        yield from wrapped("; ".join(through) or "nothing could be proved: bare, this kernel refuses all of it", "   ")
    advice = _ADVICE.get(line, "") if found.contained else ""
    yield from wrapped(f"do: {advice or found.hint or 'report it, with the output of doctor --json'}", "   ")


def _failure(check: Check, backend: str) -> str:
    return f"does not work: {check.what}" if check.wanted else f"got through: {check.what}"


def _foot(proof: Proof, default: str) -> Iterator[str]:
    if default not in proof.backends:
        return
    if allowed := [check.what for check in proof.checks if check.by_policy(default)]:
        yield from wrapped(f"{_and(allowed)}: allowed under the policy workspace; strict refuses it", "built     ")
    if unproved := [check.what for check in proof.checks if check.bare != "open"]:
        yield from wrapped(f"{_and(unproved)}: refused here even bare, so it proves nothing", "unproved  ")


def _and(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def wrapped(text: str, label: str) -> list[str]:
    """``text`` in lines of the page's width behind a label; lines after the first are indented like it."""
    return textwrap.wrap(text, _WIDTH, initial_indent=label, subsequent_indent=" " * len(label))
