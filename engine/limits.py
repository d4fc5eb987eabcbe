"""Hard limits of a run: pure checks over the state, and a clock that stands still while people are asked."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.prompt.runtime import budget_rows
from engine.state import TaskState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.events import Event, ToolCall


def reached(state: TaskState) -> str:
    """The first limit that forbids another turn, in words; empty when none does."""
    for name, used, limit in budget_rows(state):
        if used >= limit:
            return f"the limit of {limit:g} {name} is reached ({used:.6g} used)"
    return ""


def spent(state: TaskState) -> str:
    """As `reached`, but only what forbids running the calls just made: tokens, cost and time, not counts."""
    for name, used, limit in budget_rows(state):
        if name in ("tokens", "cost in USD", "seconds") and used >= limit:
            return f"the limit of {limit:g} {name} is reached ({used:.6g} used)"
    return ""


def repeated(events: Sequence[Event], limit: int | None) -> str:
    """Whether the newest call was made ``limit`` times in a row within this run with the same arguments, in words."""
    if limit is None:
        return ""
    newest: str | None = None
    times = 0
    for event in reversed(events):
        if event.type in ("run_started", "user_message"):
            break
        if event.type != "assistant_message" or event.aborted:
            continue
        for call in reversed(event.calls):
            key = _key(call)
            newest = newest if newest is not None else key
            if key != newest:
                return ""
            times += 1
            if times >= limit:
                return f"the same call was made {times} times in a row: {newest[:200]}"
    return ""


def _key(call: ToolCall) -> str:
    return f"{call.name} {json.dumps(call.input, sort_keys=True)}{call.bad_input}"


class WorkClock:
    """Seconds of working: monotonic, paused while a person is asked. Not thread-safe; one a run."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._since = now()
        self._before = 0.0
        self._pauses = 0

    @property
    def seconds(self) -> float:
        return self._before + (0.0 if self._pauses else self._now() - self._since)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stand still within; may be nested and overlap."""
        if not self._pauses:
            self._before += self._now() - self._since
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                self._since = self._now()
