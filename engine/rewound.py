"""What of the log is still talked of after a person went back: pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.events import Event, Rewound

_LASTING = frozenset({
    "session_started", "prompt_rendered", "setting_changed", "rewound", "files_kept", "memory_changed",
})  # fmt: skip


def in_force(events: Iterable[Event]) -> tuple[Rewound, ...]:
    """The times a person went back in the conversation and did not take that back, in order."""
    found: list[Rewound] = []
    for event in events:
        if event.type != "rewound":
            continue
        if event.undoes:
            found = [one for one in found if one.seq != event.undoes]
        elif event.conversation:
            found.append(event)
    return tuple(found)


def talk(events: Sequence[Event], rewinds: Iterable[Event] | None = None) -> Sequence[Event]:
    """``events`` without those a person went back behind; the same object when there are none.

    What was rendered stays, and so do settings: they are not of the conversation. rewinds: where ``events`` are a part
    of a log, all of it that tells of going back.
    """
    ranges = [(one.to, one.seq) for one in in_force(events if rewinds is None else rewinds)]
    if not ranges:
        return events
    return [e for e in events if e.type in _LASTING or not any(start <= e.seq < end for start, end in ranges)]
