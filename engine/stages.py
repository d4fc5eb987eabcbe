"""Stages of a task and when it is done: pure views of the state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from engine.conditions import Condition, ConditionError, parse, say
from engine.events import Stage, StageChanged
from engine.facts import KNOWN, UNKNOWN_TESTS, facts
from engine.state import TaskState


@dataclass(frozen=True, slots=True)
class Judged:
    """A condition, whether it holds, and the present values of what it speaks of, for people."""

    text: str
    holds: bool
    now: str


def judged(text: str, state: TaskState) -> Judged:
    """The condition as it stands now; one that cannot be read does not hold."""
    condition = _read(text)
    if condition is None:
        return Judged(text, False, "cannot be read")
    now = facts(state)
    several = len(condition.names) > 1
    values = ", ".join(f"{name} {say(now[name])}" if several else say(now[name]) for name in condition.names)
    return Judged(text, condition.holds(now), values)


def rendered(text: str, state: TaskState) -> str:
    """The condition with the present values, for the model and for people."""
    condition = _read(text)
    if condition is None:
        return f"{text} (cannot be read)"
    now = facts(state)
    values = ", ".join(_value(name, now[name], len(condition.names) > 1) for name in condition.names)
    return f"{text} (now: {values})" if values else text


def holds(text: str, state: TaskState) -> bool:
    """Whether it holds now; one that cannot be read never does."""
    condition = _read(text)
    return condition is not None and condition.holds(facts(state))


def missing(state: TaskState) -> tuple[str, ...]:
    """What does not hold yet, rendered: the stages that are still to be left, then the completion criteria."""
    names = [stage.name for stage in state.stages]
    left = state.stages[names.index(state.task_stage) :] if state.task_stage in names else ()
    stages = [f"stage {s.name}: {rendered(s.until, state)}" for s in left if not holds(s.until, state)]
    return (*stages, *(rendered(text, state) for text in state.done_when if not holds(text, state)))


def changes(state: TaskState) -> tuple[StageChanged, ...]:
    """The stages the task enters now, in order; the last is '' when all are done."""
    names = [stage.name for stage in state.stages]
    if state.task_stage not in names:
        return ()
    found = []
    for place in range(names.index(state.task_stage), len(names)):
        until = state.stages[place].until
        if not holds(until, state):
            break
        found.append(StageChanged(stage=(*names, "")[place + 1], reason=until))
    return tuple(found)


def stage_text(state: TaskState) -> str:
    """What the model reads about its stage, '' without stages; no values that change from turn to turn."""
    names = [stage.name for stage in state.stages]
    if not names:
        return ""
    if state.task_stage not in names:
        return "All stages are done."
    place = names.index(state.task_stage)
    after = names[place + 1] if place + 1 < len(names) else "nothing: it is the last stage"
    only = state.stages[place].tools
    tools = f"\ntools: only those whose names begin with {', '.join(only)}" if only else ""
    return f"stage: {names[place]}\nuntil: {state.stages[place].until}\nthen: {after}{tools}"


def problems(done_when: tuple[str, ...], stages: tuple[Stage, ...] = ()) -> tuple[str, ...]:
    """Why these cannot be used, in words; empty when they can."""
    found = []
    for text in (*done_when, *(stage.until for stage in stages)):
        try:
            parse(text, KNOWN)
        except ConditionError as error:
            found.append(str(error))
    names = [stage.name for stage in stages]
    if "" in names or len(set(names)) < len(names):
        found.append("each stage needs a name of its own")
    return (*found, *_masking_all(stages))


def _masking_all(stages: tuple[Stage, ...]) -> list[str]:
    from engine.tools.registry import TOOLS

    names = [tool.name for tool in TOOLS]
    unknown = [(s.name, begin) for s in stages for begin in s.tools if not any(n.startswith(begin) for n in names)]
    return [f"stage {stage}: no tool's name begins with {begin!r}" for stage, begin in unknown]


def check_criteria(name: str, value: Any) -> None:
    """Raises ValueError when ``value`` cannot be the setting ``name`` (done_when or stages)."""
    if name == "done_when":
        found = problems(TypeAdapter(tuple[str, ...]).validate_python(value))
    else:
        found = problems((), TypeAdapter(tuple[Stage, ...]).validate_python(value))
    if found:
        raise ValueError("; ".join(found))


def _read(text: str) -> Condition | None:
    try:
        return parse(text, KNOWN)
    except ConditionError:
        return None


def _value(name: str, value: bool | float | str | None, named: bool) -> str:
    shown = f"unknown, {UNKNOWN_TESTS}" if name == "tests_pass" and value is None else say(value)
    return f"{name} {shown}" if named else shown
