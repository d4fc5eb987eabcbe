"""The command ``agent-tui``: no verb opens the workbench, a verb loads its own module and nothing else."""

from __future__ import annotations

import argparse
import difflib
import gc
import os
import sys
from importlib import import_module

from engine.options import EngineOptions

# verb: (module with add_parser(subparsers), one line of help)
VERBS = {
    "run": ("engine.cli.run", "carry out a task without a screen"),
    "demo": ("tui.cli.demo", "a guided real run with no key and no network"),
    "replay": ("tui.cli.replay", "watch a stored session again"),
    "sessions": ("engine.cli.sessions", "list, show, fork, export, import, verify or remove sessions"),
    "sandbox": ("engine.cli.sandbox", "run one command in the sandbox, or say what one would risk"),
    "doctor": ("engine.cli.doctor", "what is enforced on this machine, proved by live probes"),
    "audit": ("engine.cli.audit", "verify, query or follow the tamper-evident record"),
    "skills": ("engine.cli.skills", "list, show or validate skills"),
    "models": ("engine.cli.models", "models that can be used now, and why others cannot"),
    "config": ("engine.cli.config", "show or edit settings"),
}

EPILOG = """\
verbs:
{verbs}

Each verb has --help with an example.

example: agent-tui "fix the failing test\"""".format(
    verbs="\n".join(f"  {verb:<10} {line}" for verb, (_, line) in VERBS.items())
)


def main(argv: list[str] | None = None) -> int:
    """Entry point; returns the exit code."""
    args = sys.argv[1:] if argv is None else argv
    try:
        return _main(args)
    except BrokenPipeError:
        # The reader of our output has gone: that is its choice, not our failure.
        sys.stdout = None
        return 0
    except KeyboardInterrupt:
        return 130


def _main(args: list[str]) -> int:
    if args and args[0] in VERBS:
        parser = argparse.ArgumentParser(prog="agent-tui")
        import_module(VERBS[args[0]][0]).add_parser(parser.add_subparsers(required=True))
        parsed = parser.parse_args(args)
        return int(parsed.func(parsed))
    return _workbench(args)


def _workbench(args: list[str]) -> int:
    from engine.cli.options import add_engine_options, engine_options

    parser = argparse.ArgumentParser(
        prog="agent-tui",
        description="A terminal workbench for AI agents. It opens in this folder; a TASK starts at once.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", nargs="*", metavar="TASK", help="what the agent should do, in your own words")
    add_engine_options(parser)
    parser.add_argument(
        "--linear",
        action="store_true",
        help="lines instead of a screen: for screen readers, and of itself where TERM is dumb",
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parsed = parser.parse_args(args)
    if parsed.version:
        from importlib.metadata import version

        print(f"agent-tui {version('agent-tui')}")
        return 0
    _refuse_misspelled_verb(parser, parsed.task)
    return _open(engine_options(parsed), " ".join(parsed.task), parsed)


def _refuse_misspelled_verb(parser: argparse.ArgumentParser, task: list[str]) -> None:
    """``agent-tui sesions list`` means a verb, not a task: say so instead of starting an agent on it."""
    if not task or " " in task[0]:
        return
    near = difflib.get_close_matches(task[0], VERBS, n=1, cutoff=0.75)
    if near and task[0] not in VERBS:
        parser.error(f"no verb {task[0]!r}; did you mean {near[0]!r}? (to give it as a task, quote the whole sentence)")
    if task[0] in VERBS:
        parser.error(f"the verb comes first: agent-tui {task[0]} …")


def _open(options: EngineOptions, task: str, parsed: argparse.Namespace) -> int:
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        print(
            "agent-tui: the workbench needs a terminal. Without one: agent-tui run TASK (see agent-tui run --help).",
            file=sys.stderr,
        )
        return 2
    if parsed.linear or os.environ.get("TERM") in ("dumb", "unknown"):
        from tui.launch import open_linear

        return open_linear(options, task=task, resume=parsed.resume, newest=parsed.newest)
    # A collection in the midst of imports finds nothing and takes a sixth of the start; the app turns it on again.
    gc.disable()
    from tui.launch import open_workbench

    return open_workbench(options, task=task, resume=parsed.resume, newest=parsed.newest, demo=lambda: main(["demo"]))
