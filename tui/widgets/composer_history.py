"""What was sent before, walked with Up and Down; the draft waits at the end of the walk. Pure."""

from __future__ import annotations

from collections.abc import Sequence

MOST = 500


class History:
    """``entries``: oldest first."""

    def __init__(self, entries: Sequence[str] = ()) -> None:
        self._entries = list(entries)[-MOST:]
        self._at = len(self._entries)
        self._draft = ""

    def add(self, text: str) -> None:
        """Something was sent, or a draft was cleared; the walk starts at the end again."""
        if text and (not self._entries or self._entries[-1] != text):
            self._entries.append(text)
            del self._entries[:-MOST]
        self._at = len(self._entries)

    def older(self, current: str) -> str | None:
        """The entry before; None at the oldest. ``current`` is kept as the draft when the walk begins."""
        if self._at == 0:
            return None
        if self._at == len(self._entries):
            self._draft = current
        self._at -= 1
        return self._entries[self._at]

    def newer(self) -> str | None:
        """The entry after, at last the draft; None when the walk is not under way."""
        if self._at >= len(self._entries):
            return None
        self._at += 1
        return self._draft if self._at == len(self._entries) else self._entries[self._at]
