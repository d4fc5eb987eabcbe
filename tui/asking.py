"""Requests that wait for a person, from all sessions: a queue, shown one at a time, never in the middle of a word."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.events import AnyEvent, ApprovalRequested, QuestionAsked

    Request = ApprovalRequested | QuestionAsked

TYPING_PAUSE = 1.0
Key = tuple[str, str]
"""A session and the id of a request in it."""


def key_of(request: Request) -> Key:
    return request.session, request.id


class Asking:
    """Follows the events; knows what waits and which request is to be shown next.

    A request a person has put aside is not offered again until asked for.
    """

    def __init__(self) -> None:
        self._waiting: dict[Key, Request] = {}
        self._aside: set[Key] = set()
        self._settled = 0

    def feed(self, events: Iterable[AnyEvent]) -> None:
        """Take events in order, those of the past included."""
        for event in events:
            if event.type in ("approval_requested", "question_asked"):
                self._waiting[key_of(event)] = event
            elif event.type in ("approval_decided", "question_answered"):
                self.settle((event.session, event.id))
            elif event.type == "tool_result":
                call = (event.session, event.call_id)
                for key in [k for k, r in self._waiting.items() if (r.session, r.call_id) == call]:
                    self.settle(key)
            elif event.type in ("run_finished", "handed_off"):
                self.clear(event.session)

    def settle(self, key: Key) -> None:
        """It has been answered, here or elsewhere."""
        if self._waiting.pop(key, None) is not None:
            self._settled += 1
        self._aside.discard(key)
        if not self._waiting:
            self._settled = 0

    def put_aside(self, key: Key) -> None:
        """A person closed the dialog without an answer: it still waits, and is in their hands."""
        self._aside.add(key)

    def recall(self) -> None:
        """Offer again what was put aside."""
        self._aside.clear()

    def clear(self, session: str) -> None:
        """The run or the session is over."""
        for key in [key for key in self._waiting if key[0] == session]:
            del self._waiting[key]
            self._aside.discard(key)
        if not self._waiting:
            self._settled = 0

    def waits(self, key: Key) -> bool:
        return key in self._waiting

    def next(self, shown: str = "") -> Request | None:
        """The oldest request that was not put aside, of the session that is ``shown`` before those of others."""
        return next((r for r in self._in_order(shown) if key_of(r) not in self._aside), None)

    def place(self, key: Key, shown: str = "") -> tuple[int, int]:
        """Its place among those that have come together, and how many those are: ``2 of 3``."""
        keys = [key_of(request) for request in self._in_order(shown)]
        return self._settled + keys.index(key) + 1, self._settled + len(keys)

    def _in_order(self, shown: str) -> list[Request]:
        return sorted(self._waiting.values(), key=lambda request: request.session != shown)
