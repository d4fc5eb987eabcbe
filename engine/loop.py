"""The agent loop: two levels over one session.

Inner: deliver what was typed, ask the model, run its calls, until it stops calling. Outer: take the next follow-up,
else finish. Every way to stop is a `Stop`; the caller stores it as RunFinished.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from engine import events as ev
from engine import limits, planning, stages
from engine.batch import Batch, MakeContext
from engine.compact import Compactor, HandOff
from engine.models.base import Model, ModelError
from engine.pausing import Pausing
from engine.prompt import runtime
from engine.prompt.modes import PLAN
from engine.rewinding import Rewinder
from engine.session import Session
from engine.turn import take_turn

Reason = Literal["finished", "limit", "interrupted", "denied", "failed", "no_model", "handed_off"]

STOPPED = "not started: the person stopped the run"
STEERED = "not started: the person sent a new message first"
NO_MORE = "not started: {reason}"
# How often one request may be compacted because the provider found it too long.
OVERFLOWS = 3
# How often the model is told that the task is not done without a call in between.
REMINDERS = 3


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a run ended: ``reason`` for code, ``detail`` for people."""

    reason: Reason
    detail: str = ""


class Loop:
    """Runs one session's task. ``model`` and ``surroundings`` are asked anew each turn: both may change mid-run."""

    def __init__(
        self,
        session: Session,
        model: Callable[[], Model],
        context: MakeContext,
        put: Callable[[bytes], str],
        after: Callable[[ev.ToolResult], None],
        surroundings: Callable[[], runtime.Surroundings],
        rewinder: Rewinder,
        pausing: Pausing,
    ) -> None:
        self._session = session
        self._model = model
        self._context = context
        self._put = put
        self._after = after
        self._surroundings = surroundings
        self._rewinder = rewinder
        self._pausing = pausing
        self._compactor = Compactor(session, put)
        self._wanted: str | None = None
        self._stopping = False

    async def run(self) -> Stop:
        """Work until there is nothing left to do, something forbids going on, or a fresh session has to. Raises
        CancelledError."""
        self._stopping = False
        await self._rewinder.tell_of_changes()
        try:
            while True:
                stop = await self._work()
                if stop.reason not in ("finished", "denied") or not await self._follows():
                    return stop
        except HandOff as error:
            return Stop("handed_off", str(error))
        except ModelError as error:
            return Stop("no_model" if error.kind == "no_model" else "failed", f"{error} {error.suggestion}".strip())

    async def compact(self, focus: str) -> bool:
        """Compact now, because a person asked; False when there is nothing to compact. Raises ModelError."""
        return await self._compactor.compact(self._model(), "asked for", focus)

    def undo_compaction(self) -> str:
        """Take the newest compaction back; why not, or ''. Raises ModelError when no model can be used."""
        return self._compactor.undo(self._model())

    def compact_soon(self, focus: str) -> None:
        """Compact before the next turn, or when the run ends: history may only be rewritten between two requests."""
        self._wanted = focus

    def take_wanted(self) -> str | None:
        """The focus of a compaction that is still to be done, if any; it counts as taken."""
        focus, self._wanted = self._wanted, None
        return focus

    def stop_after_calls(self) -> None:
        """Let the calls that run end, start no other, and stop before the next turn."""
        self._stopping = True

    async def _follows(self) -> bool:
        """Whether there is more to do after an answer: what was typed meanwhile, else the next follow-up."""
        if not self._session.state.pending:
            return False
        await self._pausing.passed()
        return self._waiting("steer") or self._deliver("follow_up", most=1)

    async def _work(self) -> Stop:
        while True:
            if self._stopping:
                return Stop("interrupted", "by the person, after the calls that ran")
            await self._pausing.passed()
            self._deliver("steer")
            self._advance()
            if self._session.answered and not stages.missing(self._session.state):
                return Stop("finished")
            if reason := self._exhausted():
                return Stop("limit", reason)
            await self._make_room()
            if self._session.state.paused or self._stopping:
                continue
            message = await self._turn()
            if message.calls:
                await self._run_calls(message)
            elif not self._waiting("steer") and (stop := self._ended(message)):
                return stop

    async def _make_room(self) -> None:
        """Compact what was asked for, and what has to be."""
        if (focus := self.take_wanted()) is not None:
            await self.compact(focus)
        await self._compactor.make_room(self._model())

    async def _turn(self) -> ev.AssistantMessage:
        """One answer. A request over the window is compacted and sent again, as long as that makes it smaller."""
        session, model = self._session, self._model()
        # What came while room was made, and what a summary took out of the request.
        self._deliver("steer")
        told = runtime.updates(session.state, self._surroundings(), session.talk)
        for update in (*told, *planning.updates(session.state, session.talk)):
            session.append(update)
        self._rewinder.begin()
        left, builder = OVERFLOWS, self._compactor.builder
        while True:
            tokens = self._compactor.size(model)
            try:
                request = builder.request(session.talk, session.state)
                return await take_turn(session, model, request, builder.digest(), tokens)
            except ModelError as error:
                if error.kind != "context_overflow" or not left or not await self._compactor.after_overflow(model):
                    raise
                left -= 1

    async def _run_calls(self, message: ev.AssistantMessage) -> None:
        keep = self._rewinder.keep
        batch = Batch(self._session, message.turn, self._context, self._put, self._hold, self._after, keep)
        await batch.run(message.calls)

    def _hold(self) -> str:
        """Why the next call of a batch must not start: the person stops the run or steers it, or a limit is used up."""
        if self._stopping:
            return STOPPED
        if self._waiting("steer"):
            return STEERED
        state = self._session.state
        most = state.limits.tool_calls
        started = state.run_calls - sum(not call.started for call in state.open_calls)
        if most is not None and started >= most:
            return NO_MORE.format(reason=f"the limit of {most} tool calls is reached")
        reason = limits.spent(state)
        return NO_MORE.format(reason=reason) if reason else ""

    def _exhausted(self) -> str:
        state = self._session.state
        return limits.reached(state) or limits.repeated(self._session.talk, state.limits.repeats)

    def _ended(self, message: ev.AssistantMessage) -> Stop | None:
        """Why the run ends with this answer; None when the task is not done and the model was told so."""
        if message.stop == "length":
            return Stop("failed", "the answer was cut off at the model's output limit")
        if message.stop == "refusal":
            return Stop("failed", "the model refused to answer")
        if denied := _given_up_after_denial(self._session.talk):
            return Stop("denied", f"{denied} was denied")
        self._advance()
        if not (lacking := stages.missing(self._session.state)) or self._session.state.approve == PLAN:
            return Stop("finished")
        if _told_in_vain(self._session.talk) >= REMINDERS:
            return Stop("failed", f"the completion criteria do not hold: {'; '.join(lacking)}")
        self._session.append(runtime.not_done(lacking))
        return None

    def _advance(self) -> None:
        """The task enters the stages whose turn it is by now, also those it passes through at once."""
        for change in stages.changes(self._session.state):
            self._session.append(change)

    def _waiting(self, kind: str) -> bool:
        return any(p.kind == kind for p in self._session.state.pending)

    def _deliver(self, kind: str, most: int | None = None) -> bool:
        """Let queued messages of ``kind`` enter the conversation, oldest first; False when there were none."""
        waiting = [p for p in self._session.state.pending if p.kind == kind][:most]
        for message in waiting:
            self._session.say(message.text, kind=kind, id=message.id)
        return bool(waiting)


def _told_in_vain(events: Sequence[ev.Event]) -> int:
    """How often it was said that the task is not done since the last tool result, message or start of a run."""
    times = 0
    for event in reversed(events):
        if event.type in ("tool_result", "user_message", "run_started"):
            break
        times += event.type == "runtime_update" and event.kind == "not done"
    return times


def _given_up_after_denial(events: Sequence[ev.Event]) -> str:
    """The tool whose denial was the last thing that happened before the final answer, else ''."""
    for event in reversed(events):
        if event.type == "tool_result" and event.status != "skipped":
            return event.name if event.status == "denied" else ""
        if event.type in ("user_message", "run_started"):
            return ""
    return ""
