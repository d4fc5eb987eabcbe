"""Making room: asks `engine.compaction` what is due before each request and carries it out, each step an event."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from engine import compaction
from engine import events as ev
from engine.compaction import SummaryPlan, checks, handoff, undo
from engine.compaction.summary import text_of
from engine.models.base import Done, Model, ModelError
from engine.models.pricing import price
from engine.models.retry import stream_with_retry
from engine.prompt.builder import Builder
from engine.prompt.measure import Meter
from engine.session import Session

TRIES = 2
# Tokens a note needs at least.
LEAST_NOTE = 2_000
# Compactions before one request: moving results out, then a summary, then once more what that has made possible.
MOST_STEPS = 3
_TOO_LARGE = "The next request has about {:,} tokens and the window {:,}."
_SHORTER = "Go back to before it with /rewind and send less at once, as a file for example."
_STILL_FULL = "about {:,} tokens are left after all compactions there are, of a window of {:,}"
_IS_OFF = "Automatic compaction is off: compact with /compact, or turn it on again."
_NOT_BACK = "The request would have about {:,} tokens without that compaction, and the window has {:,}."
_NOW_OFF = "Automatic compaction is off now: about {:,} of {:,} tokens are used, and it would compact again at once."
_ON_AGAIN = "Turn it on again in the settings of the session, or compact with /compact."
_NO_ROOM = "the request for it is larger than the window"
_REFUSED = "the provider refuses the request as too long, and nothing in it can be shortened any more"

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
        self._lost = ""

    def size(self, model: Model) -> int:
        """About how many tokens the next request will have."""
        return self._measured(model, self._session.talk)

    async def make_room(self, model: Model) -> None:
        """Do what is due for the next request.

        Raises ModelError (``context_overflow``) when the request is larger than the window and nothing in it can be
        compacted or must not be; HandOff when what is left is too large and a fresh session would have room.
        """
        window = model.context_window
        self._lost = ""
        if self._off:
            if (size := self.size(model)) >= window:
                raise ModelError("context_overflow", _TOO_LARGE.format(size, window), suggestion=_IS_OFF)
            return
        for _ in range(MOST_STEPS):
            if not compaction.is_due(self.size(model), window, self._floor()):
                break
            self._hand_off_if(handoff.recurring(self._session.talk, window), window)
            if not await self._shrink(model):
                break
        size = self.size(model)
        why = compaction.stuck(size, window)
        if why:
            self._hand_off_if(self._lost or _STILL_FULL.format(size, window), window)
        if size >= window:
            raise ModelError("context_overflow", _TOO_LARGE.format(size, window), suggestion=f"{_SHORTER} {why}")
        if why and not self._warned:
            self._warned = True
            self._session.append(ev.Notice(level="warn", text="The context window is nearly full.", hint=why))

    async def compact(self, model: Model, reason: str, focus: str = "") -> bool:
        """Summarise now, whatever the size; where nothing can be cut off, offload. False when there is neither.

        Never both at once: an offload would take the hot prefix from under the summary request.
        """
        return await self._summarise(model, reason, focus) or self._shorten(model, reason)

    def undo(self, model: Model) -> str:
        """Take the newest compaction in force back, so that the request is as if it had never been made. Why not, for a
        person, when that is not possible; "" when it is done. Where the request is then so large that the next turn
        would compact it again, automatic compaction is turned off too, and a notice says so."""
        session, window = self._session, model.context_window
        made = undo.newest(session.talk)
        if not made:
            return "There is no compaction to take back."
        first = session.state.seq + 1
        taken = [ev.CompactionUndone(number=one.number, seq=first + n) for n, one in enumerate(reversed(made))]
        size = self._measured(model, [*session.talk, *taken])
        if size >= window:
            return _NOT_BACK.format(size, window)
        for event in taken:
            session.append(event.model_copy(update={"seq": 0}))
        if not self._off and size >= compaction.thresholds(window).summary:
            session.append(ev.SettingChanged(name="compaction", value="off"))
            session.append(ev.Notice(level="info", text=_NOW_OFF.format(size, window), hint=_ON_AGAIN))
        return ""

    async def after_overflow(self, model: Model) -> bool:
        """The provider refused the request as too long, whatever it was measured to have: make it smaller. What can
        be moved out goes first, so that the request for a summary has a chance to fit. False when nothing can go.

        Raises HandOff when nothing can go and a fresh session would begin with a smaller request than the refused one.
        """
        if self._off:
            raise ModelError("context_overflow", "The provider refused the request as too long.", suggestion=_IS_OFF)
        reason, refused = "the window is full", self.size(model)
        if self._shorten(model, reason, recent=1) or await self._summarise(model, reason):
            return True
        self._hand_off_if(self._lost or _REFUSED, min(refused, model.context_window))
        return False

    async def _shrink(self, model: Model) -> bool:
        """One step: an offload where it does as much as a summary, which also loses less; else a summary. Where the
        request for that would not fit, results go out until it does, the newest among them if they have to."""
        reason, window = "the window fills", model.context_window
        events, size, at = self._session.talk, self.size(model), compaction.thresholds(window)
        if self._shorten(model, reason, compaction.worth_offloading(size, window, compaction.fixed(events))):
            return True
        enough = size - at.summary + at.gain
        if not self._note_fits(model) and (
            # All that is old rather than just enough: each time breaks the cache.
            self._shorten(model, reason, enough) or self._shorten(model, reason, recent=0, enough=enough)
        ):
            return True
        return await self._summarise(model, reason) or self._shorten(model, reason, recent=0)

    @property
    def _off(self) -> bool:
        return self._session.state.compaction == "off"

    def _hand_off_if(self, reason: str, window: int) -> None:
        """Raise HandOff for ``reason``, if there is one and a fresh session would have room to go on in."""
        if reason and handoff.would_help(self._session.talk, window, self._session.known):
            raise HandOff(reason)

    def _measured(self, model: Model, events: Sequence[ev.Event]) -> int:
        return self._meter.next_request(events, model.spec, model.context_window)

    def _floor(self) -> int:
        return compaction.floor(self._session.talk)

    def _note_fits(self, model: Model) -> bool:
        """Whether the window has room for the request with the instruction, and for a note as the answer."""
        spare = compaction.thresholds(model.context_window).gain
        return self.size(model) + spare + min(spare, LEAST_NOTE) <= model.context_window

    def _shorten(
        self, model: Model, reason: str, gain: int = 1, recent: int = compaction.RECENT_TURNS, enough: int | None = None
    ) -> bool:
        """Layers 1 to 3: old results become pointers, lines and digests, all in one go: the cache breaks once."""
        layers = compaction.choose_layers(self._session.talk, gain, recent, enough, self._keep)
        for layer in layers:
            if layer.kind == "offload":
                self._store(model, kind="offload", reason=reason, offloaded=tuple(layer.texts))
            else:
                self._store(model, kind=layer.kind, reason=reason, texts=layer.texts, artifact=layer.artifact)
        return bool(layers)

    async def _summarise(self, model: Model, reason: str, focus: str = "") -> bool:
        """Layer 4: the model writes a note on its hot prefix. One that fails its checks is asked for once more; when
        that fails too the ledger, which code took from the log, goes on alone. A ledger that fails takes the place of
        nothing."""
        events, size = self._session.talk, self.size(model)
        plan = compaction.plan_summary(events, model.context_window, self._keep, size, self._session.known)
        if plan is None or not plan.shrinks():
            return False
        lost = checks.failed(checks.of_ledger(plan))
        self._lost = f"the facts taken from the log would not all be kept: not {'; not '.join(lost)}" if lost else ""
        if lost:
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
        request = compaction.summary_request(self.builder.request(self._session.talk, self._session.state), text)
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
        before, after = self.size(model), self._measured(model, [*session.talk, made])
        session.append(made.model_copy(update={"seq": 0, "tokens_before": before, "tokens_after": max(1, after)}))
        session.let_go()
        self._meter.forget(session.known.upto)
