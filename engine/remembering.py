"""What an open session holds of its log: a summary lets go of what it took out of the conversation.

The log is the truth and keeps everything. In memory stay the conversation as it is sent, the newest turns before it,
and what is looked up whatever its age; of the rest the facts are known (`engine.compaction.known`), so that an hour of
work takes no more memory than its first minutes. Going back, or taking a compaction back, reads the log again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from engine.compaction.known import Known
from engine.compaction.visible import last_summary
from engine.events import Event
from engine.prompt.wrapping import PLAIN
from engine.rewound import talk

ANSWERS = 12
"""Answers that stay before the conversation as it is sent: what is decided by the newest turns looks no further."""
AHEAD = frozenset({"compacted", "compaction_undone", "rewound"})
"""Events that change what is talked of: all that has to be known of a log to know what of it stays."""
_ROOM = 2_000
"""Events read before the first of them are let go."""
_LASTING = frozenset({"session_started", "rewound", "memory_changed", "notice", "user_message"})


class Remembered:
    """The events of one session that are held, in order, and what is known of the others."""

    def __init__(self, events: Iterable[Event] = (), known: Known | None = None) -> None:
        self.events = list(events)
        self.known = known or Known()
        self._went_back = any(event.type == "rewound" for event in self.events)
        self._behind = False

    @property
    def talk(self) -> Sequence[Event]:
        """The events that are still talked of, see `engine.rewound`: all of them unless a person went back."""
        return talk(self.events) if self._went_back else self.events

    @property
    def is_whole(self) -> bool:
        """Whether no event was let go."""
        return not self.known.upto

    @property
    def lacks(self) -> bool:
        """Whether something that was let go is talked of again, or no longer."""
        return not self.is_whole and (self._behind or sent_from(self.talk) < self.known.upto)

    def add(self, event: Event) -> None:
        """Take in the newest event."""
        self.events.append(event)
        if event.type == "rewound":
            self._went_back = True
            self._behind = self._behind or event.to < self.known.upto

    def let_go(self, answers: int = ANSWERS) -> None:
        """Let go of what the last summary took out of the conversation, but for the newest ``answers`` before it."""
        start = sent_from(self.talk)
        if start > self.known.upto:
            self.known.take(self.talk, start)
            self.events = remembered(self.events, start, answers)

    def restore(self, events: Iterable[Event]) -> None:
        """Hold all ``events`` of the log again, and those that are not in it yet."""
        whole = list(events)
        newest = whole[-1].seq if whole else 0
        self.events = [*whole, *(event for event in self.events if event.seq > newest)]
        self.known, self._behind = Known(), False


class Reading:
    """Remembers a session while it is read from its beginning, without ever holding all of it.

    ahead: all its events of the types `AHEAD`, which tell what will be let go.
    """

    def __init__(self, ahead: Iterable[Event]) -> None:
        self._ahead = tuple(ahead)
        self._start = sent_from(talk(self._ahead))
        self._known = Known()
        self._events: list[Event] = []
        self._room = _ROOM

    def take(self, part: Iterable[Event]) -> None:
        """Take in what comes next."""
        self._events += part
        if len(self._events) > self._room:
            self._let_go()
            # Looked through again when it has grown by as much, so that reading costs no more the longer it takes.
            self._room = _ROOM + 2 * len(self._events)

    def _let_go(self) -> None:
        if self._start:
            self._known.take(talk(self._events, self._ahead), self._start)
            self._events = remembered(self._events, self._start, rewinds=self._ahead)

    def done(self) -> Remembered:
        """What is remembered of all that was taken in."""
        self._let_go()
        return Remembered(self._events, self._known)


def remembered(
    events: Sequence[Event], start: int, answers: int = ANSWERS, rewinds: Iterable[Event] | None = None
) -> list[Event]:
    """Of ``events`` those that stay when the conversation is sent from seq ``start`` on. rewinds: see `talk`."""
    spoken = talk(events, rewinds)
    first = _turn_before(spoken, start, answers)
    wanted = _newest_of_each(spoken, first)
    return [e for e in events if e.seq >= first or e.type in _LASTING or e.seq in wanted or _is_beginning(e)]


def sent_from(events: Sequence[Event]) -> int:
    """The seq from which events are in the request."""
    summary = last_summary(events)
    return summary.keep_from if summary else 0


def _turn_before(events: Sequence[Event], start: int, answers: int) -> int:
    """Where the turn begins whose answer is the ``answers``th before ``start``. Answers that call nothing do not count
    within what follows one message: whether calls repeat themselves is looked for across them."""
    left, calls, first = answers, answers, start
    for event in reversed(events):
        if event.seq >= start:
            continue
        if event.type in ("user_message", "run_started") and left <= 0:
            break
        if event.type == "turn_started":
            first = event.seq
            if calls <= 0:
                break
        elif event.type == "assistant_message" and not event.aborted:
            if calls <= 0:
                break
            first, left, calls = event.seq, left - 1, calls - bool(event.calls)
    return first


def _newest_of_each(events: Sequence[Event], end: int) -> frozenset[int]:
    """The seqs of events before ``end`` that are looked for from the end on, as the newest of their kind."""
    found: set[int] = set()
    seen: dict[Hashable, int] = {}
    for event in reversed(events):
        kind = _kind(event)
        if kind is None or seen.get(kind, 0) >= (PLAIN + 1 if kind == "tool_result" else 1):
            kind = _reply_before(event, seen)
        if kind is not None:
            seen[kind] = seen.get(kind, 0) + 1
            if event.seq < end:
                found.add(event.seq)
    return frozenset(found)


def _reply_before(event: Event, seen: Mapping[Hashable, int]) -> Hashable:
    """Something the model did before the newest message: it parts that one from those before."""
    replies = event.type == "tool_result" or (event.type == "assistant_message" and not event.aborted)
    return "reply" if replies and "user_message" in seen and "reply" not in seen else None


def _kind(event: Event) -> Hashable:
    if event.type in ("prompt_rendered", "files_kept", "turn_started", "tool_result", "user_message"):
        return event.type
    if event.type == "runtime_update":
        return event.type, event.kind
    return (event.type, event.by) if event.type == "todo_changed" else None


def _is_beginning(event: Event) -> bool:
    """What a session that goes on for another began with: all it knows of that one."""
    return event.type == "compacted" and event.kind == "handoff"
