"""Runtime context (layer D): what the model should know about now. Appended when it changed, never rewritten."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.events import Event, Limits, RuntimeUpdate
from engine.stages import stage_text
from engine.state import TaskState

BUDGET_MARKS = (50, 80, 95)
# An open todo list is said again after so many turns, and never within so few of the model writing it.
RECITED_EVERY = 8
RECENT = 3


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Facts about the place and the day: ``today`` is an ISO date, so that a run within a day repeats it exactly."""

    today: str
    folder: str
    platform: str
    sandbox: str


def updates(state: TaskState, around: Surroundings, events: Iterable[Event]) -> tuple[RuntimeUpdate, ...]:
    """What has to be said now: each kind only when its text differs from the last time it was said, or when a summary
    has taken that out of the request; the open todo list again and again (see `_Todo`)."""
    said: dict[str, str] = {}
    heard: dict[str, int] = {}
    remembered: list[str] = []
    todo = _Todo()
    for event in events:
        todo.take(event)
        if event.type == "memory_changed" and event.by == "person":
            remembered.append(f"- {event.action}: {event.text or event.before}")
        if event.type == "runtime_update":
            said[event.kind] = event.text
            heard[event.kind] = event.seq
        elif event.type == "compacted" and event.kind in ("summary", "handoff"):
            said = {kind: text for kind, text in said.items() if heard[kind] >= event.keep_from}
    now = {"environment": _environment(around)}
    if budget := _budget(state):
        now["budget"] = budget
    if criteria := _criteria(state):
        now["criteria"] = criteria
    if stage := stage_text(state):
        now["stage"] = stage
    if remembered:
        now["memory"] = "The person changed what is remembered:\n" + "\n".join(remembered[-20:])
    found = [RuntimeUpdate(kind=kind, text=text) for kind, text in now.items() if said.get(kind) != text]
    if text := todo.text(state):
        found.append(RuntimeUpdate(kind="todo", text=text))
    return tuple(found)


@dataclass(slots=True)
class _Todo:
    """When the model has last seen todo.md, read from the events: ``seen`` is the turn in which it wrote it or was
    told of it, ``wrote`` the turn in which it wrote it itself. ``gone``: a compaction came after."""

    turn: int = 0
    seen: int = 0
    wrote: int = -RECENT
    gone: bool = False
    edited: str = ""

    def take(self, event: Event) -> None:
        if event.type == "turn_started":
            self.turn = event.turn
        elif event.type == "compacted" and event.kind in ("summary", "handoff"):
            self.gone = True
        elif event.type == "runtime_update" and event.kind == "todo":
            self.seen, self.gone, self.edited = self.turn, False, ""
        elif event.type == "todo_changed" and event.by == "person":
            self.edited = event.text
        elif event.type == "todo_changed":
            self.seen = self.wrote = self.turn
            self.edited = ""

    def text(self, state: TaskState) -> str:
        """What to say of it before the next turn, mostly nothing."""
        if self.edited:
            return f"The person edited todo.md. It now reads:\n{self.edited}"
        left = len(state.todo) - state.todo_done
        due = self.gone or self.turn - self.seen >= RECITED_EVERY
        if not left or not due or self.turn - self.wrote < RECENT:
            return ""
        return f"todo.md as it stands before turn {self.turn + 1}, {left} of {len(state.todo)} open:\n{state.todo_text}"


def not_done(lacking: tuple[str, ...]) -> RuntimeUpdate:
    """Said when the model stops before the completion criteria hold."""
    lines = "\n".join(f"- {line}" for line in lacking)
    return RuntimeUpdate(kind="not done", text=f"The task is not done. What does not hold:\n{lines}\nGo on with it.")


def as_text(update: RuntimeUpdate) -> str:
    """The update as the model reads it."""
    return f'<runtime kind="{update.kind}">\n{update.text}\n</runtime>'


def _environment(around: Surroundings) -> str:
    return "\n".join((
        f"date: {around.today}",
        f"working folder: {around.folder}",
        f"platform: {around.platform}",
        f"sandbox: {around.sandbox}",
    ))  # fmt: skip


def _criteria(state: TaskState) -> str:
    """The conditions without their values, which would change from turn to turn."""
    if not state.done_when:
        return ""
    return "The task is done only when all of this holds:\n" + "\n".join(f"- {text}" for text in state.done_when)


def _budget(state: TaskState) -> str:
    """The limits of the run that are used up by half or more, in steps, so that the text rarely changes."""
    lines = []
    for name, used, limit in budget_rows(state):
        share = 100 * used / limit if limit else 100
        mark = max((m for m in BUDGET_MARKS if share >= m), default=0)
        if mark:
            lines.append(f"{name}: more than {mark} % of the limit of {limit:g} is used")
    return "\n".join(lines)


def budget_rows(state: TaskState) -> tuple[tuple[str, float, float], ...]:
    """(name, used, limit) for each limit that is set."""
    limits: Limits = state.limits
    rows = (
        ("turns", state.run_turns, limits.turns),
        ("tool calls", state.run_calls, limits.tool_calls),
        ("tokens", state.run_usage.input + state.run_usage.output, limits.tokens),
        ("cost in USD", state.run_cost, limits.cost),
        ("seconds", state.run_seconds, limits.seconds),
    )
    return tuple((name, float(used), float(limit)) for name, used, limit in rows if limit is not None)
