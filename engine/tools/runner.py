"""From a call to its result: whatever the call is and whatever the tool does, one true result comes back."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ValidationError

from engine.events import ToolCall, ToolResult
from engine.text import clean
from engine.tools.arguments import explain, given
from engine.tools.base import Tool, ToolContext, ToolOutcome
from engine.tools.cap import cut
from engine.tools.outcomes import cancelled, failed
from engine.tools.registry import TOOLS, find, nearest
from engine.tools.words import one_line
from sandbox.broker import Broker

log = logging.getLogger(__name__)

# Tools that change nothing but what the app itself keeps.
OWN = ("todo_", "memory_", "user_", "skill_")
Put = Callable[[bytes], str]
# From this size on an output of a tool that cannot simply be called again is kept whole, so that its text can give way
# to a pointer when the window fills.
KEEP_WHOLE = 4000


async def run_call(call: ToolCall, turn: int, ctx: ToolContext, artifacts_put: Put) -> ToolResult:
    """Run ``call`` and return its result, not stored yet. Never raises for what the call or its tool did; lets
    CancelledError through, for which `cancelled_result` makes the result."""
    tool = find(call.name)
    outcome = _unknown(call) if tool is None else await _outcome(tool, call, ctx)
    return _result(call, turn, tool, outcome, artifacts_put)


def cancelled_result(call: ToolCall, turn: int, started: bool, said: str = "", seconds: float = 0.0) -> ToolResult:
    """The result of a call that was interrupted; ``started`` says whether it had begun to run, ``said`` what it had
    put out by then, ``seconds`` for how long it ran."""
    if not started:
        return skipped_result(call, turn, "the run was interrupted before this call started")
    outcome = cancelled(seconds)
    return ToolResult(
        call_id=call.id,
        turn=turn,
        name=call.name,
        status="cancelled",
        text=f"{said.rstrip()}\n[{outcome.output}]" if said.strip() else outcome.output,
        seconds=outcome.seconds,
        summary=outcome.summary,
        error=outcome.error,
    )


def skipped_result(call: ToolCall, turn: int, reason: str) -> ToolResult:
    """The result of a call that never started. ``reason`` is a clause: "the person sent a message"."""
    why = clean(reason).strip().rstrip(".").removeprefix("not started: ") or "the run stopped before this call"
    return ToolResult(
        call_id=call.id,
        turn=turn,
        name=call.name,
        status="skipped",
        text=f"Not run: {why}. Nothing was done. Make the call again if it is still needed.",
        summary="not run",
        error=f"not run: {why}",
    )


def masked_result(call: ToolCall, turn: int, stage: str, until: str, tools: Sequence[str]) -> ToolResult:
    """The result of a call of a tool that may not be used in the stage the task is in."""
    names = ", ".join(tool.name for tool in TOOLS if tool.name.startswith(tuple(tools))) or "none"
    why = f"not in this stage: {one_line(call.name, 80)} may not be called in the stage {stage}"
    return ToolResult(
        call_id=call.id,
        turn=turn,
        name=call.name,
        status="error",
        text=f"{why}. Nothing was done. The stage ends when {until}; until then you can call: {names}.",
        summary="not in this stage",
        error=why,
        retryable=True,
    )


def title_of_call(call: ToolCall) -> str:
    """One line for people: what the call is about. Never raises, whatever the arguments are."""
    tool = find(call.name)
    if tool is not None and not call.bad_input:
        try:
            return one_line(tool.title(tool.input.model_validate(given(tool.input, call.input))))
        except ValidationError:
            pass
    words = next((value for value in call.input.values() if isinstance(value, str) and value.strip()), call.bad_input)
    return one_line(words)


def may_have_effects(call: ToolCall, broker: Broker) -> bool:
    """Whether cutting ``call`` may leave something in the workspace or beyond half done. Never raises."""
    tool = find(call.name)
    if tool is None or call.bad_input or tool.name.startswith(OWN):
        return False
    try:
        return not tool.only_reads(tool.input.model_validate(given(tool.input, call.input)), broker)
    except ValidationError:
        return False


async def _outcome(tool: Tool[Any], call: ToolCall, ctx: ToolContext) -> ToolOutcome:
    if call.bad_input:
        return failed(
            f"The arguments of {tool.name} are not valid JSON, so nothing was run. They began with: "
            f"{one_line(call.bad_input, 200)}",
            "Make the call again with one JSON object as arguments. If it was cut off, make the content shorter.",
            summary="unreadable arguments",
            retryable=True,
        )
    try:
        args = tool.input.model_validate(given(tool.input, call.input))
    except ValidationError as error:
        return failed(*explain(tool, error), summary="invalid arguments", retryable=True)
    try:
        return await tool.run(args, ctx)
    except Exception as error:
        log.exception("%s failed", tool.name)
        return failed(
            f"{tool.name} failed with an error of its own: {type(error).__name__}: {error}",
            "This is a fault of the tool, not of the call. It may have had effects: check before you try another way.",
            summary=f"internal error: {type(error).__name__}",
        )


def _unknown(call: ToolCall) -> ToolOutcome:
    near = nearest(call.name)
    names = ", ".join(tool.name for tool in TOOLS)
    hint = f"Did you mean {near}? " if near else ""
    return failed(
        f"There is no tool called {one_line(call.name, 80)!r}; nothing was run.",
        f"{hint}The tools are: {names}.",
        summary="unknown tool",
        retryable=True,
    )


def _result(call: ToolCall, turn: int, tool: Tool[Any] | None, outcome: ToolOutcome, put: Put) -> ToolResult:
    text, artifact, truncated = _capped(tool, clean(outcome.output), put)
    return ToolResult(
        call_id=call.id,
        turn=turn,
        name=call.name,
        status=outcome.status,
        text=text or "[No output.]",
        summary=one_line(outcome.summary),
        items=tuple(_storable(row) for row in outcome.items),
        artifact=artifact,
        truncated=truncated,
        error=clean(outcome.error),
        suggestion=clean(outcome.suggestion),
        retryable=outcome.retryable,
        external=outcome.external,
        diff=clean(outcome.diff),
        files_read=tuple(clean(path) for path in outcome.files_read),
        files_written=tuple(clean(path) for path in outcome.files_written),
        exit_code=outcome.exit_code,
        seconds=max(0.0, outcome.seconds),
    )


def _capped(tool: Tool[Any] | None, text: str, put: Put) -> tuple[str, str, bool]:
    """The text for the model, the digest of the whole when it is kept, and whether anything was left out."""
    parts = cut(text, tool.keep if tool else "head")
    if parts is None and (tool is None or tool.read_only or len(text) < KEEP_WHOLE):
        return text, "", False
    try:
        digest = put(text.encode())
    except OSError as error:
        log.warning("an output could not be stored: %s", error)
        digest = ""
    if parts is None:
        return text, digest, False
    first = len(parts.head) + 1
    note = f"[{parts.missing:,} of {parts.total:,} lines are left out here. "
    note += (
        f"Read them with fs_read, path artifact:{digest}, offset {first}.]"
        if digest
        else "They could not be stored: run it again with the output in a file if you need them.]"
    )
    return parts.text(note), digest, True


def _storable(value: Any) -> Any:
    """Rows as the log can hold them: text in them may come from file names and file contents."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {key: _storable(item) for key, item in value.items()}
    return [_storable(item) for item in value] if isinstance(value, list | tuple) else value
