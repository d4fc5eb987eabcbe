"""What waits to be said and what became of the rest, as lines. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text

from tui.arranging import Item
from tui.format import clock
from tui.look import Look, one_line, spread

if TYPE_CHECKING:
    from engine.hands import Settled
    from engine.state import TaskState

STEERS, FOLLOW_UPS, SETTLED = "STEERS", "FOLLOW-UPS", "DELIVERED AND TAKEN BACK"
ENDED = {"limit": "the run stopped at a limit", "failed": "the run failed", "no_model": "there is no model"}


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the list: a heading (``id`` ''), or a message. ``number``: its place among those that wait."""

    id: str
    label: str
    note: str
    kind: str = ""
    text: str = ""
    number: int = 0

    @property
    def waits(self) -> bool:
        return self.number > 0


def rows(waiting: Sequence[Item], state: TaskState | None) -> list[Row]:
    """Three lists, each under its heading: steers, follow-ups, and what waits no more, the newest first."""
    made: list[Row] = []
    for label, kind in ((STEERS, "steer"), (FOLLOW_UPS, "follow_up")):
        of_kind = [item for item in waiting if item.kind == kind]
        made.append(Row("", label, _when(kind, bool(of_kind), state)))
        made += [Row(item.id, "", "", kind, item.text, n) for n, item in enumerate(of_kind, 1)]
    made.append(Row("", SETTLED, "" if state and state.settled else "none yet"))
    past = reversed(state.settled) if state else ()
    made += [Row(item.id, "", outcome(item), item.kind, item.text) for item in past]
    return made


def _when(kind: str, some: bool, state: TaskState | None) -> str:
    if not some:
        return "none wait"
    if state is None or not state.running:
        ended = ENDED.get(state.stage, "") if state else ""
        return f"not sent, {ended}: the next run takes them along" if ended else "the next run takes them along"
    if kind == "follow_up":
        return "one after the other, each when the work before it is done"
    return f"all before turn {state.turn + 1}" + (", which is paused" if state.paused else "")


def outcome(item: Settled) -> str:
    """What became of a message and when: ``turn 5 · 10:02``."""
    if item.turn:
        what = f"delivered with turn {item.turn}"
    else:
        what = f"not sent: {one_line(item.why)}" if item.why else "taken back"
    return f"{what} · {clock(item.at)}" if item.at else what


def row_line(row: Row, width: int, look: Look) -> Text:
    """One line of the list."""
    roles, signs = look.roles, look.signs
    if not row.id:
        head = Text(f" {row.label}", style=roles.accent + Style(bold=True))
        return spread(head, Text(f"{row.note} ", style=roles.muted), width, signs.ellipsis)
    if row.waits:
        left = Text.assemble("  ", (f"{row.number:>2}  ", roles.muted), (one_line(row.text), roles.text))
        return spread(left, Text(), width, signs.ellipsis)
    sent = row.note.startswith("delivered")
    sign, style = (signs.done, roles.ok) if sent else (signs.failed, roles.warn)
    kind = "steer" if row.kind == "steer" else "next"
    left = Text.assemble(
        "   ", (f"{sign}  ", style), (f"{kind:<6}", roles.muted), (one_line(row.text), roles.muted)
    )  # fmt: skip
    return spread(left, Text(f"{row.note} ", style=roles.muted), width, signs.ellipsis)
