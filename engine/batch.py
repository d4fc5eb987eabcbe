"""The calls of one answer: reading ones side by side, changing ones in order, and a true result for each.

A call that never started says so; one that was cut says that it may have had side effects; one that finished at the
very moment of an interrupt keeps its real result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from itertools import groupby

from engine import events as ev
from engine import planning
from engine.prompt import modes
from engine.rewinding import may_change_files
from engine.session import Session
from engine.tools.base import ToolContext
from engine.tools.output_tail import OutputTail
from engine.tools.registry import is_read_only
from engine.tools.runner import (
    cancelled_result,
    masked_result,
    may_have_effects,
    run_call,
    skipped_result,
    title_of_call,
)
from engine.waiting import ended

MakeContext = Callable[[ev.ToolCall], ToolContext]


class Batch:
    """Runs the calls of one assistant message. ``hold()`` is asked before each start; a text there skips the rest."""

    def __init__(
        self,
        session: Session,
        turn: int,
        context: MakeContext,
        put: Callable[[bytes], str],
        hold: Callable[[], str],
        after: Callable[[ev.ToolResult], None],
        before_changes: Callable[[], Awaitable[None]],
    ) -> None:
        self._session = session
        self._turn = turn
        self._context = context
        self._put = put
        self._hold = hold
        self._after = after
        self._before_changes = before_changes
        self._tails: dict[str, OutputTail] = {}

    async def run(self, calls: Sequence[ev.ToolCall]) -> None:
        """Run them all; afterwards each has exactly one stored result. Re-raises CancelledError after that."""
        left = list(calls)
        try:
            for _, group in groupby(calls, key=lambda call: call.id if not is_read_only(call.name) else ""):
                reason = self._hold()
                if reason:
                    break
                whole = list(group)
                together = self._allowed(whole)
                if any(may_change_files(call.name, is_read_only(call.name)) for call in together):
                    await self._before_changes()
                left = [call for call in left if call not in whole]
                await self._run_together(together)
        except asyncio.CancelledError:
            self._skip(left, "the run was interrupted before this call started")
            raise
        self._skip(left, self._hold())

    def _allowed(self, calls: Sequence[ev.ToolCall]) -> list[ev.ToolCall]:
        """The calls the stage of the task allows; the others get the result that says so."""
        state = self._session.state
        for call in calls:
            if not modes.allows(call.name, state):
                self._session.append(planning.refused(call, self._turn))
        calls = [call for call in calls if modes.allows(call.name, state)]
        stage = state.present_stage
        if stage is None:
            return list(calls)
        for call in calls:
            if not stage.allows(call.name):
                self._session.append(masked_result(call, self._turn, stage.name, stage.until, stage.tools))
        return [call for call in calls if stage.allows(call.name)]

    async def _run_together(self, calls: Sequence[ev.ToolCall]) -> None:
        tasks: dict[asyncio.Task[ev.ToolResult], ev.ToolCall] = {}
        for call in calls:
            tail = self._tails[call.id] = OutputTail()
            context = tail.hearing(self._context(call))
            effects = may_have_effects(call, context.broker)
            title = title_of_call(call)
            self._session.append(
                ev.ToolStarted(call_id=call.id, turn=self._turn, name=call.name, title=title, effects=effects)
            )
            tasks[asyncio.create_task(run_call(call, self._turn, context, self._put))] = call
        waiting = set(tasks)
        try:
            while waiting:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                self._store(tasks, done)
        except asyncio.CancelledError:
            for task in waiting:
                task.cancel()
            await ended(waiting)
            self._store(tasks, waiting)
            raise

    def _store(
        self, tasks: dict[asyncio.Task[ev.ToolResult], ev.ToolCall], done: set[asyncio.Task[ev.ToolResult]]
    ) -> None:
        for task in sorted(done, key=list(tasks).index):
            call = tasks[task]
            result = self._cut(call) if task.cancelled() else task.result()
            self._after(self._session.append(result))

    def _cut(self, call: ev.ToolCall) -> ev.ToolResult:
        if _cut_at_the_gate(self._session.events, call.id):
            return skipped_result(call, self._turn, "the run was interrupted while this call waited for approval")
        seconds = (datetime.now(UTC) - _began(self._session.events, call.id)).total_seconds()
        return cancelled_result(call, self._turn, started=True, said=self._tails[call.id].text, seconds=seconds)

    def _skip(self, calls: Sequence[ev.ToolCall], reason: str) -> None:
        for call in calls:
            self._session.append(skipped_result(call, self._turn, reason))


def _began(events: Sequence[ev.Event], call_id: str) -> datetime:
    """Since when a cut call ran: while a person was asked about it, it did not."""
    for event in reversed(events):
        if event.type == "approval_decided" or (event.type == "tool_started" and event.call_id == call_id):
            return event.at
    return datetime.now(UTC)


def _cut_at_the_gate(events: Sequence[ev.Event], call_id: str) -> bool:
    """Whether the last thing known of a cut call is that its approval was still open: then it never ran."""
    for event in reversed(events):
        if event.type == "approval_requested" and event.call_id == call_id:
            decided = next((e for e in reversed(events) if e.type == "approval_decided" and e.id == event.id), None)
            return decided is None or decided.choice == "deny"
        if event.type == "assistant_message":
            return False
    return False
