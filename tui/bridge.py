"""From the engine thread to the screen: events in batches, at most one a frame.

The first event after a pause is handed over at once; what follows within the same frame waits for the next one. No
timer runs while nothing arrives. Order is kept. Pieces of the same streamed block become one, and of the states only
the newest survives, at the end of its batch: whoever reads it has seen every event it was folded from.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.events import AnyEvent, StateChanged, StreamDelta

FRAME = 1 / 30
LARGEST = 2_000


class Bridge:
    """``wake`` is called on the engine thread when there is something to take; it must be thread-safe and return at
    once. `take` belongs to the UI thread."""

    def __init__(self, wake: Callable[[], object]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._events: list[AnyEvent] = []
        self._pieces: list[str] = []
        self._states: dict[str, StateChanged] = {}
        self._woken = False
        self._taken_at = 0.0

    def receive(self, event: Any) -> None:
        """Engine thread: keep ``event`` for the next batch."""
        with self._lock:
            if event.type == "state_changed":
                self._states[event.session] = event
            elif event.type == "stream_delta" and self._continues(event):
                self._pieces.append(event.text)
            else:
                self._seal()
                self._events.append(event)
                if event.type == "stream_delta":
                    self._pieces.append(event.text)
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
            self._seal()
            self._taken_at = monotonic()
            batch, self._events = self._events[:LARGEST], self._events[LARGEST:]
            more = self._woken = bool(self._events)
            if not more:
                batch += self._states.values()
                self._states = {}
            return tuple(batch), more

    def _continues(self, event: StreamDelta) -> bool:
        """Whether ``event`` goes on with the block at the end of what waits."""
        if not self._pieces:
            return False
        last = self._events[-1]
        return (
            last.type == "stream_delta"
            and (last.session, last.turn, last.index, last.kind, last.call_id)
            == (event.session, event.turn, event.index, event.kind, event.call_id)
        )  # fmt: skip

    def _seal(self) -> None:
        """Join the pieces of the last streamed block into one event."""
        if len(self._pieces) > 1:
            last = self._events[-1]
            self._events[-1] = last.model_copy(update={"text": "".join(self._pieces)})
        self._pieces = []
