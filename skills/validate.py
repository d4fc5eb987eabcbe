"""A verdict on every skill below some folders, for the people who write them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from skills.parse import parse
from skills.scan import FILE_NAME, Bounds, read_bounded, scan, unreachable

BOUNDS = Bounds(depth=16, entries=1_000_000, skills=100_000, nested=True)


@dataclass(frozen=True, slots=True)
class Verdict:
    """ok; warn: it loads, with something odd; broken: it does not load."""

    path: Path
    name: str
    verdict: Literal["ok", "warn", "broken"]
    messages: tuple[str, ...] = ()


def validate(roots: Iterable[Path]) -> list[Verdict]:
    """A verdict for every SKILL.md below ``roots`` and for everything there that could not be looked at. A root may
    be a SKILL.md itself. Never raises."""
    verdicts: list[Verdict] = []
    seen: set[str] = set()
    for root in roots:
        if reason := unreachable(root):
            verdicts.append(Verdict(root, "", "broken", (reason,)))
        elif root.is_dir():
            verdicts += _below(root, seen)
        else:
            verdicts.append(validate_file(root))
    return verdicts


def validate_file(path: Path) -> Verdict:
    """The verdict on one SKILL.md."""
    data = read_bounded(path)
    if isinstance(data, str):
        return Verdict(path, "", "broken", (data,))
    parsed = parse(data, path.absolute().parent.name)
    if parsed.error:
        return Verdict(path, parsed.name, "broken", (parsed.error, *parsed.messages))
    messages = list(parsed.messages)
    if path.name != FILE_NAME:
        messages.append(f"the file is called {path.name}; {FILE_NAME} is expected")
    return Verdict(path, parsed.name, "warn" if messages else "ok", tuple(messages))


def _below(root: Path, seen: set[str]) -> list[Verdict]:
    found = scan(root, BOUNDS, seen)
    return [
        *(validate_file(path) for path in found.files),
        *(Verdict(p.path, "", p.level, (p.message,)) for p in found.problems),
    ]
