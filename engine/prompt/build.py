"""The model request as a pure view of the log: ``build(events, state) -> ModelRequest``.

Append-only: while no compaction lies between them, the request after more events begins with the request before, part
by part. Aborted answers are shown to people and never sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from engine.compaction import summary_message_text
from engine.compaction.visible import last_summary, result_text, stand_ins
from engine.events import Event, PromptRendered, Stored, TextBlock, ToolResult
from engine.prompt import runtime
from engine.prompt.repair import repair
from engine.prompt.request import Message, ModelRequest, Part, ResultPart
from engine.state import TaskState

E = TypeVar("E", bound=Stored)
# An answer may have no more tokens than compaction keeps free for it: providers refuse what could overflow the window.
MOST_OUTPUT = 8192


def build(events: Sequence[Event], state: TaskState) -> ModelRequest:
    """The request that would be sent after ``events``. Raises ValueError when no prompt was rendered yet."""
    rendered = _last(events, PromptRendered)
    if rendered is None:
        raise ValueError("the session has no rendered prompt")
    return ModelRequest(
        session=state.session,
        identity=rendered.identity,
        catalogue=rendered.catalogue,
        tools=rendered.tools,
        messages=repair(trajectory(events)),
        max_output=max(1, min(MOST_OUTPUT, state.context_window // 4)),
    )


def trajectory(events: Sequence[Event]) -> tuple[Message, ...]:
    """Layers C and D: the conversation as messages, before repair."""
    summary = last_summary(events)
    keep_from = summary.keep_from if summary else 0
    instead = stand_ins(events)
    messages: list[Message] = []
    if summary:
        _add(messages, "user", TextBlock(text=summary_message_text(summary)))
    for event in events:
        if event.seq >= keep_from:
            _add_event(messages, event, instead)
    return tuple(messages)


def digest(request: ModelRequest) -> str:
    """SHA-256 of the request in a canonical form: equal exactly when the requests are. Fast: it is made every turn."""
    found = hashlib.sha256()
    for piece in _canonical(request):
        data = piece.encode()
        found.update(b"%d:" % len(data))
        found.update(data)
    return found.hexdigest()


def _canonical(request: ModelRequest) -> Iterator[str]:
    """Everything that goes out, piece by piece; each is hashed with its length, so that none runs into the next."""
    yield from (request.session, request.identity, request.catalogue, str(request.max_output))
    yield repr(request.allowed_tools)
    for tool in request.tools:
        yield tool.model_dump_json()
    for message in request.messages:
        yield f"{message.role} {len(message.parts)}"
        for part in message.parts:
            if isinstance(part, ResultPart):
                yield from (part.call_id, part.name, part.text, str(part.is_error))
            else:
                yield part.model_dump_json()


def _add_event(messages: list[Message], event: Event, instead: Mapping[str, str]) -> None:
    if event.type == "user_message":
        _add(messages, "user", TextBlock(text=event.text))
    elif event.type == "runtime_update":
        _add(messages, "user", TextBlock(text=runtime.as_text(event)))
    elif event.type == "assistant_message" and not event.aborted:
        messages.append(Message("assistant", event.blocks))
    elif event.type == "tool_result":
        _add(messages, "user", _result(event, instead))


def _result(event: ToolResult, instead: Mapping[str, str]) -> ResultPart:
    return ResultPart(event.call_id, event.name, result_text(event, instead), is_error=event.status != "ok")


def _add(messages: list[Message], role: str, part: Part) -> None:
    """Append ``part`` to the last message if that is the user's, else begin a new one."""
    if messages and messages[-1].role == role == "user":
        messages[-1] = Message("user", (*messages[-1].parts, part))
    else:
        messages.append(Message("user", (part,)))


def _last(events: Sequence[Event], kind: type[E]) -> E | None:
    return next((e for e in reversed(events) if isinstance(e, kind)), None)
