"""How long each event took to come, as it is played: real time, without the waits in which nothing was to be seen.

Order is that of the events alone. Wall-clock times may be equal, missing or run backwards: then no time passed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.replay.stream import IDLE, Piece, pieces_of

if TYPE_CHECKING:
    from engine.events import Event

SPEEDS = (1, 2, 4, 8, 32)
BEAT = 0.04
"""Seconds an event that can be seen takes at least, so that a burst of them can be followed."""
YEAR = 31_536_000.0
"""Seconds; no wait is said to be longer. Times that came from outside may be infinite."""
UNSEEN = frozenset({"session_started", "prompt_rendered", "runtime_update", "turn_started"})


@dataclass(frozen=True, slots=True)
class Scene:
    """What leads up to one event: ``pieces`` of a message being written, then after ``length`` seconds the event.

    cut: seconds of waiting left out.
    """

    length: float
    pieces: tuple[Piece, ...] = ()
    cut: float = 0.0


def scene_of(events: Sequence[Event], index: int) -> Scene:
    """The scene that ends with ``events[index]``."""
    event = events[index]
    waited = gap(events, index)
    pieces = pieces_of(event) if event.type == "assistant_message" else ()
    if event.type == "assistant_message" and pieces:
        # The monotonic clock of the message itself is better than the difference of two wall clocks.
        took = max(event.timing.total, pieces[-1].at)
        length = pieces[-1].at + min(max(0.0, event.timing.total - _streamed(event)), IDLE)
        return Scene(max(length, BEAT), pieces, min(max(0.0, took - length), YEAR))
    least = 0.0 if event.type in UNSEEN else BEAT
    length = max(least, min(waited, IDLE))
    return Scene(length, (), min(max(0.0, waited - length), YEAR))


def gap(events: Sequence[Event], index: int) -> float:
    """Seconds between an event and the one before it by the wall clock; never negative."""
    if index <= 0:
        return 0.0
    return max(0.0, (events[index].at - events[index - 1].at).total_seconds())


def _streamed(event: Event) -> float:
    """Seconds from the request to the last piece, as they really were."""
    if event.type != "assistant_message" or not event.timing.track:
        return 0.0
    return event.timing.first_token + event.timing.track[-1][0] / 1000


def faster(speed: int, step: int) -> int:
    """The speed ``step`` places further in ``SPEEDS``, which ends at both ends."""
    at = SPEEDS.index(speed) if speed in SPEEDS else 0
    return SPEEDS[min(max(at + step, 0), len(SPEEDS) - 1)]
