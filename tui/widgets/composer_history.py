"""What was sent before, walked with Up and Down; the draft waits at the end of the walk. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

MOST = 500
FOUND = 100
LOOKED_AT = 4_000
"""Characters of a text that a search looks at."""


@dataclass(slots=True)
class Search:
    """A search under way. ``draft``: what was there when it began; ``found``: what is offered now, in order."""

    draft: str
    found: list[str] = field(default_factory=list)


class History:
    """``entries``: oldest first."""

    def __init__(self, entries: Sequence[str] = ()) -> None:
        self._entries = list(entries)[-MOST:]
        self._elsewhere: tuple[str, ...] = ()
        self._at = len(self._entries)
        self._draft = ""

    def recall(self, entries: Sequence[str], elsewhere: Sequence[str] = ()) -> None:
        """Put what earlier apps kept before what was said since; ``elsewhere`` is met by a search alone."""
        known = len(self._entries)
        self._entries = [*entries, *self._entries][-MOST:]
        self._at += len(self._entries) - known
        self._elsewhere = tuple(elsewhere)

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

    def with_words(self, query: str) -> list[str]:
        """Each text once that holds every word of ``query``: the newest first, those of other folders after."""
        words = query.casefold().split()
        newest: Iterable[str] = chain(reversed(self._entries), reversed(self._elsewhere))
        found: dict[str, None] = {}
        for text in newest:
            if len(found) == FOUND:
                break
            if all(word in text[:LOOKED_AT].casefold() for word in words):
                found[text] = None
        return list(found)
