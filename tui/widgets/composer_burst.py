"""Tells a paste that arrives as single keys from typing, by time alone.

A terminal without bracketed paste sends what was pasted as if it had been typed, its line ends as Enter. Nobody types
that fast: what comes within a few milliseconds of the key before is kept back and put in at once, so that a line end
in the middle of it sends nothing. Pure; times in seconds of one clock.
"""

from __future__ import annotations

GAP = 0.01
"""Keys closer than this were not pressed one by one."""

QUIET = 0.04
"""Nothing came for so long: the paste is over."""

SOON = 16
"""So many quick keys in a row are a paste."""


class Burst:
    """``lead`` counts the quick keys that went in one by one before the rest was kept back."""

    def __init__(self) -> None:
        self._last = float("-inf")
        self._held: list[str] = []
        self._pasted = False
        self.lead = 0

    @property
    def holds(self) -> int:
        """Characters kept back."""
        return len(self._held)

    def key(self, text: str, at: float) -> bool:
        """A key that stands for ``text`` came; True when it is kept back."""
        quick = 0 <= at - self._last < GAP
        self._last = at
        if not quick and not self._held:
            self.lead, self._pasted = 0, False
        if self._held or (quick and (text == "\n" or self.lead >= SOON or self._pasted)):
            self._held.append(text)
            return True
        self.lead += 1
        return False

    def other(self) -> None:
        """A key that is no text: what comes after it is no part of the same run."""
        self.lead = 0

    def paste(self, at: float) -> None:
        """A bracketed paste came; keys right behind it are what its end mark was smuggled in front of."""
        self._last, self._pasted, self.lead = at, True, 0

    def take(self) -> tuple[str, bool]:
        """What was kept back, and whether it is one line typed ahead and ended by Enter, which is to be sent."""
        text = "".join(self._held)
        self._held.clear()
        sends = text.endswith("\n") and text.count("\n") == 1 and not self._pasted
        return (text[:-1], True) if sends else (text, False)
