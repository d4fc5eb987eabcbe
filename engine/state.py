"""Task state: a pure fold over the stored events.

``fold(events)`` is prefix-consistent: ``fold(a + b) == fold(b, start=fold(a))``. Nothing here looks at a clock, a file
or the network, so the state after a restart, in a replay and in a test is the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.events import Event, Limits, TodoItem, Usage


@dataclass(frozen=True, slots=True)
class TurnUsage:
    """Usage of one turn, for the cache pane. cost and saved in USD, first_token and seconds in seconds."""

    turn: int
    read: int
    write: int
    new: int
    output: int
    cost: float | None
    saved: float | None
    first_token: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Pending:
    """A queued message that waits: kind is steer or follow_up."""

    id: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A tool call without a result yet. ``started`` False: generated but not begun."""

    call_id: str
    name: str
    title: str
    started: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    """An approval or a question nobody has answered: kind is approval or question."""

    id: str
    kind: str
    call_id: str
    title: str
    risk: str = ""
