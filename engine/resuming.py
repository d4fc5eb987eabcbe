"""The past of a stored session, read without keeping anybody waiting: of a long one the end is shown first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from engine import events as ev
from engine.lasting import made_to_last
from engine.log import LogStore
from engine.log.sharing import shared
from engine.queries import LoadedSession
from engine.remembering import AHEAD, Reading, Remembered
from engine.state import TaskState, fold
from engine.waiting import ended

P = ParamSpec("P")
T = TypeVar("T")
E = TypeVar("E", bound=ev.Event)

LONG = 3_000
"""Rows from which on a session is shown before all of it was read: reading fewer takes no longer than a blink."""
PART = 500
TAIL = 400
REST = 0.004
"""Seconds between two parts: reading is work for the interpreter, and so is answering a key."""


@dataclass(frozen=True, slots=True)
class Past:
    """What is remembered of a session, its state, how many rows were ``skipped``; ``shown``: the seq up to which its
    events have been shown already."""

    remembered: Remembered
    state: TaskState
    skipped: int = 0
    shown: int = 0


async def read_past(
    store: LogStore, session: str, rows: int, accept: Callable[[TaskState], None], show: Callable[[ev.LiveEvent], None]
) -> Past:
    """Read a session of ``rows`` rows. ``accept`` looks at the state after its beginning and may refuse by raising;
    ``show`` is given what can be looked at meanwhile. Raises NoSuchSession, LogUnreadable."""
    reading: Reading | None = None
    state, skipped, long = TaskState(session=session), 0, rows >= LONG
    with closing(store.parts(session, PART)) as parts, made_to_last():
        while True:
            part, state = await _apart(_next, parts, state)
            if part is None:
                break
            if reading is None:
                accept(state)
                if long:
                    tail = await _apart(_tail, store, session, rows)
                    show(ev.SessionComing(session=session, events=tail, rows=rows, title=state.title))
                # A short one is held whole for now: it is shown at once when it is open.
                reading = Reading(await _apart(store.of_types, session, AHEAD) if long else ())
            reading.take(map(kept, part.events))
            skipped += len(part.skipped)
            if long:
                show(ev.PastRead(session=session, events=part.events))
                await asyncio.sleep(REST)
    remembered = reading.done() if reading else Remembered()
    return Past(remembered, state, skipped, shown=state.seq if long else 0)


def kept(event: E) -> E:
    """``event`` as it is held while its session is open: when each piece of an answer came is for replays, which read
    the log, and may be larger than the answer."""
    if isinstance(event, ev.AssistantMessage) and event.timing.track:
        event = event.model_copy(update={"timing": event.timing.model_copy(update={"track": ()})})
    return shared(event)


async def _apart(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Work in a thread, waited for even when this is cancelled: two threads must never read on at once."""
    task = asyncio.create_task(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await ended({task})
        raise


def _next(parts: Iterator[LoadedSession], state: TaskState) -> tuple[LoadedSession | None, TaskState]:
    part = next(parts, None)
    return part, fold(part.events, state) if part else state


def _tail(store: LogStore, session: str, rows: int) -> Sequence[ev.Event]:
    """The newest events, from where something begins: what belongs to a call stands together."""
    with closing(store.parts(session, TAIL, after=max(0, rows - TAIL))) as parts:
        newest = [event for part in parts for event in part.events]
    starts = (place for place, event in enumerate(newest) if event.type in ("user_message", "turn_started"))
    return newest[next(starts, 0) :]
