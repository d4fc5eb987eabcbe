"""``agent-tui sandbox``: run one command in the sandbox, or say what a command would risk."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli.rules import add_rules

if TYPE_CHECKING:
    from sandbox.backends.base import Backend
    from sandbox.policy import Policy
    from sandbox.preview import Preview

_USAGE, _UNUSABLE, _NOT_FOUND = 2, 1, 127


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = sub.add_parser(
        "sandbox",
        help="run one command in the sandbox, or say what one would risk",
        description="What the agent's commands run in, for anyone: no network, no secrets, writing only in one folder.",
        epilog="example: agent-tui sandbox exec -- make test",
    )
    parser.set_defaults(func=lambda _args: parser.error("say what to do: exec, classify or rules"))
    verbs = parser.add_subparsers(title="verbs", metavar="")
    _add_exec(verbs)
    _add_classify(verbs)
    add_rules(verbs)


def _add_exec(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = verbs.add_parser(
        "exec",
        help="run a program; its exit code is passed on",
        description="Stdin, stdout, stderr and signals are passed through. The folder is the workspace.",
        epilog="example: agent-tui sandbox exec --policy read-only -- rg TODO",
    )
    run.add_argument(
        "--policy", default="workspace", metavar="NAME|FILE", help="workspace (default), read-only, strict or a file"
    )
    run.add_argument("--backend", default="", metavar="NAME", help="bwrap or bare (which contains nothing)")
    run.add_argument("--cwd", type=Path, default=None, metavar="DIR", help="the workspace (default: this folder)")
    run.add_argument("argv", nargs=argparse.REMAINDER, metavar="-- ARGV", help="the program and its arguments")
    run.set_defaults(func=run_exec)


def _add_classify(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    tell = verbs.add_parser(
        "classify",
        help="risk, reasons and effects of a command, and what the gate would do",
        description="Nothing is run. With `-`, NUL-separated commands are read from stdin, one JSON object a line.",
        epilog="example: agent-tui sandbox classify 'git push origin main'",
    )
    tell.add_argument("command", metavar="COMMAND", help="a shell command line, or - for stdin")
    tell.add_argument("--json", action="store_true", help="one JSON object on stdout")
    tell.add_argument(
        "--approve", default="ask", choices=("ask", "deny", "rules", "sandboxed"), help="mode of the gate"
    )
    tell.set_defaults(func=run_classify)


def run_exec(args: argparse.Namespace) -> int:
    """Run the program. Its exit code; 2 for bad usage, 1 when no sandbox works here, 127 when there is no program."""
    from sandbox.backends import pick_backend
    from sandbox.policies import PolicyError, find_policy

    argv = args.argv[1:] if args.argv[:1] == ["--"] else args.argv
    if not argv:
        return _fail("say what to run: agent-tui sandbox exec -- PROGRAM ARGUMENTS", _USAGE)
    try:
        policy = _hiding_records(find_policy(args.policy, args.cwd or Path.cwd()))
        backend = pick_backend(args.backend)
    except PolicyError as error:
        return _fail(str(error), _USAGE)
    except ValueError as error:
        return _fail(str(error), _UNUSABLE)
    found = backend.capabilities()
    if not found.contained and not args.backend:
        return _fail(f"no sandbox works here: {found.why}. {found.hint}", _UNUSABLE)
    return _execute(backend, policy, argv)


def _execute(backend: Backend, policy: Policy, argv: list[str]) -> int:
    import shlex

    from engine.paths import Home
    from sandbox.audit import Audit
    from sandbox.connections import recorder

    audit = Audit(Home.here().audit)
    record = {"kind": "command", "subject": shlex.join(argv), "cwd": str(policy.workspace), "policy": policy.name}
    try:
        audit.write("command", **record, backend=backend.name, by="person", tool="sandbox exec")
        return backend.foreground(policy, argv, on_connection=recorder(audit, policy.name))
    except FileNotFoundError:
        return _fail(f"{argv[0]}: not found", _NOT_FOUND)
    except (OSError, ValueError) as error:
        return _fail(str(error), _UNUSABLE)


def _hiding_records(policy: Policy) -> Policy:
    """Our own records and rules never show inside."""
    from dataclasses import replace

    from engine.paths import Home

    home = Home.here()
    return replace(policy, hidden=(*policy.hidden, home.data, home.config))


def run_classify(args: argparse.Namespace) -> int:
    """Print what each command would risk. Returns 0, or 2 when the stored rules cannot be read."""
    from engine.paths import Home
    from sandbox.backends import pick_backend
    from sandbox.policies import named_policy
    from sandbox.preview import preview
    from sandbox.rulebook import RuleBook
    from sandbox.rules import RuleError

    commands = _from_stdin() if args.command == "-" else [args.command]
    book = RuleBook(Home.here().rules)
    try:
        book.rules()
    except (RuleError, OSError) as error:
        return _fail(str(error), _USAGE)
    walls = pick_backend().capabilities().contained
    found = preview(commands, named_policy("workspace", Path.cwd()), book, mode=args.approve, walls=walls)
    for one in found:
        if args.json or args.command == "-":
            print(json.dumps(_as_json(one)))
        else:
            _tell(one)
    return 0


def _from_stdin() -> Iterable[str]:
    pieces = sys.stdin.buffer.read().split(b"\0")
    return [os.fsdecode(piece) for piece in (pieces if pieces[-1] else pieces[:-1])]


def _as_json(one: Preview) -> dict[str, Any]:
    return {
        "risk": one.assessment.risk.word,
        "reasons": list(one.assessment.reasons),
        "effects": list(one.assessment.effects),
        "decision": one.decision,
        "by": one.by,
        "contained": one.assessment.contained,
    }


def _tell(one: Preview) -> None:
    print(f"risk      {one.assessment.risk.word}")
    for label, lines in (("because", one.assessment.reasons), ("would", one.assessment.effects)):
        for number, line in enumerate(lines):
            print(f"{label if number == 0 else '':<9} {line}")
    said = {
        "low": "runs unasked: it only reads",
        "rule": "a stored rule decides",
        "contained": "runs unasked: the sandbox holds all of it",
        "mode": "this mode does not allow it",
        "person": "a person is asked",
    }
    print(f"decision  {one.decision} ({said[one.by]})")


def _fail(message: str, code: int) -> int:
    print(f"agent-tui: {message}", file=sys.stderr)
    return code
