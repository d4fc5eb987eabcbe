"""Making room: asks `engine.compaction` what is due before each request and carries it out, each step an event."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace

from engine import compaction
from engine import events as ev
from engine.compaction import SummaryPlan
from engine.compaction.summary import text_of
from engine.models.base import Done, Model, ModelError
from engine.models.pricing import price
from engine.models.retry import stream_with_retry
from engine.prompt.builder import Builder
from engine.prompt.measure import Meter
from engine.session import Session

TRIES = 2
# Compactions before one request: moving results out, then a summary, then once more what that has made possible.
MOST_STEPS = 3
_TOO_LARGE = "The next request has about {:,} tokens and the window {:,}."
_SHORTER = "Send less at once, as a file for example."
_NO_ROOM = "the request for it is larger than the window"

log = logging.getLogger(__name__)


class HandOff(Exception):
    """The session cannot go on in its window: a fresh one has to, from the ledger. Says why, for a person."""


class Compactor:
    """Compacts one session. Every step is stored before the next request is built from it. put: stores an artifact."""

    def __init__(self, session: Session, put: Callable[[bytes], str]) -> None:
        self._session = session
        self._put = put
        self._meter = Meter()
        self.builder = Builder()
        self._warned = False

    def size(self, model: Model) -> int:
        """About how many tokens the next request will have."""
        return self._measured(model, self._session.events)

    async def make_room(self, model: Model) -> None:
        """Do what is due for the next request.

        Raises ModelError (``context_overflow``) when the request is larger than the window and nothing in it can be
        compacted.
        """
        window = model.context_window
        for _ in range(MOST_STEPS):
            if not compaction.is_due(self.size(model), window, self._floor()) or not await self._shrink(model):
                break
        size = self.size(model)
        why = compaction.stuck(size, window)
        if size >= window:
            raise ModelError("context_overflow", _TOO_LARGE.format(size, window), suggestion=f"{_SHORTER} {why}")
        if why and not self._warned:
            self._warned = True
            self._session.append(ev.Notice(level="warn", text="The context window is nearly full.", hint=why))

    async def compact(self, model: Model, reason: str, focus: str = "") -> bool:
        """Summarise now, whatever the size; where nothing can be cut off, offload. False when there is neither.

        Never both at once: an offload would take the hot prefix from under the summary request.
        """
        return await self._summarise(model, reason, focus) or self._offload(model, reason)

    async def after_overflow(self, model: Model) -> bool:
        """The provider refused the request as too long, whatever it was measured to have: make it smaller. What can
        be moved out goes first, so that the request for a summary has a chance to fit. False when nothing can go."""
        reason = "the window is full"
        return self._offload(model, reason, recent=1) or await self._summarise(model, reason)

    async def _shrink(self, model: Model) -> bool:
        """One step: an offload where it does as much as a summary, which also loses less; else a summary. Where the
        request for that would not fit, results go out until it does, the newest among them if they have to."""
        reason, window = "the window fills", model.context_window
        events, size, at = self._session.events, self.size(model), compaction.thresholds(window)
        if self._offload(model, reason, compaction.worth_offloading(size, window, compaction.fixed(events))):
            return True
        enough = size - at.summary + at.gain
        if not self._note_fits(model) and self._offload(model, reason, recent=0, enough=enough):
            return True
        return await self._summarise(model, reason) or self._offload(model, reason, recent=0)

    def _measured(self, model: Model, events: list[ev.Event]) -> int:
        return self._meter.next_request(events, model.spec, model.context_window)

    def _floor(self) -> int:
        return compaction.floor(self._session.events)

    def _note_fits(self, model: Model) -> bool:
        """Whether the window has room for the request with the instruction, and for a note as the answer."""
        return self.size(model) + 2 * compaction.thresholds(model.context_window).gain <= model.context_window

    def _offload(
        self, model: Model, reason: str, gain: int = 1, recent: int = compaction.RECENT_TURNS, enough: int | None = None
    ) -> bool:
        """Layer 1: old large results become pointers, all in one go, so that the cache breaks once."""
        chosen = compaction.choose(self._session.events, gain, recent, enough)
        if not chosen.call_ids:
            return False
        self._store(model, kind="offload", reason=reason, offloaded=chosen.call_ids)
        return True

    async def _summarise(self, model: Model, reason: str, focus: str = "") -> bool:
        """Layer 4: the model writes a note on its hot prefix. One that fails its checks is asked for once more; when
        that fails too the ledger, which code took from the log, goes on alone."""
        events, size = self._session.events, self.size(model)
        plan = compaction.plan_summary(events, model.context_window, self._keep, size)
        if plan is None or not plan.shrinks():
            return False
        note, usage, problems = await self._note(model, plan, focus)
        if not note:
            self._session.append(
                ev.Notice(
                    level="warn",
                    text=f"there is no summary by the model: {'; '.join(problems)}",
                    hint="the facts taken from the log go on without it",
                )
            )
        self._store(
            model,
            kind="summary",
            reason=reason,
            keep_from=plan.keep_from,
            summary=note,
            ledger=plan.ledger_text,
            artifact=plan.artifact,
            usage=usage,
            cost=price(model.spec, usage)[0],
        )
        return True

    async def _note(self, model: Model, plan: SummaryPlan, focus: str) -> tuple[str, ev.Usage, tuple[str, ...]]:
        """The model's note, empty when none passed its checks; what was used for it; what was wrong with the last."""
        problems: tuple[str, ...] = (_NO_ROOM,)
        usage = ev.Usage()
        if not self._note_fits(model):
            return "", usage, problems
        problems = ()
        for _ in range(TRIES):
            try:
                reply = await self._ask(model, compaction.instruction(focus, problems))
            except ModelError as error:
                if error.kind != "context_overflow":
                    raise
                return "", usage, (_NO_ROOM,)
            usage += reply.usage
            problems = compaction.check(reply, plan)
            if not problems:
                return text_of(reply), usage, ()
        return "", usage, problems

    async def _ask(self, model: Model, text: str) -> ev.AssistantMessage:
        """The reply to the summary request. It is no turn: it goes into the Compacted event, not into the talk."""
        request = compaction.summary_request(self.builder.request(self._session.events, self._session.state), text)
        room = model.context_window - self.size(model) - compaction.thresholds(model.context_window).gain
        request = replace(request, max_output=max(1, min(request.max_output, room)))
        async with aclosing(stream_with_retry(model, request)) as parts:
            async for part in parts:
                if isinstance(part, Done):
                    turn = self._session.state.turn
                    return ev.AssistantMessage(
                        turn=turn, model=model.spec, blocks=part.blocks, stop=part.stop, usage=part.usage
                    )
        raise ModelError("network", "The summary ended without an answer.", retryable=True)

    def _keep(self, ledger: bytes) -> str:
        """The digest of a stored ledger; empty when the disk would not take it, which must not stop a compaction."""
        try:
            return self._put(ledger)
        except OSError as error:
            log.warning("a ledger could not be stored: %s", error)
            return ""

    def _store(self, model: Model, **fields: object) -> None:
        """Store the compaction, with the size of the request before and after it."""
        session = self._session
        number, seq = session.state.compactions + 1, session.state.seq + 1
        made = ev.Compacted.model_validate({"number": number, "seq": seq, **fields})
        before, after = self.size(model), self._measured(model, [*session.events, made])
        session.append(made.model_copy(update={"seq": 0, "tokens_before": before, "tokens_after": max(1, after)}))
