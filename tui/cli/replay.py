"""``agent-tui replay [ID|FILE]``: watch a stored session again, or one that was exported to a file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from engine.options import EngineOptions


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = sub.add_parser(
        "replay",
        help="watch a stored session again",
        description="Open the list of sessions; or play the session ID, or the FILE of an exported one, at once.",
        epilog="example: agent-tui replay 20261130-102233-x7k2",
    )
    parser.add_argument(
        "session", nargs="?", default="", metavar="ID|FILE", help="a session, as `sessions list` names it"
    )
    parser.add_argument("--theme", default="", metavar="NAME")
    parser.set_defaults(func=run)


def run(parsed: argparse.Namespace) -> int:
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        print("agent-tui: replay needs a terminal. Without one: agent-tui sessions show ID.", file=sys.stderr)
        return 2
    from tui.launch import open_replay

    return open_replay(EngineOptions(cwd=Path.cwd(), theme=parsed.theme), _named(parsed.session))


def _named(session: str) -> str:
    """An id as it is; a file by its whole path, by which the player knows it from an id."""
    return str(Path(session).resolve()) if session and Path(session).is_file() else session
