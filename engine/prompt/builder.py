"""The model request carried on where it ended: what `build` says, at the cost of what is new."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from engine.events import Event
from engine.prompt import build as pure
from engine.prompt.repair import Transcript
from engine.prompt.request import Message, ModelRequest
from engine.prompt.wrapping import Rows
from engine.rewound import talk
from engine.state import TaskState

REWRITES = frozenset({"prompt_rendered", "compacted", "compaction_undone", "rewound"})
"""Events after which a request need not begin with the one before."""


class Builder:
    """Builds the requests of one session, each from the one before as far as the log allows.

    A log goes on from one seen earlier when it is at least as long and has the same first and last event where that
    one had them: stored events never change, so what lies between is the same.
    """

    def __init__(self) -> None:
        self.carried = False
        """Whether the newest request was carried on from the one before it."""
        self._talk: _Talk | None = None
        self._request: ModelRequest | None = None
        self._running = _Running()

    def request(self, events: Sequence[Event], state: TaskState, end: int | None = None) -> ModelRequest:
        """What `build.build` gives for ``events[:end]``, all of them by default. Raises ValueError as it does."""
        end = len(events) if end is None else end
        talk = self._talk
        self.carried = talk is not None and talk.goes_on(events, end)
        if talk is None or not self.carried:
            self._talk = self._request = None
            talk, self._running = _Talk(events[:end]), _Running()
        talk.take(events, end)
        self._talk = talk
        self._request = pure.assembled(talk.rendered, state, (*talk.done, *talk.tail))
        return self._request

    @property
    def settled(self) -> int:
        """How many messages at the start of the newest request nothing can change while it is carried on."""
        return len(self._talk.done) if self._talk else 0

    def digest(self) -> str:
        """The newest request's `build.digest`. Raises ValueError when there is none."""
        if self._talk is None or self._request is None:
            raise ValueError("no request was built")
        head = tuple(pure.canonical_head(self._request))
        if head != self._running.head:
            self._running = _Running(head)
        return self._running.of(self._talk.done, self._talk.tail)


class _Talk:
    """Layers C and D as far as they are read: ``done`` messages, which can grow no more, and the ``tail``, which can.
    Raises ValueError when no prompt was rendered yet."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.rendered = pure.last_rendered(events)
        self.done: list[Message] = []
        self.tail: tuple[Message, ...] = ()
        spoken = talk(events)
        # After a person went back the log is read by what is left of it; going back again begins anew anyway.
        self._left = None if spoken is events else frozenset(event.seq for event in spoken)
        self._read_to = events[-1].seq
        opening, self._keep_from, self._instead = pure.opening(spoken)
        self._rows = Rows()
        self._transcript = Transcript()
        self._transcript.user(opening)
        self._first, self._last, self._seen = events[0], events[0], 0

    def goes_on(self, events: Sequence[Event], end: int) -> bool:
        """Whether ``events`` up to ``end`` are those read and more, with nothing in them that rewrites history."""
        if end < self._seen or not _same(events[0], self._first) or not _same(events[self._seen - 1], self._last):
            return False
        return all(events[place].type not in REWRITES for place in range(self._seen, end))

    def take(self, events: Sequence[Event], end: int) -> None:
        """Read on to ``end``."""
        for place in range(self._seen, end):
            if self._left is not None and events[place].seq <= self._read_to and events[place].seq not in self._left:
                continue
            row = self._rows.count(events[place])
            message = pure.said(events[place], self._instead, row) if events[place].seq >= self._keep_from else None
            if message is not None:
                self._transcript.take(message)
        self._last, self._seen = events[end - 1], end
        self.done += self._transcript.shift()
        self.tail = self._transcript.messages()


class _Running:
    """The digest, carried on over the messages that are done."""

    def __init__(self, head: tuple[str, ...] = ()) -> None:
        self.head = head
        self._hash = hashlib.sha256()
        self._hashed = 0
        pure.update(self._hash, head)

    def of(self, done: Sequence[Message], tail: Sequence[Message]) -> str:
        """The digest with ``done``, of which what was hashed before is not hashed again, and ``tail``."""
        for place in range(self._hashed, len(done)):
            pure.update(self._hash, pure.canonical_message(done[place]))
        self._hashed = len(done)
        found = self._hash.copy()
        for message in tail:
            pure.update(found, pure.canonical_message(message))
        return found.hexdigest()


def _same(one: Event, other: Event) -> bool:
    return one is other or one == other
