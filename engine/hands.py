"""What a person's hand in a run changes in the task state: messages that wait, pauses, plans, their own commands. Pure.

Each function is one step of `engine.state.fold`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from engine import events as ev
from engine.facts import ran

if TYPE_CHECKING:
    from engine.state import TaskState

Change = dict[str, Any]
KEPT = 20
"""How many messages that wait no more are remembered."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A queued message that waits: kind is steer or follow_up."""

    id: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Settled:
    """A message that waits no more: sent with ``turn``, or, 0, never sent, for the reason ``why`` ('': a person took it
    back). ``at``: when that was."""

    id: str
    kind: str
    text: str
    turn: int = 0
    at: datetime | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan nobody has decided about yet."""

    id: str
    text: str


def stands_still(state: TaskState) -> bool:
    """Whether a run is under way and a pause keeps it from its next turn: no answer, call or person is waited for."""
    return state.running and state.paused and not (state.answering or state.open_calls or state.waiting)


def settled(state: TaskState, id: str, turn: int, at: datetime, why: str = "") -> Change:
    """The message ``id`` waits no more."""
    gone = tuple(Settled(p.id, p.kind, p.text, turn, at, why) for p in state.pending if p.id == id)
    return dict(
        pending=tuple(p for p in state.pending if p.id != id),
        settled=(*state.settled, *gone)[-KEPT:],
    )


def _message_queued(state: TaskState, e: ev.MessageQueued) -> Change:
    return dict(pending=(*state.pending, Pending(e.id, e.kind, e.text)))


def _message_withdrawn(state: TaskState, e: ev.MessageWithdrawn) -> Change:
    return settled(state, e.id, 0, e.at, e.reason)


def _queue_arranged(state: TaskState, e: ev.QueueArranged) -> Change:
    return dict(pending=tuple(Pending(item.id, item.kind, item.text) for item in e.items))


def _paused(state: TaskState, e: ev.Paused) -> Change:
    return dict(paused=True, steps=0)


def _resumed(state: TaskState, e: ev.Resumed) -> Change:
    stage = dict(stage="thinking") if state.stage == "paused" else {}
    return dict(paused=False, steps=max(0, e.turns), **stage)


def step_taken(state: TaskState) -> Change:
    """A turn begins: the last of those that were granted pauses the run again, for when it is over."""
    if not state.steps:
        return {}
    return dict(steps=state.steps - 1, paused=state.steps == 1)


def _person_ran(state: TaskState, e: ev.PersonRan) -> Change:
    return {} if e.status == "denied" else ran(state, e.command, e.exit_code)


def _plan_proposed(state: TaskState, e: ev.PlanProposed) -> Change:
    return dict(plan=Plan(e.id, e.text))


def _plan_decided(state: TaskState, e: ev.PlanDecided) -> Change:
    return dict(plan=None) if state.plan and state.plan.id == e.id else {}


# The values are typed by their parameter, which is the very class whose tag is the key.
STEPS = cast(
    "dict[str, Callable[[TaskState, Any], Change]]",
    {
        "message_queued": _message_queued,
        "message_withdrawn": _message_withdrawn,
        "queue_arranged": _queue_arranged,
        "paused": _paused,
        "resumed": _resumed,
        "person_ran": _person_ran,
        "plan_proposed": _plan_proposed,
        "plan_decided": _plan_decided,
    },
)
