"""``agent-tui demo``: the workbench on a small repository made for it. Everything below the model is real."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from engine.options import EngineOptions

PAUSE = 1.5


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = sub.add_parser(
        "demo",
        help="a guided real run with no key and no network",
        description="A scripted model drives real tools in the real sandbox on a small repository made for it: a "
        "failing test, an edit to approve, a command to deny, a steering message, todo updates, a compaction.",
        epilog="example: agent-tui demo --auto",
    )
    parser.add_argument("--auto", action="store_true", help="answer the dialogs by itself and leave at the end")
    parser.add_argument(
        "--pause",
        type=float,
        default=PAUSE,
        metavar="SECONDS",
        help=f"how long --auto shows a dialog (default {PAUSE})",
    )
    parser.add_argument("--theme", default="", metavar="NAME")
    parser.set_defaults(func=run)


def run(parsed: argparse.Namespace) -> int:
    """Make the repository and open the workbench on it; returns the exit code."""
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        print(
            "agent-tui: the demo needs a terminal. Without one: agent-tui run --model script/demo TASK.",
            file=sys.stderr,
        )
        return 2
    from engine.demo.driver import AutoDriver
    from engine.demo.workspace import make_demo
    from engine.paths import Home
    from tui.autopilot import Autopilot
    from tui.launch import open_workbench

    try:
        demo = make_demo(Home.here().data / "demo")
    except OSError as error:
        print(f"agent-tui: the demo's repository cannot be made: {error}", file=sys.stderr)
        return 1
    options = replace(EngineOptions(), cwd=demo.folder, model=demo.model, approve="ask", theme=parsed.theme)
    pilot = Autopilot(AutoDriver(answers=parsed.auto), max(0.0, parsed.pause), leaves=parsed.auto)
    return open_workbench(options, task=demo.task, autopilot=pilot)
