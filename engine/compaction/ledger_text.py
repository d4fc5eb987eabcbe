"""How the ledger is written: lists under headings, bounded, saying what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# How far a list and a text may be cut, round by round: (entries each list keeps at least, characters of a text).
ROUNDS = ((64, 8000), (24, 4000), (12, 1200), (4, 400), (1, 100))


@dataclass(frozen=True, slots=True)
class Section:
    """A list of the ledger, oldest first. rank: those with a lower one give up entries first. longest: characters an
    entry may have at most. lasting: none of them goes while shorter texts make room."""

    heading: str
    entries: tuple[str, ...]
    rank: int
    longest: int = 8000
    lasting: bool = False


def written(sections: Sequence[Section], budget: int, elsewhere: str = "") -> str:
    """The sections in at most about ``budget`` characters. The oldest entries of the least important lists go first,
    then those of the others, then the middle of long texts. elsewhere: where all of it stands, said if any is left
    out."""
    kept = {section.heading: len(section.entries) for section in sections}
    length = ROUNDS[0][1]
    text = _text(sections, kept, length, elsewhere)
    for least, length in ROUNDS:
        text = _text(sections, kept, length, elsewhere)
        for section in sorted(sections, key=lambda one: one.rank):
            over = len(text) - budget
            if over <= 0:
                return text
            if section.lasting and least > 1:
                continue
            kept[section.heading] = _fewer(section, kept[section.heading], least, length, over)
            text = _text(sections, kept, length, elsewhere)
    return text


def bounded(text: str, length: int) -> str:
    """``text`` verbatim; a longer one keeps its beginning and its end and says how much is missing between them."""
    if len(text) <= length:
        return text
    head, tail = length * 2 // 3, length // 3
    return f"{text[:head]} … [{len(text) - head - tail:,} characters left out] … {text[len(text) - tail :]}"


def as_entry(text: str) -> str:
    """``text`` as an entry of a list, nothing cut."""
    return "- " + text.strip().replace("\n", "\n  ")


def parsed(text: str) -> dict[str, list[str]]:
    """The entries that `written` wrote, by heading: its inverse but for what it left out."""
    found: dict[str, list[str]] = {}
    entries: list[str] = []
    for line in text.split("\n"):
        if line.startswith("## "):
            entries = found.setdefault(line[3:], [])
        elif line.startswith("- "):
            entries.append(line[2:])
        elif line.startswith("  ") and entries:
            entries[-1] += "\n" + line[2:]
    return found


def _fewer(section: Section, now: int, least: int, length: int, over: int) -> int:
    """How many entries to keep so that ``over`` characters go, if that many may."""
    while now > least and over > 0:
        over -= len(_entry(section, section.entries[-now], length)) + 1
        now -= 1
    return now


def _text(sections: Sequence[Section], kept: dict[str, int], length: int, elsewhere: str) -> str:
    text = "\n\n".join(_section(one, kept[one.heading], length) for one in sections if one.entries)
    if elsewhere and "left out" in text:
        text += f"\n\nWhat was left out above stands in {elsewhere}."
    return text


def _section(section: Section, most: int, length: int) -> str:
    older = len(section.entries) - most
    lines = [f"## {section.heading}"]
    if older:
        lines.append(f"({older} older left out)")
    lines += [_entry(section, entry, length) for entry in section.entries[older:]]
    return "\n".join(lines)


def _entry(section: Section, entry: str, length: int) -> str:
    return as_entry(bounded(entry.strip(), min(length, section.longest)))
