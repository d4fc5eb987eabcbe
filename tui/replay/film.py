"""A stored session ready to be shown from any place: its events, the moments in it, and states to go on from."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from engine.log.describe import describe
from engine.state import TaskState, fold
from tui.replay.moments import Moments, find_moments

if TYPE_CHECKING:
    from engine.events import Event
    from engine.queries import LoadedSession

EVERY = 500
"""Events between two kept states: what a jump has to fold at most."""
WINDOW = 2_000
"""Events before a position that are drawn when jumping there."""
_DECISIONS = frozenset({"approval_requested", "approval_decided"})


@dataclass(frozen=True, slots=True)
class Facts:
    """What the header says of the whole session. ``started`` and ``ended`` are None when it is empty; before it is
    ``whole``, only times, turns and what was skipped are known."""

    title: str = ""
    started: datetime | None = None
    ended: datetime | None = None
    turns: int = 0
    calls: int = 0
    approvals: int = 0
    cost: float = 0.0
    skipped: int = 0
    whole: bool = False


class Film:
    """States are folded by `develop`, which may run on another thread while positions it has passed are shown."""

    def __init__(self, loaded: LoadedSession) -> None:
        self.id = loaded.id
        self.events: tuple[Event, ...] = loaded.events
        self.moments: Moments = find_moments(self.events)
        times = [event.at for event in self.events]
        self.first_facts = Facts(
            started=times[0] if times else None,
            # A clock set back would let the session end before it began.
            ended=max(times) if times else None,
            turns=len(self.moments.goals["turn"]),
            skipped=len(loaded.skipped),
        )
        self._kept: list[TaskState] = [TaskState()]
        self._last: tuple[int, TaskState] = (0, self._kept[0])
        self._starts = [0, *(position - 1 for position in _merged(self.moments))]
        self._todo = _places(self.events, "todo_changed")
        self._decisions = _places(self.events, *_DECISIONS)

    def __len__(self) -> int:
        return len(self.events)

    @property
    def developed(self) -> int:
        """The position up to which states can be had at once."""
        return min(len(self.events), len(self._kept) * EVERY - 1)

    def develop(self, rounds: int = 10) -> bool:
        """Fold on, ``rounds`` times ``EVERY`` events; False when all is folded."""
        for _ in range(rounds):
            done = (len(self._kept) - 1) * EVERY
            if done + EVERY > len(self.events):
                return False
            self._kept.append(fold(self.events[done : done + EVERY], self._kept[-1]))
        return True

    def state_at(self, position: int) -> TaskState:
        """The state after the first ``position`` events."""
        position = min(max(0, position), len(self.events))
        near = min(position // EVERY, len(self._kept) - 1)
        start, state = near * EVERY, self._kept[near]
        last, known = self._last
        if start <= last <= position:
            start, state = last, known
        state = fold(self.events[start:position], state)
        self._last = (position, state)
        return state

    def facts(self) -> Facts:
        """What is true of the whole session. Folds whatever is not developed yet."""
        end = fold(self.events[(len(self._kept) - 1) * EVERY :], self._kept[-1])
        return replace(
            self.first_facts, title=end.title, calls=end.calls, approvals=end.approvals, cost=end.cost, whole=True
        )

    def described(self, position: int) -> tuple[datetime | None, str, str]:
        """The newest event shown: when, a word for its kind, and what it says; not yet fit for a terminal."""
        if not 1 <= position <= len(self.events):
            return None, "", ""
        event = self.events[position - 1]
        return event.at, *describe(event)

    def turn_at(self, position: int) -> int:
        """How many turns have begun."""
        return bisect_right(self.moments.goals["turn"], position)

    def window(self, position: int) -> tuple[int, int]:
        """The events to draw for a position, as a slice: from the beginning of a turn not much too far back."""
        if position <= WINDOW:
            return 0, position
        at = bisect_right(self._starts, position - WINDOW) - 1
        start = self._starts[at]
        # A single endless turn is cut where it must be.
        return (start if position - start <= 2 * WINDOW else position - WINDOW), position

    def todo_before(self, position: int) -> Sequence[Event]:
        """The newest change of the todo list, if any."""
        at = bisect_left(self._todo, position)
        return [self.events[self._todo[at - 1]]] if at else []

    def decisions_before(self, position: int, most: int = 40) -> Sequence[Event]:
        """The newest approvals asked for and decided, in order."""
        at = bisect_left(self._decisions, position)
        return [self.events[index] for index in self._decisions[max(0, at - most) : at]]

    def opening(self) -> int:
        """Where to begin: at the first words of a person, or with everything there is when nobody said any."""
        users = self.moments.goals["user"]
        return users[0] if users else len(self.events)


def _places(events: Sequence[Event], *types: str) -> list[int]:
    return [index for index, event in enumerate(events) if event.type in types]


def _merged(moments: Moments) -> list[int]:
    return sorted({*moments.goals["turn"], *moments.goals["user"]})
