"""Requests that wait for a person: a queue, shown one at a time, never in the middle of a word."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.events import AnyEvent, ApprovalRequested, QuestionAsked

    Request = ApprovalRequested | QuestionAsked

TYPING_PAUSE = 1.0


class Asking:
    """Follows the events; knows what waits and which request is to be shown next.

    A request a person has put aside is not offered again until asked for.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, Request] = {}
        self._aside: set[str] = set()
        self._settled = 0

    def feed(self, events: Iterable[AnyEvent]) -> None:
        """Take events in order, those of the past included."""
        for event in events:
            if event.type in ("approval_requested", "question_asked"):
                self._waiting[event.id] = event
            elif event.type in ("approval_decided", "question_answered"):
                self.settle(event.id)
            elif event.type == "tool_result":
                for id in [r.id for r in self._waiting.values() if r.call_id == event.call_id]:
                    self.settle(id)
            elif event.type == "run_finished":
                self.clear()

    def settle(self, id: str) -> None:
        """It has been answered, here or elsewhere."""
        if self._waiting.pop(id, None) is not None:
            self._settled += 1
        self._aside.discard(id)
        if not self._waiting:
            self._settled = 0

    def put_aside(self, id: str) -> None:
        """A person closed the dialog without an answer: it still waits, and is in their hands."""
        self._aside.add(id)

    def recall(self) -> None:
        """Offer again what was put aside."""
        self._aside.clear()

    def clear(self) -> None:
        """The run or the session is over."""
        self._waiting.clear()
        self._aside.clear()
        self._settled = 0

    def waits(self, id: str) -> bool:
        return id in self._waiting

    def next(self) -> Request | None:
        """The oldest request that was not put aside."""
        return next((r for r in self._waiting.values() if r.id not in self._aside), None)

    def place(self, id: str) -> tuple[int, int]:
        """Its place among those that have come together, and how many those are: ``2 of 3``."""
        ids = list(self._waiting)
        return self._settled + ids.index(id) + 1, self._settled + len(ids)
