"""How a person wants the panes beside the transcript: which are put away, how wide and how high. Pure.

A width or a height is a wish: what is shown is as near to it as the terminal allows, and the wish stays for a larger
one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

STACKED = ("task", "todo", "cache", "approvals")
PANES = (*STACKED, "tools")
LOWERED = ("task", "cache", "approvals")
"""Panes with a height of their own; the todo list takes what they leave, the tools pane a whole column."""

TRANSCRIPT = 40
"""Columns that the transcript keeps whatever is wished for."""
NARROWEST = 26
STEP = 4
LOWEST, HIGHEST = 2, 60
LEFT_TO_TODO = 4


@dataclass(frozen=True, slots=True)
class Arrangement:
    """``hidden``: panes put away. ``beside``: whether anything is beside the transcript. ``side``, ``tools``: widths
    of the two columns, 0 as they are anyway. ``heights``: most lines of a pane, by its name."""

    hidden: frozenset[str] = frozenset()
    beside: bool = True
    side: int = 0
    tools: int = 0
    heights: Mapping[str, int] = field(default_factory=dict)

    def toggled(self, three: bool) -> Arrangement:
        """Everything beside the transcript away, or back; ``three``: the tools have a column of their own."""
        if not self.bare(three):
            return replace(self, beside=False)
        shown = replace(self, beside=True)
        return replace(shown, hidden=frozenset()) if shown.bare(three) else shown

    def without(self, pane: str) -> Arrangement:
        return replace(self, hidden=self.hidden | {pane})

    def showing(self, pane: str) -> Arrangement:
        """With ``pane`` where it can be seen."""
        return replace(self, beside=True, hidden=self.hidden - {pane})

    def bare(self, three: bool) -> bool:
        """Whether nothing is beside the transcript."""
        return not self.stack and not (three and self.shows("tools"))

    @property
    def stack(self) -> bool:
        """Whether the side column has something to show."""
        return self.beside and not self.hidden >= set(STACKED)

    def shows(self, pane: str) -> bool:
        return self.beside and pane not in self.hidden

    def high(self, pane: str, lines: int) -> Arrangement:
        return replace(self, heights={**self.heights, pane: min(HIGHEST, max(LOWEST, lines))})

    def as_data(self) -> dict[str, Any]:
        """What `read` takes."""
        return {
            "hidden": sorted(self.hidden),
            "beside": self.beside,
            "side": self.side,
            "tools": self.tools,
            "heights": dict(self.heights),
        }


def read(data: Mapping[str, Any]) -> Arrangement:
    """The arrangement that was kept; whatever makes no sense is as if it had not been said."""
    hidden, heights = data.get("hidden"), data.get("heights")
    return Arrangement(
        hidden=frozenset(name for name in PANES if isinstance(hidden, list) and name in hidden),
        beside=data.get("beside") is not False,
        side=_size(data.get("side")),
        tools=_size(data.get("tools")),
        heights={name: n for name in LOWERED if isinstance(heights, dict) and (n := _size(heights.get(name)))},
    )


def _size(value: object) -> int:
    return value if type(value) is int and 0 < value < 1_000 else 0


def widths(kept: Arrangement, columns: int, three: bool, usual: tuple[int, int]) -> tuple[int, int]:
    """Columns for the side column and the tools in a terminal of ``columns``; ``three``: they stand side by side.
    ``usual``: the two where nothing was wished for. The transcript keeps its share."""
    side, tools = kept.side or usual[0], kept.tools or usual[1]
    room = columns - TRANSCRIPT
    if not three:
        return _within(side, room), _within(side, room)
    if not kept.stack:
        return side, _within(tools, room)
    if not kept.shows("tools"):
        return _within(side, room), tools
    side = _within(side, room - NARROWEST)
    return side, _within(tools, room - side)


def _within(wish: int, room: int) -> int:
    return min(max(wish, NARROWEST), max(room, NARROWEST))
