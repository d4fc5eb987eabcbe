"""One turn of the model: send the request, show the answer as it comes, store it when it is whole."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import dataclass, field

from engine import events as ev
from engine.models import base
from engine.models.pricing import price
from engine.models.retry import stream_with_retry
from engine.prompt.request import ModelRequest
from engine.session import Session

TRACK_POINTS = 200


@dataclass
class _Track:
    """When how much of the answer was there, thinned to at most 200 points."""

    sent: float = field(default_factory=time.monotonic)
    first: float | None = None
    chars: int = 0
    points: list[tuple[int, int]] = field(default_factory=list)

    def note(self, text: str) -> None:
        now = time.monotonic()
        if self.first is None:
            self.first = now
        self.chars += len(text)
        self.points.append((round((now - self.first) * 1000), self.chars))
        if len(self.points) >= 2 * TRACK_POINTS:
            self.points = self.points[1::2]

    def timing(self) -> ev.Timing:
        now = time.monotonic()
        step = len(self.points) // TRACK_POINTS + 1
        points = self.points[::-step][::-1]
        return ev.Timing(first_token=(self.first or now) - self.sent, total=now - self.sent, track=tuple(points))


@dataclass
class _Partial:
    """What has arrived of an answer: whole blocks, usage and times."""

    blocks: dict[int, ev.Block] = field(default_factory=dict)
    kinds: dict[int, base.BlockStart] = field(default_factory=dict)
    usage: ev.Usage = ev.Usage()
    track: _Track = field(default_factory=_Track)
    done: base.Done | None = None


async def take_turn(
    session: Session, model: base.Model, request: ModelRequest, digest: str, tokens: int
) -> ev.AssistantMessage:
    """Ask ``model`` and return its stored answer. digest: of the request.

    Raises ModelError (stored as ModelFailed) or CancelledError (what had arrived is stored as an aborted message,
    which is never sent).
    """
    turn = session.state.turn + 1
    session.append(ev.TurnStarted(turn=turn, model=model.spec, digest=digest, tokens=tokens))
    partial = _Partial()
    try:
        await _receive(session, model, request, turn, partial)
    except asyncio.CancelledError:
        session.append(_message(turn, model, partial, aborted=True))
        raise
    except base.ModelError as error:
        session.append(
            ev.ModelFailed(turn=turn, error=str(error), suggestion=error.suggestion, retryable=error.retryable)
        )
        raise
    return session.append(_message(turn, model, partial))


async def _receive(session: Session, model: base.Model, request: ModelRequest, turn: int, partial: _Partial) -> None:
    def on_retry(attempt: int, wait: float, error: base.ModelError) -> None:
        session.append(ev.ModelRetry(turn=turn, attempt=attempt, wait=wait, error=str(error)))

    async with aclosing(stream_with_retry(model, request, on_retry=on_retry)) as parts:
        async for part in parts:
            _take(session, turn, partial, part)


def _take(session: Session, turn: int, partial: _Partial, part: base.Part) -> None:
    if isinstance(part, base.BlockDelta):
        partial.track.note(part.text)
        begun = partial.kinds[part.index]
        _show(session, turn, begun, part.text)
    elif isinstance(part, base.BlockStart):
        partial.kinds[part.index] = part
        _show(session, turn, part, "")
    elif isinstance(part, base.BlockEnd):
        partial.blocks[part.index] = part.block
    elif isinstance(part, base.UsageReport):
        partial.usage = part.usage
    elif isinstance(part, base.Restart):
        partial.blocks.clear()
        partial.kinds.clear()
        partial.track = _Track()
        session.show(ev.StreamDropped(session=session.id, turn=turn))
    elif isinstance(part, base.Done):
        partial.done = part


def _show(session: Session, turn: int, begun: base.BlockStart, text: str) -> None:
    session.show(
        ev.StreamDelta(
            session=session.id,
            turn=turn,
            index=begun.index,
            kind=begun.kind,
            text=text,
            name=begun.name,
            call_id=begun.call_id,
        )
    )


def _message(turn: int, model: base.Model, partial: _Partial, aborted: bool = False) -> ev.AssistantMessage:
    done = partial.done
    blocks = done.blocks if done else tuple(block for _, block in sorted(partial.blocks.items()))
    usage = done.usage if done else partial.usage
    cost, saved = price(model.spec, usage)
    return ev.AssistantMessage(
        turn=turn,
        model=model.spec,
        blocks=blocks,
        stop="aborted" if aborted else done.stop if done else "error",
        provider_stop=done.provider_stop if done else "",
        usage=usage,
        cost=cost,
        saved=saved,
        timing=partial.track.timing(),
        aborted=aborted,
    )
