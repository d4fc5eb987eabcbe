"""``agent-tui skills``: list, show and validate skills."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engine.paths import Home
from engine.text import clean
from engine.trust import is_trusted
from skills import Catalogue, Skill, find_skills, user_folders, validate
from skills.scan import read_bounded
from skills.text import decode

_SIGNS = {"ok": "✓", "warn": "!", "broken": "✗"}


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = sub.add_parser(
        "skills",
        help="list, show or validate skills",
        description="Skills are folders with a SKILL.md: instructions the model reads when a task fits them.",
        epilog="example: agent-tui skills validate .agents/skills --json",
    )
    verbs = parser.add_subparsers(required=True, metavar="list|show|validate")
    _verb(verbs, "list", "the skills of this folder, of the user and of the library", "skills list --json", _list)
    show = _verb(verbs, "show", "one skill with its instructions", "skills show write-a-test", _show)
    show.add_argument("name", metavar="NAME")
    check = _verb(
        verbs,
        "validate",
        "a verdict on every skill below DIR; exit code 1 if one is broken",
        "skills validate .",
        _check,
    )
    check.add_argument("folders", nargs="+", metavar="DIR")


def _verb(verbs: Any, name: str, words: str, example: str, func: Any) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(
        name, help=words, description=words[0].upper() + words[1:] + ".", epilog=f"example: agent-tui {example}"
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    if name != "validate":
        parser.add_argument("--cwd", default=".", metavar="DIR", help="the project's folder (default: this one)")
    parser.set_defaults(func=func)
    return parser


def catalogue_of(folder: Path) -> Catalogue:
    """The skills a session in ``folder`` has."""
    home = Home.here()
    return find_skills(folder.absolute(), user_folders(home.config), is_trusted(home, folder))


def _list(parsed: argparse.Namespace) -> int:
    found = catalogue_of(Path(parsed.cwd))
    if parsed.json:
        _print_json(
            {
                "skills": [_row(skill) for skill in found.skills],
                "problems": [{"path": str(p.path), "message": p.message, "level": p.level} for p in found.problems],
            }
        )
        return 0
    width = max((len(skill.name) for skill in found.skills), default=0)
    for skill in found.skills:
        state = "" if skill.offered else f"[{skill.state}] "
        _print(f"{skill.name:<{width}}  {skill.source.word:<8}  {state}{skill.description}")
    if any(not skill.trusted for skill in found.skills):
        _print("\nSkills of this folder are offered to the model once you trust the folder in the workbench.")
    if found.problems:
        _print(f"\n{len(found.problems)} with problems:")
    for problem in found.problems:
        _print(f"{_SIGNS[problem.level]} {problem.path}: {problem.message}")
    return 0


def _show(parsed: argparse.Namespace) -> int:
    found = catalogue_of(Path(parsed.cwd))
    matching = [skill for skill in found.skills if skill.name == parsed.name]
    if not matching:
        names = ", ".join(skill.name for skill in found.skills) or "none"
        print(clean(f"agent-tui: there is no skill {parsed.name!r}. There are: {names}."), file=sys.stderr)
        return 1
    skill = matching[0]
    data = read_bounded(skill.path)
    text = decode(data)[0] if isinstance(data, bytes) else ""
    if parsed.json:
        _print_json({**_row(skill), "text": text})
        return 0
    _print(f"{skill.path}  ({skill.source.word}, {skill.state})")
    for message in skill.messages:
        _print(f"! {message}")
    _print(f"\n{_readable(text)}")
    return 0


def _check(parsed: argparse.Namespace) -> int:
    verdicts = validate(Path(folder) for folder in parsed.folders)
    if parsed.json:
        _print_json(
            [
                {"path": str(v.path), "name": v.name, "verdict": v.verdict, "messages": list(v.messages)}
                for v in verdicts
            ]
        )
    else:
        for verdict in verdicts:
            _print(f"{_SIGNS[verdict.verdict]} {verdict.verdict:<6}  {verdict.path}")
            for message in verdict.messages:
                _print(f"          {message}")
        _print(_totals(v.verdict for v in verdicts))
    return 1 if any(v.verdict == "broken" for v in verdicts) else 0


def _totals(words: Iterable[str]) -> str:
    known = list(words)
    if not known:
        return "no SKILL.md found"
    return ", ".join(f"{known.count(word)} {word}" for word in ("ok", "warn", "broken") if word in known)


def _row(skill: Skill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": skill.description,
        "path": str(skill.path),
        "source": skill.source.word,
        "state": skill.state,
        "messages": list(skill.messages),
    }


def _print_json(value: Any) -> None:
    """As JSON any reader takes: bytes of a file name that are no text become U+FFFD."""
    _print(clean(json.dumps(value, ensure_ascii=False, indent=1)))


def _print(text: str) -> None:
    text = clean(text)
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding, "replace"))


def _readable(text: str) -> str:
    """Text of a file as a terminal may safely get it."""
    return "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text)
