"""The rows of the context inspector: what is cached folded by kind, what is paid block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text

from tui import format
from tui.look import Look, clip, one_line

if TYPE_CHECKING:
    from engine.queries import InspectedBlock, InspectedRequest

MANY = 60
"""Blocks that are paid, above which they too are folded."""
PLURALS = {"tool": "tools", "call": "calls", "result": "results"}
STATES = {"read": "R read", "new": "N NEW", "broken": "B BROKEN"}
TOKENS, COST, CACHE = 10, 10, 10
"""Cells of the columns."""
COST_FROM = 100
"""Cells of the screen from which the cost of a row is shown."""


@dataclass(frozen=True, slots=True)
class Row:
    """``blocks``: which of the request's blocks it stands for. ``first``: the first difference lies in it."""

    layer: str
    title: str
    tokens: int
    cost: float | None
    state: str
    blocks: tuple[int, ...]
    first: bool = False


def rows(request: InspectedRequest, folded: bool = True) -> tuple[Row, ...]:
    """The request's blocks in the order of the cache."""
    paid = sum(block.state != "read" for block in request.blocks)
    groups: dict[tuple[object, ...], list[int]] = {}
    for n, block in enumerate(request.blocks):
        together = folded and (block.state == "read" or block.kind == "tool" or paid > MANY)
        groups.setdefault((block.state, block.layer, block.kind) if together else (n,), []).append(n)
    return tuple(_row(request, numbers) for numbers in groups.values())


def _row(request: InspectedRequest, numbers: Sequence[int]) -> Row:
    blocks = [request.blocks[n] for n in numbers]
    costs = [block.cost for block in blocks]
    return Row(
        layer=blocks[0].layer,
        title=_title(blocks),
        tokens=sum(block.tokens for block in blocks),
        cost=None if None in costs else sum(cost or 0.0 for cost in costs),
        state=blocks[0].state,
        blocks=tuple(numbers),
        first=request.against > 0 and request.broken and request.same in numbers,
    )


def _title(blocks: Sequence[InspectedBlock]) -> str:
    if len(blocks) == 1:
        return one_line(blocks[0].title)
    return f"{PLURALS.get(blocks[0].kind, blocks[0].kind)} ({len(blocks)})"


def state_style(state: str, look: Look) -> Style:
    """The colour of a cache state."""
    roles = {"read": look.roles.ok, "new": look.roles.warn, "broken": look.roles.danger}
    return roles[state]


def heading_line(width: int, look: Look) -> Text:
    """Names of the columns, over those of `row_line`."""
    line = Text.assemble(" layer".ljust(_named(width) + 1), "tokens".rjust(TOKENS))
    if width >= COST_FROM:
        line.append("cost".rjust(COST))
    line.append("   " + "cache".ljust(CACHE))
    line.stylize(look.roles.muted)
    return clip(line, width, look.signs.ellipsis)


def row_line(row: Row, most: int, width: int, look: Look) -> Text:
    """Layer, what it is, tokens, cost, cache state as letter, word and colour, a bar on the scale up to ``most``."""
    style = state_style(row.state, look)
    sign = Text(f" {look.signs.failed}", style=look.roles.danger) if row.first else Text()
    name = clip(Text(row.title, style=look.roles.text), _named(width) - 3 - sign.cell_len, look.signs.ellipsis)
    line = Text.assemble(" ", (row.layer, look.roles.accent), " ", name, sign)
    line.append(" " * max(0, _named(width) + 1 - line.cell_len))
    line.append(f"{row.tokens:,}".rjust(TOKENS), look.roles.text)
    if width >= COST_FROM:
        line.append(format.money(row.cost).rjust(COST), look.roles.muted)
    line.append("   " + STATES[row.state].ljust(CACHE), style)
    room = max(0, width - line.cell_len - 1)
    filled = min(room, max(1 if row.tokens else 0, round(room * row.tokens / most))) if most else 0
    # A bar is there to be compared, not read: it need not shout.
    line.append(look.signs.gauge * filled, Style(color=style.color))
    return clip(line, width, look.signs.ellipsis)


def _named(width: int) -> int:
    """Cells for the layer and the title."""
    return max(12, min(40, width // 3))
