"""The player's own lines: what session this is and how it is played, and what the newest event shown is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text

from tui import format
from tui.look import Look, clip, one_line, spread

if TYPE_CHECKING:
    from tui.replay.film import Facts

NAMELESS = "session without a title"
TITLE = 28
"""Cells a title keeps before facts are left out for it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the player is. ``cut``: seconds of waiting that are left out right now."""

    position: int = 0
    length: int = 0
    turn: int = 0
    playing: bool = False
    speed: int = 1
    cut: float = 0.0


def head_line(facts: Facts | None, place: Place, width: int, look: Look) -> Text:
    """Title, span, turns, calls, approvals and cost on the left; speed and turn on the right, which gives way last."""
    if facts is None:
        return spread(Text(" reading the session", style=look.roles.muted), Text(), width)
    right = _tempo(place, facts.turns, look)
    title = Text(f" {one_line(facts.title) or (NAMELESS if facts.whole else '')}", style=Style(bold=True))
    said = _facts(facts, look)
    room = max(0, width - right.cell_len - 2)
    while said and min(title.cell_len, TITLE) + sum(3 + part.cell_len for part in said) > room:
        said.pop()
    title = clip(title, room - sum(3 + part.cell_len for part in said), look.signs.ellipsis)
    dot = (f" {look.signs.todo} ", look.roles.faint)
    left = Text.assemble(title, *(part for word in said for part in (dot, word)))
    return spread(left, right, width, look.signs.ellipsis)


def _facts(facts: Facts, look: Look) -> list[Text]:
    """The most telling first: what does not fit is left out from the end."""
    words = [
        Text(span(facts.started, facts.ended), style=look.roles.muted),
        Text(f"{format.plural(facts.skipped, 'damaged row')} skipped" if facts.skipped else "", style=look.roles.warn),
        Text(format.plural(facts.turns, "turn"), style=look.roles.muted),
        Text(format.plural(facts.calls, "call") if facts.whole else "", style=look.roles.muted),
        Text(format.plural(facts.approvals, "approval") if facts.approvals else "", style=look.roles.muted),
        Text(format.money(facts.cost) if facts.whole else "", style=look.roles.muted),
    ]
    return [word for word in words if word.plain]


def _tempo(place: Place, turns: int, look: Look) -> Text:
    plain = look.signs.rule.isascii()
    playing, paused = (">", "=") if plain else ("▶", look.signs.paused)
    sign = Text(playing if place.playing else paused, style=look.roles.ok if place.playing else look.roles.muted)
    times = "x" if plain else "×"
    speed = Text(f" {place.speed}{times}", style=look.roles.text)
    return Text.assemble(sign, speed, (f"   turn {place.turn} / {turns} ", look.roles.muted))


def span(started: datetime | None, ended: datetime | None) -> str:
    """``10:02–10:41``, with dates when it is not all one day; empty when nothing is known of it."""
    if started is None or ended is None or started.timestamp() <= 0:
        return ""
    first, last = started.astimezone(), ended.astimezone()
    if first.date() == last.date():
        return f"{format.clock(first)}–{format.clock(last)}"
    return f"{format.day(first)}–{format.day(last)}"


def now_line(place: Place, at: datetime | None, kind: str, words: str, width: int, look: Look) -> Text:
    """The newest event shown: its number, its time, what it is and what it says; then what is left out in waiting."""
    number = f"{place.position:>{len(str(place.length))}} / {place.length}"
    left = Text.assemble((f"  event {number}", look.roles.muted), no_wrap=True)
    if at is not None and at.timestamp() > 0:
        left.append(f"  {at.astimezone():%H:%M:%S}", look.roles.muted)
    if kind:
        left.append(f"  {kind}", look.roles.accent)
        left.append(f"  {one_line(words)}", look.roles.text)
    cut = f"{format.duration(place.cut)} of waiting left out  " if place.cut >= 0.5 else ""
    return spread(left, Text(cut, style=look.roles.warn), width, look.signs.ellipsis)
