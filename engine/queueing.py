"""What waits to be said, as a person arranges it."""

from __future__ import annotations

from engine import commands as cmd
from engine import events as ev
from engine.session import Session
from engine.text import clean


def arrange(session: Session, command: cmd.ArrangeQueue) -> None:
    """Put what still waits into the order and words of ``command``; what it leaves empty is taken back, and what it
    does not name waits on after the others.

    A message that was delivered meanwhile stays as it was said, and a notice says so where it was to be another.
    """
    waiting = {p.id: p for p in session.state.pending}
    named = {id: _queued(id, kind, text) for id, kind, text in command.items}
    wanted = {id: item for id, item in named.items() if item.text.strip()}
    for id in [id for id in waiting if id in named and id not in wanted]:
        session.append(ev.MessageWithdrawn(id=id))
    new = [_queued(p.id, p.kind, p.text) for p in session.state.pending if p.id not in named]
    kept = (*(item for id, item in wanted.items() if id in waiting), *new)
    if [(i.id, i.kind, i.text) for i in kept] != [(p.id, p.kind, p.text) for p in session.state.pending]:
        session.append(ev.QueueArranged(items=kept))
    _say_what_came_too_late(session, [item for id, item in wanted.items() if id not in waiting])


def _queued(id: str, kind: str, text: str) -> ev.Queued:
    return ev.Queued(id=id, kind="steer" if kind == "steer" else "follow_up", text=clean(text))


def _say_what_came_too_late(session: Session, items: list[ev.Queued]) -> None:
    sent = {e.id: e.text for e in session.talk if e.type == "user_message" and e.id}
    for item in items:
        if item.id in sent and sent[item.id] != item.text:
            text = f"not changed, it had been delivered already: {sent[item.id][:200]}"
            session.append(ev.Notice(level="warn", text=text))
