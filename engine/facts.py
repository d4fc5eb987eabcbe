"""Facts of a task that conditions speak of, and what a command line says about tests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from engine.conditions import Value
from engine.parts import Stage
from engine.runs_tests import only_reads, tests_passed

if TYPE_CHECKING:
    from engine.events import ApprovalDecided, ToolResult
    from engine.state import TaskState

KNOWN: dict[str, type] = {
    "tests_pass": bool, "confirmed_sources": float, "todo_open": float, "todo_done": float, "files_written": float,
    "files_read": float, "commands_failed": float, "turns": float, "calls": float, "cost": float,
}  # fmt: skip

UNKNOWN_TESTS = "no test has run since the last edit"
# Tools whose call, cut short, may have left a file other than it was.
_WRITERS = ("fs_write", "fs_edit")


def facts(state: TaskState) -> dict[str, Value]:
    """The value of each fact in ``KNOWN``; None when it is not known."""
    return {
        "tests_pass": state.tests_pass,
        "confirmed_sources": float(len(state.sources)),
        "todo_open": float(len(state.todo) - state.todo_done),
        "todo_done": float(state.todo_done),
        "files_written": float(len(state.files_written)),
        "files_read": float(len(state.files_read)),
        "commands_failed": float(len(state.failed_commands)),
        "turns": float(state.turn),
        "calls": float(state.calls),
        "cost": state.cost,
    }


def evidence(state: TaskState, e: ToolResult) -> dict[str, Any]:
    """What a result says about tests, sources and failed commands, as changes of the state."""
    known: dict[str, Any] = {}
    if e.files_written or (e.name in _WRITERS and e.status == "cancelled"):
        known["tests_pass"] = None
    if e.status == "ok" and e.external and e.external.url:
        known["sources"] = tuple(dict.fromkeys((*state.sources, e.external.url)))
    command = dict(state.commands).get(e.call_id, "")
    if not command or e.status in ("denied", "skipped"):
        return known
    return known | ran(state, command, e.exit_code)


def ran(state: TaskState, command: str, exit_code: int | None) -> dict[str, Any]:
    """What it says that ``command`` ran and ended with ``exit_code``, None when it was cut short or still runs."""
    known: dict[str, Any] = {}
    if exit_code is not None:
        others = tuple(c for c in state.failed_commands if c != command)
        known["failed_commands"] = (*others, command) if exit_code else others
    says = tests_passed(command)
    if says is None:
        # It may have changed a file: what the tests said before is no longer known.
        return known if state.tests_pass is None or only_reads(command) else known | dict(tests_pass=None)
    # A failure is a failure however it came about; a success counts only when it is that of the tests.
    return known | dict(tests_pass=False if exit_code else (True if says and exit_code == 0 else None))


def edited(state: TaskState, e: ApprovalDecided) -> dict[str, Any]:
    """What runs of a call when a person changed its command: that, and not what the model wrote, is evidence, and
    nobody has judged what cutting it leaves."""
    if e.choice != "edit" or not e.command:
        return {}
    calls = {w.call_id for w in state.waiting if w.id == e.id}
    return dict(
        commands=tuple((id, e.command if id in calls else line) for id, line in state.commands),
        open_calls=tuple(replace(c, effects=True) if c.call_id in calls else c for c in state.open_calls),
    )


def criteria(name: str, value: Any) -> dict[str, Any]:
    """New conditions (done_when) or stages; nonsense from an edited or foreign file changes nothing."""
    try:
        if name == "done_when":
            return dict(done_when=TypeAdapter(tuple[str, ...]).validate_python(value))
        stages = TypeAdapter(tuple[Stage, ...]).validate_python(value)
    except ValidationError:
        return {}
    return dict(stages=stages, task_stage=stages[0].name if stages else "")
