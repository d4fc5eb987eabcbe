"""Requests that wait for a person, from all sessions: a queue, shown one at a time, never in the middle of a word."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.events import AnyEvent, ApprovalRequested, PlanProposed, QuestionAsked
    from engine.state import TaskState

    Request = ApprovalRequested | QuestionAsked | PlanProposed

TYPING_PAUSE = 1.0
Key = tuple[str, str]
"""A session and the id of a request in it."""


def key_of(request: Request) -> Key:
    return request.session, request.id


def waits_for_you(state: TaskState) -> int:
    """How many things of a session wait for a person: approvals, questions, a plan."""
    return len(state.waiting) + (state.plan is not None)


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
            elif event.type == "plan_proposed":
                self._drop(event.session, plans=True)
                self._waiting[key_of(event)] = event
            elif event.type in ("approval_decided", "question_answered", "plan_decided"):
                self.settle((event.session, event.id))
            elif event.type == "tool_result":
                call = (event.session, event.call_id)
                for key in [k for k, r in self._waiting.items() if (r.session, _call_of(r)) == call]:
                    self.settle(key)
            elif event.type == "run_finished":
                # Its plan is there to be decided about from now on.
                self._drop(event.session, plans=False)
            elif event.type == "handed_off":
                self.clear(event.session)

    def _drop(self, session: str, plans: bool) -> None:
        """What waits no more in a session: its plan, for which there is a newer one, or all that its run asked."""
        for key in [k for k, r in self._waiting.items() if k[0] == session and (r.type == "plan_proposed") == plans]:
            del self._waiting[key]
            self._aside.discard(key)
        if not any(request.type != "plan_proposed" for request in self._waiting.values()):
            self._settled = 0

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

    def recall(self, first: Key | None = None) -> None:
        """Offer again what was put aside, ``first`` before the others."""
        self._aside.clear()
        if first is not None and first in self._waiting:
            self._waiting = {first: self._waiting[first], **self._waiting}

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


def _call_of(request: Request) -> str:
    """The call a request belongs to; '' for a plan, which is the end of a run."""
    return "" if request.type == "plan_proposed" else request.call_id
