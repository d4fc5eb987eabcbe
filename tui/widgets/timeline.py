"""The time line of a session: marks on a track, and below it where we are. A click or a drag goes there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text
from textual.message import Message
from textual.widget import Widget

from tui.look import Look, clip, spread
from tui.replay.track import Cell, Track, cell_of, make_track, position_of

if TYPE_CHECKING:
    from textual import events

    from tui.replay.moments import Kind, Moments

EDGE = 2
"""Cells left of the first cell of the track: a margin and the end of the line."""
WORDS: dict[Kind, str] = {
    "user": "you",
    "call": "calls",
    "approval": "approval",
    "denied": "denied",
    "error": "error",
    "stop": "stopped",
    "compaction": "compaction",
}
ROLES: dict[Kind, str] = {
    "user": "you",
    "call": "tool",
    "approval": "accent",
    "denied": "danger",
    "error": "danger",
    "stop": "warn",
    "compaction": "agent",
}


class Timeline(Widget):
    """Two lines. `know` says what there is to mark, `at` where we are."""

    class Scrubbed(Message):
        """A person pointed at ``position``."""

        def __init__(self, position: int) -> None:
            super().__init__()
            self.position = position

    def __init__(self, look: Look, *, id: str = "timeline") -> None:
        super().__init__(id=id)
        self.look = look
        self.position = 0
        self._moments: Moments | None = None
        self._length = 0
        self._made: tuple[int, Track] | None = None
        self._dragging = False

    def know(self, moments: Moments, length: int) -> None:
        """Take the moments of a session of ``length`` events."""
        self._moments, self._length, self._made = moments, length, None
        self.refresh()

    def at(self, position: int) -> None:
        """Move the cursor."""
        if position != self.position:
            self.position = position
            self.refresh()

    def dress(self, look: Look) -> None:
        self.look = look
        self.refresh()

    @property
    def room(self) -> int:
        """Cells of the track."""
        return max(0, self.size.width - 2 * EDGE)

    def render(self) -> Text:
        width = self.size.width
        if self._moments is None:
            return Text("\n").join([rail((), -1, False, 1, width, self.look), Text()])
        if self._made is None or self._made[0] != self.room:
            self._made = (self.room, make_track(self._moments.marks, self._length, self.room))
        track = self._made[1]
        cursor = cell_of(self.position, self._length, self.room) if self.position else -1
        marked = {moment.kind for moment in self._moments.marks}
        lines = [
            rail(track.cells, cursor, track.crowded, track.most, width, self.look),
            below(max(0, cursor), marked, track.crowded, width, self.look),
        ]
        return Text("\n").join(lines)

    # --- mouse -------------------------------------------------------------------------------------------------------

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if self._length:
            self._dragging = True
            self.capture_mouse()
            self._point(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragging:
            self._point(event.x)

    def on_mouse_up(self) -> None:
        self._dragging = False
        self.release_mouse()

    def _point(self, x: int) -> None:
        self.post_message(self.Scrubbed(position_of(x - EDGE, self._length, self.room)))


def rail(cells: tuple[Cell, ...], cursor: int, crowded: bool, most: int, width: int, look: Look) -> Text:
    """The track with its marks; the part up to ``cursor`` (-1: none) is drawn as played."""
    plain = look.signs.rule.isascii()
    left, right = ("|", "|") if plain else ("├", "┤")
    room = max(0, width - 2 * EDGE)
    line = Text(no_wrap=True)
    line.append(f" {left}", look.roles.faint)
    for number in range(room):
        cell = cells[number] if number < len(cells) else Cell()
        sign, style = _cell(cell, number <= cursor, crowded, most, look)
        if number == cursor:
            sign = look.signs.running if cell.kind is None else sign
            style += look.roles.accent if cell.kind is None else Style(reverse=True)
        line.append(sign, style)
    line.append(right, look.roles.faint)
    return clip(line, width, look.signs.ellipsis)


def _cell(cell: Cell, played: bool, crowded: bool, most: int, look: Look) -> tuple[str, Style]:
    if cell.kind is None:
        thin = Style(color=look.roles.accent.color)
        return (look.signs.gauge, thin) if played else (look.signs.gauge_rest, look.roles.faint)
    style: Style = getattr(look.roles, ROLES[cell.kind])
    if cell.kind == "call" and crowded:
        steps = look.signs.steps
        # Never the full height: letters must stand out of the crowd.
        sign = steps[min(len(steps) - 2, cell.calls * (len(steps) - 1) // max(1, most + 1))]
        return sign, style if played else look.roles.faint
    return sign_of(cell.kind, look), style


def sign_of(kind: Kind, look: Look) -> str:
    """The mark of a kind: a letter or a sign, never a colour alone."""
    signs: dict[Kind, str] = {
        "user": "u",
        "call": "c",
        "approval": "a",
        "denied": look.signs.risk,
        "error": look.signs.failed,
        "stop": look.signs.paused,
        "compaction": "K",
    }
    return signs[kind]


def below(cursor: int, marked: set[Kind], crowded: bool, width: int, look: Look) -> Text:
    """The pointer under ``cursor``, and what the marks mean where there is room beside it."""
    pointer = "^" if look.signs.rule.isascii() else "▲"
    legend = Text("  ", no_wrap=True).join(_meaning(kind, crowded, look) for kind in WORDS if kind in marked)
    at = min(cursor + EDGE, max(0, width - 1))
    tip = Text(pointer, style=look.roles.accent, no_wrap=True)
    if at + 3 + legend.cell_len < width - 1:
        return spread(Text.assemble(" " * at, tip), Text.assemble(legend, "  "), width)
    if legend.cell_len + EDGE + 2 <= at:
        gap = at - legend.cell_len - EDGE
        return clip(Text.assemble(" " * EDGE, legend, " " * gap, tip), width)
    return clip(Text.assemble(" " * at, tip), width)


def _meaning(kind: Kind, crowded: bool, look: Look) -> Text:
    style: Style = getattr(look.roles, ROLES[kind])
    sign = look.signs.steps[2:5] if kind == "call" and crowded else sign_of(kind, look)
    return Text.assemble((sign, style), (f" {WORDS[kind]}", look.roles.muted))
