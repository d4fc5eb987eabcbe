"""The lines of the simulator: what the session would have cost on other models, as a table and in a sentence. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text

from tui import format
from tui.look import Look, clip, one_line, spread

if TYPE_CHECKING:
    from engine.queries import SimulatedCost

NUMBER = 10
WIDE, FULL = 100, 140
"""Cells from which tokens are shown, and from which a bar is."""


def heading_line(width: int, look: Look) -> Text:
    """Names of the columns, over those of `cost_line`."""
    cells = ["cached", "uncached", "paid", "hit"]
    if width >= WIDE:
        cells += ["read", "written", "new", "output"]
    return _row(Text("  model"), [Text(cell) for cell in cells], width, look, look.roles.muted)


def cost_line(line: SimulatedCost, most: float, own: bool, width: int, look: Look) -> Text:
    """A model: USD with the cache, without, as paid; the share that was read; tokens where there is room; a bar of both
    prices on the scale up to ``most``."""
    roles = look.roles
    bold = roles.text + Style(bold=True) if own else roles.text
    cells = [
        Text(format.money(line.cached), style=roles.ok),
        Text(format.money(line.uncached), style=roles.warn),
        Text("" if line.real is None else format.money(line.real), style=roles.accent),
        Text(f"{line.hit * 100:.0f} %"),
    ]
    if width >= WIDE:
        cells += [Text(format.count(n), style=roles.muted) for n in (line.read, line.write, line.new, line.output)]
    row = _row(Text(f"  {one_line(line.model)}", style=bold), cells, width, look, Style())
    if width >= FULL and most > 0 and line.cached is not None and line.uncached is not None:
        row.append("  ")
        row.append_text(_bar(line.cached, line.uncached, most, width - row.cell_len - 1, look))
    return row


def _bar(cached: float, uncached: float, most: float, width: int, look: Look) -> Text:
    """With the cache full, what it spares dotted."""
    paid, whole = (round(width * amount / most) for amount in (cached, uncached))
    line = Text(look.signs.full * paid, style=look.roles.ok)
    line.append(look.signs.empty * max(0, whole - paid), look.roles.warn)
    return line


def _row(name: Text, cells: Sequence[Text], width: int, look: Look, style: Style) -> Text:
    numbers = Text()
    for cell in cells:
        numbers.append(" " * max(1, NUMBER - cell.cell_len))
        numbers.append_text(cell)
    room = max(12, min(40, width - numbers.cell_len - 2))
    line = spread(name, numbers, min(width, room + numbers.cell_len + 1), look.signs.ellipsis)
    line.stylize_before(style)
    return clip(line, width, look.signs.ellipsis)


def sentences(lines: Sequence[SimulatedCost], chosen: int) -> tuple[str, str]:
    """How to read the chosen line, and what it rests on."""
    if not lines:
        return "", ""
    line = lines[chosen]
    name = one_line(line.model)
    if line.cached is None or line.uncached is None:
        return f"Nobody here knows what {name} costs.", line.rules
    said = f"On {name} {format.money(line.cached)} with the cache, {format.money(line.uncached)} without."
    if line.real is not None:
        said += f" Paid: {format.money(line.real)}."
    elif chosen and lines[0].cached:
        said += f" That is {line.cached / lines[0].cached:.1f} times {one_line(lines[0].model)}."
    return said, line.rules
