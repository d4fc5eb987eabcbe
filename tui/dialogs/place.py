"""How the room of the terminal is shared out in a dialog. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content
from textual.geometry import Size

from tui.look import one_line

WIDTH = 96
READABLE = 4
"""Rows that what runs keeps before the facts below it give way."""


def titled(title: str, whose: str) -> Content:
    """The title of a dialog, with the session that asks where several could. Nothing in it is markup."""
    return Content(f"{title} · in {one_line(whose)}" if whose else title)


@dataclass(frozen=True, slots=True)
class Place:
    """Cells and rows. ``inner``: width inside the frame; ``what`` and ``facts``: rows for each, no facts when they are
    read on in the same scroll; ``more``: whether there is a row to say how much is out of sight."""

    width: int = 80
    inner: int = 76
    framed: bool = True
    airy: bool = True
    what: int = 1
    facts: int = 0
    more: bool = True


def placed(size: Size, what: int, facts: int, keys: int, sub: int, *, wide: bool = False) -> Place:
    """Share ``size`` out among so many rows of each. ``wide`` asks for all the width there is."""
    framed = size.width >= 40 and size.height >= 12
    width = (size.width - 4 if wide else min(size.width - 4, WIDTH)) if framed else size.width
    inner = width - 4 if framed else width
    rows = size.height - (2 if framed else 0)
    fixed = 1 + keys + sub + 1
    airy = rows >= fixed + min(what, READABLE) + facts + 3
    rows -= fixed + (3 if airy else 0)
    more = rows >= 4
    if rows >= facts + min(what, READABLE):
        kept, left = facts, rows - facts
    else:
        kept, left, what = 0, rows, what + facts + 1
    if what > left and more:
        left -= 1
    return Place(width, inner, framed, airy, max(1, min(what, left)), kept, more)
