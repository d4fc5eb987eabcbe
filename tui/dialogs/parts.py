"""A text of any length for reading: laid out part by part, so that its length makes nobody wait. Pure."""

from __future__ import annotations

MOST = 20_000
"""Characters of a part."""


def parts(text: str, most: int = MOST) -> list[str]:
    """All of ``text`` in order, in parts of at most ``most`` characters that end at line ends where there are some."""
    found, at = [], 0
    while len(text) - at > most:
        end = text.rfind("\n", at + most // 2, at + most) + 1 or at + most
        found.append(text[at:end])
        at = end
    return [*found, text[at:]]


class Parts:
    """The part of a text that is being read."""

    def __init__(self, text: str) -> None:
        self._all = parts(text)
        self._at = 0

    @property
    def text(self) -> str:
        return self._all[self._at]

    @property
    def place(self) -> str:
        """``part 2 of 50``; nothing when there is one."""
        return f"part {self._at + 1} of {len(self._all)}" if len(self._all) > 1 else ""

    def go(self, at: int) -> bool:
        """To a part, counted round and round; whether it is another one."""
        before, self._at = self._at, at % len(self._all)
        return before != self._at

    def read_on(self) -> bool:
        """To the next part, after the last to the first."""
        return self.go(self._at + 1)
