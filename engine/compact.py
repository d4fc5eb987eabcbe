"""Making room: asks `engine.compaction` what is due before each request and carries it out, each step an event."""

from __future__ import annotations

from contextlib import aclosing

from engine import compaction
from engine import events as ev
from engine.compaction import SummaryPlan
from engine.compaction.summary import text_of
from engine.models.base import Done, Model, ModelError
from engine.models.pricing import price
from engine.models.retry import stream_with_retry
from engine.prompt import measure, tokens
from engine.prompt.build import build
from engine.session import Session

TRIES = 2


class Compactor:
    """Compacts one session. Every step is stored before the next request is built from it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def make_room(self, model: Model) -> int:
        """Do what is due for the next request; returns about how many tokens it will have.

        Raises ModelError (``context_overflow``) when the window is full and nothing in it can be compacted.
        """
        tokens, floor = self._size()
        if why := compaction.stuck(tokens, model.context_window, floor):
            raise ModelError("context_overflow", "The context window is full.", suggestion=why)
        due = compaction.needs(tokens, model.context_window, floor)
        reason = "the window fills"
        if due == "offload":
            await self._offload(model, reason)
        elif due == "summary":
            await self.compact(model, reason)
        return self._size()[0]

    async def compact(self, model: Model, reason: str, focus: str = "") -> bool:
        """Summarise now, whatever the size; where nothing can be cut off, offload. False when there is neither.

        Never both at once: an offload would take the hot prefix from under the summary request.
        """
        return await self._summarise(model, reason, focus) or await self._offload(model, reason)

    def _size(self) -> tuple[int, int]:
        events = self._session.events
        return measure.next_request(events, self._session.state), compaction.floor(events)

    async def _offload(self, model: Model, reason: str) -> bool:
        """Layer 1: old large results become pointers, all in one go, so that the cache breaks once."""
        gain = compaction.thresholds(model.context_window).gain
        chosen = compaction.choose(self._session.events, gain)
        if not chosen.call_ids:
            return False
        before, _ = self._size()
        self._store(
            kind="offload",
            reason=reason,
            offloaded=chosen.call_ids,
            tokens_before=before,
            tokens_after=max(0, before - chosen.tokens_saved),
        )
        return True

    async def _summarise(self, model: Model, reason: str, focus: str = "") -> bool:
        """Layer 4: the model writes a note on its hot prefix. One that fails its checks is asked for once more; when
        that fails too the ledger, which code took from the log, goes on alone."""
        plan = compaction.plan_summary(self._session.events, model.context_window)
        if plan is None or not plan.shrinks():
            return False
        problems: tuple[str, ...] = ()
        usage = ev.Usage()
        for _ in range(TRIES):
            try:
                reply = await self._ask(model, compaction.instruction(focus, problems))
            except ModelError as error:
                if error.kind != "context_overflow":
                    raise
                problems = ("the request for it is larger than the window",)
                break
            usage += reply.usage
            problems = compaction.check(reply, plan)
            if not problems:
                self._store_summary(model, plan, reason, text_of(reply), usage)
                return True
        self._session.append(
            ev.Notice(
                level="warn",
                text=f"there is no summary by the model: {'; '.join(problems)}",
                hint="the facts taken from the log go on without it",
            )
        )
        self._store_summary(model, plan, reason, "", usage)
        return True

    async def _ask(self, model: Model, text: str) -> ev.AssistantMessage:
        """The reply to the summary request. It is no turn: it goes into the Compacted event, not into the talk."""
        request = compaction.summary_request(build(self._session.events, self._session.state), text)
        async with aclosing(stream_with_retry(model, request)) as parts:
            async for part in parts:
                if isinstance(part, Done):
                    turn = self._session.state.turn
                    return ev.AssistantMessage(
                        turn=turn, model=model.spec, blocks=part.blocks, stop=part.stop, usage=part.usage
                    )
        raise ModelError("network", "The summary ended without an answer.", retryable=True)

    def _store_summary(self, model: Model, plan: SummaryPlan, reason: str, summary: str, usage: ev.Usage) -> None:
        before, _ = self._size()
        freed = tokens.rough(plan.replaced - len(plan.ledger_text) - len(summary))
        self._store(
            kind="summary",
            reason=reason,
            keep_from=plan.keep_from,
            summary=summary,
            ledger=plan.ledger_text,
            tokens_before=before,
            tokens_after=max(1, before - freed),
            usage=usage,
            cost=price(model.spec, usage)[0],
        )

    def _store(self, **fields: object) -> None:
        number = self._session.state.compactions + 1
        self._session.append(ev.Compacted.model_validate({"number": number, **fields}))
