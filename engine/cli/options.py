"""The options that the workbench and ``run`` share, from the command line to `EngineOptions`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from engine.options import EngineOptions


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Add them; `engine_options` reads them back."""
    group = parser.add_argument_group("options")
    group.add_argument("--model", default="", metavar="SPEC", help="provider/model, such as ollama/qwen3")
    group.add_argument("--base-url", default="", metavar="URL", help="of any compatible server")
    group.add_argument("--cwd", default=".", metavar="DIR", help="the folder to work in (default: this one)")
    which = group.add_mutually_exclusive_group()
    which.add_argument(
        "--continue", dest="newest", action="store_true", help="go on with the newest session of this folder"
    )
    which.add_argument("--resume", default="", metavar="ID", help="go on with this session")
    group.add_argument(
        "--approve",
        default="",
        choices=["ask", "deny", "rules", "sandboxed"],
        help="what to do when the gate would ask",
    )
    group.add_argument("--sandbox", default="", metavar="BACKEND", help="how to contain processes")
    group.add_argument("--skill", action="append", default=[], metavar="NAME", help="use this skill (repeatable)")
    group.add_argument("--max-turns", type=_positive(int), metavar="N")
    group.add_argument("--max-tool-calls", type=_positive(int), metavar="N")
    group.add_argument("--max-tokens", type=_positive(int), metavar="N")
    group.add_argument("--max-cost", type=_positive(float), metavar="USD")
    group.add_argument("--max-seconds", type=_positive(float), metavar="N")
    group.add_argument("--context-window", type=_positive(int), metavar="TOKENS")
    group.add_argument("--theme", default="", metavar="NAME")
    group.add_argument("--debug", action="store_true", help="write more into the log file")


def engine_options(parsed: argparse.Namespace) -> EngineOptions:
    """The options as parsed; ends the program with a usage error when the folder does not exist."""
    cwd = Path(parsed.cwd).expanduser().absolute()
    if not cwd.is_dir():
        print(f"agent-tui: --cwd: there is no folder {parsed.cwd}", file=sys.stderr)
        raise SystemExit(2)
    return EngineOptions(
        cwd=cwd,
        model=parsed.model,
        base_url=parsed.base_url,
        approve=parsed.approve,
        sandbox=parsed.sandbox,
        skills=tuple(parsed.skill),
        done_when=tuple(getattr(parsed, "done_when", ())),
        max_turns=parsed.max_turns,
        max_tool_calls=parsed.max_tool_calls,
        max_tokens=parsed.max_tokens,
        max_cost=parsed.max_cost,
        max_seconds=parsed.max_seconds,
        context_window=parsed.context_window,
        theme=parsed.theme,
        debug=parsed.debug,
    )


def _positive(kind: type[int] | type[float]) -> Callable[[str], int | float]:
    def parse(text: str) -> int | float:
        try:
            value = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError("must be more than 0")
        return value

    return parse
