"""From the engine thread to the screen: events in batches, at most one a frame.

The first event after a pause is handed over at once; what follows within the same frame waits for the next one. No
timer runs while nothing arrives. Within a session order is kept. Pieces of the same streamed block become one, whatever
other sessions say in between, and of the states only the newest survives, at the end of its batch: whoever reads it
has seen every event it was folded from.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.events import AnyEvent, StateChanged, StreamDelta

FRAME = 1 / 30
LARGEST = 2_000


@dataclass(slots=True)
class _Stream:
    """A block being streamed: its first piece is event number ``at`` of those that wait."""

    at: int
    pieces: list[str]


class Bridge:
    """``wake`` is called on the engine thread when there is something to take; it must be thread-safe and return at
    once. `take` belongs to the UI thread."""

    def __init__(self, wake: Callable[[], object]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._events: list[AnyEvent] = []
        self._streams: dict[str, _Stream] = {}
        self._states: dict[str, StateChanged] = {}
        self._woken = False
        self._taken_at = 0.0

    def receive(self, event: Any) -> None:
        """Engine thread: keep ``event`` for the next batch."""
        with self._lock:
            if event.type == "state_changed":
                self._states[event.session] = event
            elif event.type == "stream_delta":
                self._streamed(event)
            else:
                self._seal(event.session)
                self._events.append(event)
            if self._woken:
                return
            self._woken = True
        self._wake()

    def wait(self) -> float:
        """UI thread: seconds until the next batch may be shown; 0 is now."""
        return max(0.0, self._taken_at + FRAME - monotonic())

    def take(self) -> tuple[tuple[AnyEvent, ...], bool]:
        """UI thread: the next batch, and whether more is waiting (then `take` again a frame later).

        A batch holds at most ``LARGEST`` events, so that the history of a long session does not hold up a key.
        """
        with self._lock:
            for session in list(self._streams):
                self._seal(session)
            self._taken_at = monotonic()
            batch, self._events = self._events[:LARGEST], self._events[LARGEST:]
            more = self._woken = bool(self._events)
            if not more:
                batch += self._states.values()
                self._states = {}
            return tuple(batch), more

    def _streamed(self, event: StreamDelta) -> None:
        """Another piece: of the block its session streams, or the first of one."""
        stream = self._streams.get(event.session)
        if stream is not None and _goes_on(self._events[stream.at], event):
            stream.pieces.append(event.text)
            return
        self._seal(event.session)
        self._streams[event.session] = _Stream(len(self._events), [event.text])
        self._events.append(event)

    def _seal(self, session: str) -> None:
        """Join the pieces of the block that ``session`` streamed last into one event."""
        stream = self._streams.pop(session, None)
        if stream is not None and len(stream.pieces) > 1:
            whole: Any = self._events[stream.at]
            self._events[stream.at] = whole.model_copy(update={"text": "".join(stream.pieces)})


def _goes_on(first: Any, event: StreamDelta) -> bool:
    """Whether ``event`` is of the same block as the piece ``first``."""
    return bool(
        (first.turn, first.index, first.kind, first.call_id) == (event.turn, event.index, event.kind, event.call_id)
    )
