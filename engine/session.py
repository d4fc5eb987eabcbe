"""A session while it is open: its events in memory, its state, and the one way to add to them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from engine import events as ev
from engine.compaction.known import Known
from engine.log import SessionWriter
from engine.remembering import AHEAD, ANSWERS, Remembered
from engine.resuming import Past, kept
from engine.state import TaskState, step
from engine.text import clean

Publish = Callable[[ev.AnyEvent], None]
E = TypeVar("E", bound=ev.Event)

CRASHED = "The app ended while this call was running. It may have had side effects: look before you repeat it."
NEVER_STARTED = "The app ended before this call was started. Nothing was done."


class Session:
    """Appending stores first, then folds, then publishes: what anyone sees has already survived a crash."""

    def __init__(self, writer: SessionWriter, publish: Publish, past: Past | None = None) -> None:
        self._writer = writer
        self._publish = publish
        self.open = True
        self._remembered = past.remembered if past else Remembered()
        self.state: TaskState = past.state if past else TaskState(session=writer.session)

    @property
    def id(self) -> str:
        return self._writer.session

    def append(self, event: E) -> E:
        """Store ``event``; returns it as stored, with session, seq and time."""
        stored = self._writer.append(event)
        self._remembered.add(kept(stored))
        if stored.type in AHEAD and self._remembered.lacks:
            self._remembered.restore(map(kept, self._writer.stored().events))
        self.state = step(self.state, stored)
        self._publish(stored)
        self._publish(ev.StateChanged(session=self.id, state=self.state))
        return stored

    @property
    def events(self) -> Sequence[ev.Event]:
        """The events that are held in memory, see `engine.remembering`: all since the last summary, and some before."""
        return self._remembered.events

    @property
    def talk(self) -> Sequence[ev.Event]:
        """Those of them that are still talked of, see `engine.rewound`: all unless a person went back."""
        return self._remembered.talk

    @property
    def known(self) -> Known:
        """The facts of the events that are not held any more."""
        return self._remembered.known

    def let_go(self) -> None:
        """Hold no longer what a summary has taken out of the conversation; not while it could not be read again."""
        if not self._writer.unsaved:
            self._remembered.let_go(max(ANSWERS, self.state.limits.repeats or 0))

    @asynccontextmanager
    async def whole(self) -> AsyncIterator[None]:
        """Hold all events within, for what looks at or changes the past. Raises LogError when they cannot be read."""
        if not self._remembered.is_whole:
            stored = await asyncio.to_thread(self._writer.stored)
            self._remembered.restore(map(kept, stored.events))
        try:
            yield
        finally:
            self.let_go()

    def show(self, event: ev.LiveEvent) -> None:
        """Publish a live event: shown, never stored."""
        self._publish(event)

    def mend(self) -> None:
        """Close what a crash left open: calls without a result get one that says what is known of them."""
        for call in self.state.open_calls:
            self.append(
                ev.ToolResult(
                    call_id=call.call_id,
                    turn=self.state.turn,
                    name=call.name,
                    status="cancelled" if call.started else "skipped",
                    text=CRASHED if call.started else NEVER_STARTED,
                    summary="interrupted" if call.started else "not started",
                    error="the app ended",
                )
            )
        if self.state.running and self.answered:
            self.append(ev.RunFinished(reason="finished", detail="the app ended right after the answer"))
        elif self.state.running:
            self.append(ev.RunFinished(reason="interrupted", detail="the app ended before the run did"))

    @property
    def answered(self) -> bool:
        """Whether the model's final answer is the last thing in the conversation: it has nothing to go on with."""
        for event in reversed(self.talk):
            if event.type in ("user_message", "runtime_update", "tool_result"):
                return False
            if event.type == "assistant_message" and not event.aborted:
                return not event.calls
        return False

    def queue(self, kind: str, text: str, id: str) -> None:
        """Note a message that waits for its moment."""
        self.append(ev.MessageQueued(id=id, kind="steer" if kind == "steer" else "follow_up", text=clean(text)))

    def say(self, text: str, kind: str = "prompt", id: str = "") -> None:
        """A person's text enters the conversation."""
        self.append(ev.UserMessage.model_validate({"kind": kind, "text": clean(text), "id": id}))

    def close(self) -> None:
        self.open = False
        self._writer.close()
