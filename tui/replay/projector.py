"""The projector: shows a film in a transcript. Forward by feeding, anywhere else by drawing anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from engine.events import Notice
from tui.format import plural
from tui.replay.playhead import Playhead

if TYPE_CHECKING:
    from engine.events import AnyEvent
    from tui.replay.film import Film

NEAR = 200
"""Events fed on the way forward; a longer way is drawn anew."""
SETTLE = 0.04
"""Seconds without another jump after which the transcript is drawn anew: a key held down skips what nobody sees."""


class Surface(Protocol):
    """What is needed of a transcript."""

    def feed(self, events: Sequence[AnyEvent]) -> None: ...
    def rewind(self, events: Sequence[AnyEvent]) -> None: ...
    def action_go_to_end(self) -> None: ...


class Timer(Protocol):
    def stop(self) -> None: ...


class Projector:
    """``later(seconds, call)`` calls once, unless what it returns is stopped before."""

    def __init__(self, film: Film, surface: Surface, later: Callable[[float, Callable[[], None]], Timer]) -> None:
        self.film = film
        self._surface, self._later = surface, later
        self._head = Playhead(film.events)
        self._fed = 0
        self._settling: Timer | None = None

    @property
    def position(self) -> int:
        """How many events are shown."""
        return self._head.position

    @property
    def at_end(self) -> bool:
        return self._head.at_end

    @property
    def cut(self) -> float:
        """Seconds of waiting left out before the next event."""
        scene = self._head.scene
        return scene.cut if scene else 0.0

    @property
    def settled(self) -> bool:
        """Whether the transcript shows the position."""
        return self._settling is None

    def go_to(self, position: int) -> None:
        """Show the film as of ``position``; the transcript follows at once when that is near, else soon."""
        half_written = self._head.writing
        self._head.seek(position)
        ahead = self.position - self._fed
        if self.settled and 0 < ahead <= NEAR:
            self._surface.feed(self.film.events[self._fed : self.position])
            self._surface.action_go_to_end()
            self._fed = self.position
        elif ahead or half_written or not self.settled:
            self._stop()
            self._settling = self._later(SETTLE, self.settle)

    def settle(self) -> None:
        """Draw the transcript anew, from not too far back."""
        self._stop()
        start, end = self.film.window(self.position)
        self._surface.rewind([*_left_out(start), *self.film.events[start:end]])
        self._fed = end

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` of the session pass."""
        if not self.settled:
            self.settle()
        found = self._head.advance(seconds)
        if found:
            self._surface.feed(found)
            self._fed = self.position

    def _stop(self) -> None:
        if self._settling is not None:
            self._settling.stop()
            self._settling = None


def _left_out(count: int) -> list[AnyEvent]:
    """A line in place of what is not drawn."""
    if not count:
        return []
    return [Notice(level="info", text=f"{plural(count, 'earlier event')} not drawn here: the time line leads there")]
