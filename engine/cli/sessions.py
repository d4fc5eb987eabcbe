"""``agent-tui sessions``: stored sessions from the command line, for people and (with ``--json``) for scripts."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.log import LogStore
    from engine.queries import SessionRow

Parsers = argparse._SubParsersAction


def add_parser(sub: Parsers[argparse.ArgumentParser]) -> None:
    """Add ``sessions`` and its verbs; each sets ``func(args) -> exit code``."""
    parser = sub.add_parser(
        "sessions",
        help="list, show, fork, export, import, verify or remove stored sessions",
        description="Stored sessions. An ID may be shortened to its beginning or end where that is clear.",
        epilog="example: agent-tui sessions list parser",
    )
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    verb = _verb(verbs, "list", _list, "the sessions, newest first", "agent-tui sessions list parser --folder .")
    verb.add_argument("text", nargs="*", metavar="TEXT", help="only sessions in which all these words occur")
    verb.add_argument("--folder", default="", metavar="DIR", help="only sessions of this folder")
    verb.add_argument("--limit", type=_positive, default=500, metavar="N", help="at most so many (500)")

    verb = _verb(verbs, "show", _show, "what happened in one, a line an event", "agent-tui sessions show x7k2")
    verb.add_argument("id", metavar="ID")

    verb = _verb(
        verbs, "fork", _fork, "copy one, or its beginning, to a new one", "agent-tui sessions fork x7k2 --at 40"
    )
    verb.add_argument("id", metavar="ID")
    verb.add_argument("--at", type=_positive, metavar="SEQ", help="copy up to this event (default: all)")

    verb = _verb(verbs, "export", _export, "write one as JSON Lines", "agent-tui sessions export x7k2 -o session.jsonl")
    verb.add_argument("id", metavar="ID")
    verb.add_argument("-o", "--output", default="-", metavar="FILE", help="where to (default: standard output)")

    verb = _verb(verbs, "import", _import, "take over an exported one", "agent-tui sessions import session.jsonl")
    verb.add_argument("file", metavar="FILE", help="- for standard input")

    verb = _verb(
        verbs, "verify", _verify, "check that one is whole (exit code 1: it is not)", "agent-tui sessions verify x7k2"
    )
    verb.add_argument("id", nargs="*", metavar="ID", help="default: all")

    verb = _verb(
        verbs,
        "cost",
        _cost,
        "what one would have cost on other models, with and without the cache",
        "agent-tui sessions cost x7k2 --model anthropic/claude-sonnet-5-5",
    )
    verb.add_argument("id", metavar="ID")
    verb.add_argument(
        "--model", action="append", default=[], metavar="SPEC", help="a model to compare; may be given again"
    )

    verb = _verb(verbs, "rm", _remove, "delete sessions for good", "agent-tui sessions rm x7k2")
    verb.add_argument("id", nargs="+", metavar="ID")


def _verb(
    verbs: Parsers[argparse.ArgumentParser],
    name: str,
    do: Callable[[LogStore, argparse.Namespace], int],
    help_: str,
    example: str,
) -> argparse.ArgumentParser:
    parser = verbs.add_parser(
        name, help=help_, description=help_[0].upper() + help_[1:] + ".", epilog=f"example: {example}"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(func=lambda args: _run(do, args))
    return parser


def _run(do: Callable[[LogStore, argparse.Namespace], int], args: argparse.Namespace) -> int:
    """Do it, with every failure in words; a reader that has gone away is none."""
    from engine.log import LogError, LogStore
    from engine.paths import Home

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = do(LogStore(Home.here()), args)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Python flushes once more at exit: let it flush into nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except LogError as error:
        return _failed(str(error), error.suggestion)
    except OSError as error:
        return _failed(str(error), "Check the path, its permissions and the space left.")


# --- one function a verb ---------------------------------------------------------------------------------------------


def _list(store: LogStore, args: argparse.Namespace) -> int:
    from engine.queries import ListSessions

    folder = str(Path(args.folder).resolve()) if args.folder else ""
    rows = store.list(ListSessions(text=" ".join(args.text), folder=folder, limit=args.limit))
    if args.json:
        _print_json([asdict(row) for row in rows])
    elif rows:
        _print_table(
            ("ID", "UPDATED", "STATE", "TURNS", "COST", "TITLE", "FOLDER"), map(_cells, rows), right={3, 4}, below=5
        )
    else:
        print("No session matches." if args.text or args.folder else "There are no stored sessions yet.")
    return 0


def _show(store: LogStore, args: argparse.Namespace) -> int:
    from engine.log.describe import describe

    loaded = store.load(store.find(args.id))
    skipped = [asdict(skip) for skip in loaded.skipped]
    if args.json:
        events = [event.model_dump(mode="json") for event in loaded.events]
        _print_json({"id": loaded.id, "events": events, "skipped": skipped})
        return 0
    print(f"Session {loaded.id}")
    lines = [(event.seq, f"{event.at.astimezone():%H:%M:%S}", *describe(event)) for event in loaded.events]
    lines += [(skip.seq, "", "skipped", skip.reason) for skip in loaded.skipped]
    for seq, at, kind, text in sorted(lines, key=lambda line: line[0]):
        print(f"{seq:>6}  {at:<8}  {kind:<9}  {_line(text)}")
    return 0


def _fork(store: LogStore, args: argparse.Namespace) -> int:
    parent = store.find(args.id)
    child = store.fork(parent, args.at)
    if args.json:
        _print_json({"id": child, "parent": parent})
    else:
        print(f"{child}\nGo on with it: agent-tui --resume {child}")
    return 0


def _export(store: LogStore, args: argparse.Namespace) -> int:
    session = store.find(args.id)
    with ExitStack() as stack:
        out = sys.stdout if args.output == "-" else stack.enter_context(Path(args.output).open("w", encoding="ascii"))
        skipped = store.export(session, out.write)
    # With the session itself on standard output, what is said about it goes to standard error.
    about = sys.stderr if args.output == "-" else sys.stdout
    if args.json:
        _print_json({"id": session, "file": args.output, "skipped": [asdict(skip) for skip in skipped]}, about)
    else:
        if args.output != "-":
            print(f"Session {session} is in {_line(args.output)}")
        _print_skipped([(f"event {skip.seq}", skip.reason) for skip in skipped], "event", about)
    return 0


def _import(store: LogStore, args: argparse.Namespace) -> int:
    with ExitStack() as stack:
        source = sys.stdin.buffer if args.file == "-" else stack.enter_context(Path(args.file).open("rb"))
        imported = store.import_from(source)
    if args.json:
        _print_json(asdict(imported))
    else:
        print(f"{imported.id}  {_plural(imported.events, 'event')}")
        _print_skipped([(f"line {skip.line}", skip.reason) for skip in imported.skipped], "line", sys.stderr)
    return 0


def _verify(store: LogStore, args: argparse.Namespace) -> int:
    ids = [store.find(text) for text in args.id] or [row.id for row in store.list()]
    reports = [store.verify(session) for session in ids]
    if args.json:
        _print_json([{**asdict(report), "ok": report.ok} for report in reports])
        return 0 if all(report.ok for report in reports) else 1
    for report in reports:
        verdict = "whole" if report.ok else "DAMAGED"
        print(f"{report.id}  {verdict:<7}  {_plural(report.events, 'event')}, {_plural(report.artifacts, 'artifact')}")
        for skip in (*report.skipped, *report.disorder):
            print(f"  event {skip.seq}: {_line(skip.reason)}")
        for digest in report.damaged:
            print(f"  artifact {digest}: missing or changed")
    return 0 if all(report.ok for report in reports) else 1


def _cost(store: LogStore, args: argparse.Namespace) -> int:
    from engine.cli import cost

    found = cost.costs(store.load(store.find(args.id)).events, args.model)
    if args.json:
        _print_json([asdict(line) for line in found])
    elif found:
        _print_table(cost.HEAD, map(cost.cells, found), right=set(range(1, len(cost.HEAD))))
    else:
        print("No request was answered in this session yet.")
    return 0


def _remove(store: LogStore, args: argparse.Namespace) -> int:
    ids = [store.find(text) for text in args.id]
    for session in ids:
        store.remove(session)
        if not args.json:
            print(f"Removed {session}")
    if args.json:
        _print_json({"removed": ids})
    return 0


# --- printing --------------------------------------------------------------------------------------------------------


def _cells(row: SessionRow) -> tuple[str, ...]:
    state = f"{row.state}, open elsewhere" if row.open_elsewhere else row.state
    title = row.title or "(no title)"
    if row.snippet:
        title = f"{title}  «{row.snippet}»"
    if row.skipped:
        title = f"{title}  ({row.skipped} skipped)"
    updated = f"{row.updated.astimezone():%Y-%m-%d %H:%M}"
    return row.id, updated, state, str(row.turns), f"${row.cost:.2f}", title, row.folder


def _print_table(head: Sequence[str], lines: Iterable[Sequence[str]], right: set[int], below: int = 0) -> None:
    """Columns as wide as what is in them, in terminal cells; the last one is not padded. The columns from ``below`` on
    go to an indented line of their own where the terminal is too narrow for all."""
    from rich.cells import cell_len

    table = [list(head), *([_line(cell) for cell in line] for line in lines)]
    widths = [max(cell_len(line[column]) for line in table) for column in range(len(head))]
    fits = not sys.stdout.isatty() or sum(widths) + 2 * len(widths) - 2 <= get_terminal_size().columns
    for line in table:
        padded = []
        for column, (cell, width) in enumerate(zip(line, widths, strict=True)):
            space = " " * (width - cell_len(cell))
            padded.append(space + cell if column in right else cell + space)
        if below and not fits:
            print("  ".join(padded[:below]).rstrip())
            padded = ["", *line[below:]]
        print("  ".join(padded).rstrip())


def _print_skipped(skipped: Sequence[tuple[str, str]], word: str, out: Any) -> None:
    if skipped:
        print(f"{_plural(len(skipped), word)} skipped:", file=out)
    for where, reason in skipped:
        print(f"  {where}: {_line(reason)}", file=out)


def _print_json(data: Any, out: Any = None) -> None:
    print(json.dumps(data, default=lambda at: at.isoformat()), file=out)


def _line(text: str) -> str:
    """``text`` on one line and harmless to a terminal."""
    from engine.text import visible

    return visible(text).replace("\n", " ").replace("\t", " ")


def _plural(n: int, word: str) -> str:
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"


def _failed(message: str, suggestion: str) -> int:
    print(_line(message), file=sys.stderr)
    if suggestion:
        print(_line(suggestion), file=sys.stderr)
    return 1


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number
