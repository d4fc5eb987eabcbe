"""The playhead: given that so much time has passed, what is to be fed now. Pure; knows no timer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.replay.clock import Scene, scene_of

if TYPE_CHECKING:
    from engine.events import AnyEvent, Event

MOST = 400
"""Stored events fed at once at most: a burst is played over several frames."""


class Playhead:
    """``position``: how many events are shown. Between two of them a message may be half written (``writing``)."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self.position = 0
        self._elapsed = 0.0
        self._shown = 0
        self._scene: Scene | None = None

    @property
    def at_end(self) -> bool:
        return self.position >= len(self._events)

    @property
    def writing(self) -> bool:
        """Whether pieces of the next message are shown."""
        return self._shown > 0

    @property
    def scene(self) -> Scene | None:
        """What leads up to the next event; None at the end."""
        if self._scene is None and not self.at_end:
            self._scene = scene_of(self._events, self.position)
        return self._scene

    @property
    def due(self) -> float:
        """Seconds of the session until there is something to see; 0 at the end."""
        scene = self.scene
        if scene is None:
            return 0.0
        more = scene.pieces[self._shown].at if self._shown < len(scene.pieces) else scene.length
        return max(0.0, more - self._elapsed)

    def seek(self, position: int) -> None:
        """Go to a position, within bounds; nothing of the next event is shown."""
        self.position = min(max(0, position), len(self._events))
        self._begin(0.0)

    def advance(self, seconds: float) -> list[AnyEvent]:
        """Let time pass; what came in it, in order. The pieces of a message precede it."""
        self._elapsed += max(0.0, seconds)
        found: list[AnyEvent] = []
        first = self.position
        while (scene := self.scene) is not None and self.position - first < MOST:
            if self._elapsed < scene.length:
                found += self._written(scene)
                break
            found.append(self._events[self.position])
            self.position += 1
            self._begin(self._elapsed - scene.length)
        if self.at_end or self.position - first >= MOST:
            self._elapsed = 0.0
        return found

    def _written(self, scene: Scene) -> list[AnyEvent]:
        first = self._shown
        while self._shown < len(scene.pieces) and scene.pieces[self._shown].at <= self._elapsed:
            self._shown += 1
        return [piece.delta for piece in scene.pieces[first : self._shown]]

    def _begin(self, elapsed: float) -> None:
        self._elapsed, self._shown, self._scene = elapsed, 0, None
