"""The lines of the compaction screen: the list, and all there is to say of one of them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text

from tui import format
from tui.inspector.rows import PLURALS
from tui.look import Look, clip, one_line, spread, wrapped

if TYPE_CHECKING:
    from engine.queries import CompactionLine, FactFate, InspectedBlock, InspectedCompaction

TWO_COLUMNS = 100
"""Cells of the screen from which before and after stand side by side."""
KINDS = {
    "offload": "results put aside",
    "drop": "noise dropped",
    "digest": "results shortened",
    "summary": "summary",
    "handoff": "hand-off",
}
FATES = {
    "ledger": ("done", "ok", "in the ledger"),
    "recent": ("done", "ok", "still sent"),
    "pointer": ("folded", "warn", "behind a pointer"),
    "shortened": ("more", "warn", "shortened"),
    "left_out": ("failed", "danger", "left out"),
}
"""Sign, role and words of what became of a fact."""
FATE = 18
"""Cells of the words."""
MOST_LINES = 400
"""Lines of a text that are shown; the rest stands in the artifact."""


def compaction_line(line: CompactionLine, width: int, look: Look) -> Text:
    """Number, kind, turn and reason; on the right tokens before and after, cost, and whether it was undone."""
    roles = look.roles
    style = roles.muted if line.undone else roles.text
    left = Text.assemble((f" {line.number:>3}  ", roles.accent), (KINDS[line.kind], style))
    left.append(f"   turn {line.turn}   {one_line(line.reason)}", roles.muted)
    arrow = "->" if look.signs.rule.isascii() else "→"
    right = Text(f"{format.count(line.before)} {arrow} {format.count(line.after)}", style=style)
    if line.cost is not None:
        right.append(f"  {format.money(line.cost)}", roles.muted)
    right.append(
        f"  {look.signs.paused} undone " if line.undone else "  in force ", roles.warn if line.undone else roles.ok
    )
    return spread(left, right, width, look.signs.ellipsis)


def detail(found: InspectedCompaction, width: int, look: Look) -> list[Text]:
    """Everything about one compaction, each line at most ``width`` cells."""
    lines = [*_columns(found, width, look), *_facts(found, width, look), *_checks(found, look)]
    lines += _prose("NOTE BY THE MODEL", found.summary, width, look)
    lines += _prose("LEDGER", found.ledger, width, look)
    if found.artifact:
        lines += [Text(), Text(f" all of the ledger: artifact {found.artifact}", style=look.roles.muted)]
    return [clip(line, width, look.signs.ellipsis) for line in lines]


# --- before and after ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    layer: str
    title: str
    tokens: int
    state: str


def _columns(found: InspectedCompaction, width: int, look: Look) -> Iterator[Text]:
    old = _side("BEFORE", found.before, {"read": "stays", "broken": "goes"})
    new = _side("AFTER", found.after, {"read": "cached", "new": "new", "broken": "paid again"})
    if width < TWO_COLUMNS:
        yield from (_cell(row, width, look) for row in old)
        yield Text()
        yield from (_cell(row, width, look) for row in new)
        return
    half = (width - 2) // 2
    for left, right in zip_longest(old, new):
        yield Text.assemble(_cell(left, half, look), "  ", _cell(right, half, look))


def _side(title: str, blocks: Sequence[InspectedBlock], words: dict[str, str]) -> list[_Row]:
    """A heading, then the blocks by layer, kind and state."""
    groups: dict[tuple[str, str, str], list[InspectedBlock]] = {}
    for block in blocks:
        groups.setdefault((block.layer, block.kind, block.state), []).append(block)
    rows = [_Row("", title, sum(block.tokens for block in blocks), "")]
    for (layer, kind, state), those in groups.items():
        name = one_line(those[0].title) if len(those) == 1 else f"{PLURALS.get(kind, kind)} ({len(those)})"
        rows.append(_Row(layer, name, sum(block.tokens for block in those), words.get(state, state)))
    return rows


def _cell(row: _Row | None, width: int, look: Look) -> Text:
    if row is None:
        return Text(" " * width)
    if not row.layer:
        bold = look.roles.muted + Style(bold=True)
        return spread(Text(f" {row.title}", style=bold), Text(f"{row.tokens:,}".rjust(9) + " tokens".ljust(15)), width)
    role = {"goes": "danger", "paid again": "danger", "new": "warn"}.get(row.state, "ok")
    sign = {"danger": look.signs.failed, "warn": look.signs.unfolded, "ok": look.signs.done}[role]
    state = Text(f"  {sign} {row.state}".ljust(15), style=getattr(look.roles, role))
    left = Text.assemble(" ", (row.layer, look.roles.accent), f" {row.title}")
    return spread(left, Text.assemble(f"{row.tokens:,}".rjust(9), state), width, look.signs.ellipsis)


# --- facts, checks, texts --------------------------------------------------------------------------------------------


def _facts(found: InspectedCompaction, width: int, look: Look) -> Iterator[Text]:
    yield from _heading("WHAT EACH FACT BECAME", look)
    if not found.facts:
        yield Text(" no exact facts before it", style=look.roles.muted)
        return
    yield Text(f" {_counts(found.facts)}", style=look.roles.muted)
    group = ""
    for fact in found.facts:
        if fact.group != group:
            group = fact.group
            yield Text(f" {one_line(group)}", style=look.roles.text + Style(bold=True))
        sign, role, words = FATES[fact.fate]
        style = getattr(look.roles, role)
        room = max(10, width - FATE - 5)
        first, *more = wrapped(fact.text, room, 3, look.signs.ellipsis)
        yield Text.assemble((f"  {getattr(look.signs, sign)} {words.ljust(FATE)}", style), first)
        yield from (Text(" " * (FATE + 4) + line) for line in more)


def _counts(facts: Sequence[FactFate]) -> str:
    numbers = {fate: sum(fact.fate == fate for fact in facts) for fate in FATES}
    said = [f"{number:,} {FATES[fate][2]}" for fate, number in numbers.items() if number]
    return f"{format.plural(len(facts), 'fact')}: {', '.join(said)}"


def _checks(found: InspectedCompaction, look: Look) -> Iterator[Text]:
    yield from _heading("CHECKS", look)
    for question, passed in found.checks:
        sign, style = (look.signs.done, look.roles.ok) if passed else (look.signs.failed, look.roles.danger)
        yield Text.assemble((f"  {sign} {'passed' if passed else 'FAILED'}  ", style), one_line(question))


def _prose(title: str, text: str, width: int, look: Look) -> Iterator[Text]:
    if not text.strip():
        return
    yield from _heading(title, look)
    given = text.split("\n")
    for line in given[:MOST_LINES]:
        indent = min(8, len(line) - len(line.lstrip(" ")))
        for part in wrapped(line, width - 3 - indent, MOST_LINES, look.signs.ellipsis):
            yield Text(f"  {' ' * indent}{part}")
    if len(given) > MOST_LINES:
        yield Text(f"  {look.signs.more} {len(given) - MOST_LINES:,} more lines", style=look.roles.muted)


def _heading(title: str, look: Look) -> Iterator[Text]:
    yield Text()
    yield Text(f" {title}", style=look.roles.muted + Style(bold=True))
