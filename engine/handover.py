"""Layer 5 carried out: a fresh session goes on for one that has no room left, from its ledger."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

from engine import events as ev
from engine.compaction.handoff import handoff_ledger
from engine.state import TaskState
from engine.text import clean

if TYPE_CHECKING:
    from engine.runner import Runner
    from engine.session import Session

# What a fresh session is given before the old one says that it was handed over.
_BEGINNING = frozenset({
    "session_started", "setting_changed", "stage_changed", "prompt_rendered", "compacted", "todo_changed",
    "message_queued", "notice",
})  # fmt: skip
LIMITED = ("turns", "tool_calls", "tokens", "cost", "seconds")


def begin(old: Runner, session: Session, sandbox: str) -> None:
    """Write what ``session``, which is new and empty, starts from. The old one is not touched: until it says that it
    was handed over, the work is still its own."""
    state = old.session.state
    session.append(
        ev.SessionStarted(
            cwd=state.cwd,
            model=state.model,
            base_url=state.base_url,
            app_version=version("agent-tui"),
            approve=state.approve,
            sandbox=sandbox,
            context_window=state.context_window,
            done_when=state.done_when,
            stages=state.stages,
            goal=state.goal,
            parent=old.session.id,
            parent_seq=state.seq,
        )
    )
    if state.title:
        session.append(ev.SettingChanged(name="title", value=state.title))
    if state.compaction != "auto":
        session.append(ev.SettingChanged(name="compaction", value=state.compaction))
    if state.task_stage:
        session.append(ev.StageChanged(stage=state.task_stage, reason="as in the session before"))


def go_on(old: Runner, session: Session, reason: str) -> None:
    """After the layers were rendered: the ledger, the todo list, and what waits."""
    state = old.session.state
    ledger, note, artifact = handoff_ledger(old.session.talk, state.context_window, old.keep, old.session.known)
    session.append(
        ev.Compacted(
            number=1,
            kind="handoff",
            reason=reason,
            ledger=clean(ledger),
            summary=clean(note),
            artifact=artifact,
            tokens_before=state.context_tokens,
        )
    )
    if state.todo:
        session.append(ev.TodoChanged(text=state.todo_text, items=state.todo))
    for waiting in state.pending:
        session.queue(waiting.kind, waiting.text, waiting.id)


def end(old: Session, to: str, reason: str) -> None:
    """The old session says where its work goes on; what waited there waits in the new one now. From the first of these
    events on the work is the new session's."""
    waiting = old.state.pending
    old.append(ev.HandedOff(to=to, reason=reason))
    for message in waiting:
        old.append(ev.MessageWithdrawn(id=message.id, reason="waits in the session that goes on"))


def unfinished(events: Sequence[ev.Event]) -> str:
    """The session these events were to go on for, when they are no more than the beginning of that: the app died while
    it handed over. '' otherwise."""
    start = events[0] if events else None
    if start is None or start.type != "session_started" or not start.parent:
        return ""
    return start.parent if all(event.type in _BEGINNING for event in events) else ""


def limits_left(state: TaskState) -> ev.Limits:
    """What is left of the run's limits; nothing, where one is used up, so that the next check says which one it is."""
    used = {
        "turns": state.run_turns,
        "tool_calls": state.run_calls,
        "tokens": state.run_usage.input + state.run_usage.output,
        "cost": state.run_cost,
        "seconds": state.run_seconds,
    }
    left = {
        name: max(0, most - used[name]) for name in LIMITED if (most := getattr(state.limits, name)) is not None
    }  # fmt: skip
    return state.limits.model_copy(update=left)
