"""Requests that wait for a person: a queue, shown one at a time, never in the middle of a word."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.events import AnyEvent, ApprovalRequested, PlanProposed, QuestionAsked
    from engine.state import TaskState

    Request = ApprovalRequested | QuestionAsked | PlanProposed

TYPING_PAUSE = 1.0


def waits_for_you(state: TaskState) -> int:
    """How many things of a session wait for a person: approvals, questions, a plan."""
    return len(state.waiting) + (state.plan is not None)


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
            elif event.type == "plan_proposed":
                self._forget_plan()
                self._waiting[event.id] = event
            elif event.type in ("approval_decided", "question_answered", "plan_decided"):
                self.settle(event.id)
            elif event.type == "tool_result":
                for id in [r.id for r in self._waiting.values() if _call_of(r) == event.call_id]:
                    self.settle(id)
            elif event.type == "run_finished":
                self._end_run()

    def _forget_plan(self) -> None:
        """There is a newer plan, which takes the place of the one before."""
        for id in [r.id for r in self._waiting.values() if r.type == "plan_proposed"]:
            self.settle(id)

    def _end_run(self) -> None:
        """What the run asked waits no more; its plan is there to be decided about from now on."""
        for id in [r.id for r in self._waiting.values() if r.type != "plan_proposed"]:
            self.settle(id)
        self._settled = 0

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

    def recall(self, first: str = "") -> None:
        """Offer again what was put aside, ``first`` before the others."""
        self._aside.clear()
        if first in self._waiting:
            self._waiting = {first: self._waiting[first], **self._waiting}

    def clear(self) -> None:
        """Another session."""
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


def _call_of(request: Request) -> str:
    """The call a request belongs to; '' for a plan, which is the end of a run."""
    return "" if request.type == "plan_proposed" else request.call_id
