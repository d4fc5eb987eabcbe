"""What in a session is worth a mark on its time line, and where. Pure; a position is how many events are shown.

The event at index ``i`` is the newest one at position ``i + 1``: jumping to a moment shows it as the end.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from engine.events import Event

Kind = Literal["denied", "approval", "error", "stop", "compaction", "user", "call"]
Goal = Literal["user", "approval", "error", "turn"]

RANK: tuple[Kind, ...] = ("denied", "approval", "error", "stop", "compaction", "user", "call")
"""The weightiest first: of several moments in one place this one is shown."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened at ``position``."""

    position: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Moments:
    """All moments of a session in order, and the positions each jump goes to."""

    marks: tuple[Moment, ...]
    goals: dict[Goal, tuple[int, ...]]

    def next(self, goal: Goal, position: int, direction: int = 1) -> int | None:
        """The nearest goal after (1) or before (-1) ``position``; None when there is none."""
        places = self.goals.get(goal, ())
        at = bisect_right(places, position) if direction > 0 else bisect_left(places, position) - 1
        return places[at] if 0 <= at < len(places) else None

    def count(self, kind: Kind) -> int:
        return sum(moment.kind == kind for moment in self.marks)


def find_moments(events: Sequence[Event]) -> Moments:
    """The moments of ``events``."""
    refused = _Refused()
    marks = [
        Moment(position, kind)
        for position, event in enumerate(events, 1)
        if (kind := refused.once(event, _kind(event))) is not None
    ]
    goals: dict[Goal, tuple[int, ...]] = {
        "user": _places(marks, "user"),
        "approval": _places(marks, "approval"),
        "error": _places(marks, "error", "stop", "denied"),
        "turn": tuple(position for position, event in enumerate(events, 1) if event.type == "turn_started"),
    }
    return Moments(tuple(marks), goals)


def _places(marks: Iterable[Moment], *kinds: Kind) -> tuple[int, ...]:
    return tuple(moment.position for moment in marks if moment.kind in kinds)


class _Refused:
    """A person's denial and the result that tells the model of it are one moment, not two."""

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}
        self._said: set[str] = set()

    def once(self, event: Event, kind: Kind | None) -> Kind | None:
        if event.type == "approval_requested":
            self._calls[event.id] = event.call_id
        elif event.type == "approval_decided" and kind == "denied":
            self._said.add(self._calls.get(event.id, ""))
        elif event.type == "tool_result" and kind == "denied" and event.call_id in self._said:
            return None
        return kind


def _kind(event: Event) -> Kind | None:
    match event.type:
        case "user_message":
            return "user"
        case "tool_started":
            return "call"
        case "approval_requested" | "question_asked":
            return "approval"
        case "approval_decided":
            return "denied" if event.choice == "deny" else None
        case "tool_result":
            outcomes: dict[str, Kind] = {"denied": "denied", "error": "error", "cancelled": "stop"}
            return outcomes.get(event.status)
        case "model_failed":
            return "error"
        case "notice":
            return "error" if event.level == "danger" else None
        case "run_finished":
            ends: dict[str, Kind] = {"failed": "error", "no_model": "error", "interrupted": "stop", "limit": "stop"}
            return ends.get(event.reason)
        case "compacted":
            return "compaction"
        case _:
            return None
