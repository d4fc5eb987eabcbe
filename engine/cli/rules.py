"""``agent-tui sandbox rules``: the approval rules a person stored, and taking them back."""

from __future__ import annotations

import argparse
import json
import sys


def add_rules(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to those of ``sandbox``."""
    parser = verbs.add_parser(
        "rules",
        help="list the stored approval rules, or revoke one",
        description="Rules are made in an approval (key a). A revoked one asks again from the next command on.",
        epilog="example: agent-tui sandbox rules --revoke 'allow shell git log *'",
    )
    parser.add_argument("--revoke", default="", metavar="RULE", help="the rule as listed, or its number")
    parser.add_argument("--json", action="store_true", help="one JSON list on stdout")
    parser.set_defaults(func=run_rules)


def run_rules(args: argparse.Namespace) -> int:
    """List or revoke. 2 when the file cannot be read or there is no such rule."""
    from engine.paths import Home
    from engine.text import visible
    from sandbox.rulebook import RuleBook
    from sandbox.rules import RuleError

    book = RuleBook(Home.here().rules)
    try:
        stored = book.list()
        if args.revoke:
            number = int(args.revoke) if args.revoke.isdecimal() else 0
            text = stored[number - 1].rule.text if 0 < number <= len(stored) else args.revoke
            if not book.revoke(text):
                print(f"agent-tui: there is no rule {visible(text)!r}; list them first", file=sys.stderr)
                return 2
            print(f"revoked: {visible(text)}")
            return 0
    except (RuleError, OSError) as error:
        print(f"agent-tui: {error}", file=sys.stderr)
        return 2
    if args.json:
        rows = [{"rule": s.rule.text, "risk": s.rule.ceiling.word, "added": s.added, "for": s.request} for s in stored]
        print(json.dumps(rows))
        return 0
    for number, entry in enumerate(stored, 1):
        facts = f"up to {entry.rule.ceiling.word} risk, {entry.added}, for {entry.request}"
        print(visible(f"{number:>3}  {entry.rule.text}  ({facts})"))
    if not stored:
        print("No rules are stored. Key a in an approval makes one.")
    return 0
