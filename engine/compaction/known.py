"""The facts of the events a session holds no longer."""

from __future__ import annotations

from collections.abc import Iterable

from engine.compaction.ledger import Gathered, Ledger
from engine.events import Event


class Known:
    """Facts of all events before ``upto`` (a seq; 0 for none), which can be added to."""

    def __init__(self) -> None:
        self.upto = 0
        self._gathered = Gathered()
        self._newest = 0

    def take(self, events: Iterable[Event], upto: int) -> None:
        """Know the facts before ``upto`` too: ``events``, among which may be some that are known, or lie behind it."""
        for event in events:
            if self._newest < event.seq < upto:
                self._newest = event.seq
                self._gathered.take(event)
        self.upto = upto

    def and_of(self, events: Iterable[Event]) -> Ledger:
        """The ledger of what is known and of ``events``, without those that are known."""
        gathered = self._gathered.copy()
        for event in events:
            if not self.upto or event.seq >= self.upto:
                gathered.take(event)
        return gathered.ledger()
