"""When keys begin to count: after the dialog could be read, and after whoever was typing has paused. Pure."""

from __future__ import annotations

from collections.abc import Callable

READ = 0.5
"""Seconds a dialog is on screen before a key can answer it."""

PAUSE = 1.0
"""Seconds without a key before one is taken as meant for the dialog."""

NEVER = float("-inf")
"""A time at which no key was pressed."""


class Grace:
    """``typed_at``: when a key was pressed last before the dialog came, by ``clock``."""

    def __init__(self, clock: Callable[[], float], typed_at: float = NEVER) -> None:
        self._clock = clock
        self._typed = typed_at
        self._shown = clock()

    def shown(self) -> None:
        """The dialog has come to be seen, for the first time or again."""
        self._shown = self._clock()

    @property
    def left(self) -> float:
        """Seconds until keys count, 0 when they do."""
        return max(0.0, max(self._shown + READ, self._typed + PAUSE) - self._clock())

    @property
    def typing(self) -> bool:
        """Whether it is typing that keeps keys from counting, not that the dialog is new."""
        return self._typed + PAUSE > max(self._clock(), self._shown + READ)

    def counts(self) -> bool:
        """A key was pressed: whether it counts. One that does not is taken as typing that goes on."""
        if self.left <= 0:
            return True
        self._typed = self._clock()
        return False
