"""The model request as a pure view of the log: ``build(events, state) -> ModelRequest``.

Append-only: while no compaction lies between them, the request after more events begins with the request before, part
by part. Aborted answers are shown to people and never sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from engine.compaction import summary_message_text
from engine.compaction.visible import last_summary, result_text, stand_ins
from engine.events import Event, PromptRendered, TextBlock, ToolResult, ToolSpec
from engine.prompt import modes, runtime
from engine.prompt.external import enclosed
from engine.prompt.repair import repair
from engine.prompt.request import Message, ModelRequest, Part, ResultPart
from engine.prompt.wrapping import Rows, wrapped
from engine.rewound import talk
from engine.state import TaskState

# An answer may have no more tokens than compaction keeps free for it: providers refuse what could overflow the window.
MOST_OUTPUT = 8192


class Hash(Protocol):
    """A hash that is being made."""

    def update(self, data: bytes, /) -> None: ...


def build(events: Sequence[Event], state: TaskState) -> ModelRequest:
    """The request that would be sent after ``events``. Raises ValueError when no prompt was rendered yet."""
    return assembled(last_rendered(events), state, repair(trajectory(events)))


def assembled(rendered: PromptRendered, state: TaskState, messages: tuple[Message, ...]) -> ModelRequest:
    """The request of a prompt and of repaired messages."""
    return ModelRequest(
        session=state.session,
        identity=rendered.identity,
        catalogue=rendered.catalogue,
        tools=rendered.tools,
        messages=messages,
        max_output=max(1, min(MOST_OUTPUT, state.context_window // 4)),
        allowed_tools=allowed(state, rendered.tools),
    )


def allowed(state: TaskState, tools: Sequence[ToolSpec]) -> tuple[str, ...] | None:
    """The tools that may be called in the task's stage and mode, None for all. Others are masked, never taken out."""
    stage = state.present_stage
    if not (stage and stage.tools) and state.approve != modes.PLAN:
        return None
    names = (tool.name for tool in tools if stage is None or stage.allows(tool.name))
    return tuple(name for name in names if modes.allows(name, state))


def trajectory(events: Sequence[Event]) -> tuple[Message, ...]:
    """Layers C and D: the conversation as messages, before repair."""
    events = talk(events)
    first, keep_from, instead = opening(events)
    messages = [Message("user", first)] if first else []
    rows = Rows()
    for event in events:
        place = rows.count(event)
        message = said(event, instead, place) if event.seq >= keep_from else None
        if message is not None:
            messages.append(message)
    return tuple(messages)


def opening(events: Sequence[Event]) -> tuple[tuple[Part, ...], int, Mapping[str, str]]:
    """What compactions make of the start: the parts the conversation begins with, the seq from which events follow,
    and what stands in for results (see `stand_ins`)."""
    summary = last_summary(events)
    parts = (TextBlock(text=summary_message_text(summary)),) if summary else ()
    return parts, summary.keep_from if summary else 0, stand_ins(events)


def said(event: Event, instead: Mapping[str, str], place: int) -> Message | None:
    """What ``event`` adds to the conversation, None for nothing. place: of a result in its row (see `wrapping`)."""
    if event.type == "user_message":
        return Message("user", (TextBlock(text=event.text),))
    if event.type == "runtime_update":
        return Message("user", (TextBlock(text=runtime.as_text(event)),))
    if event.type == "person_ran":
        return Message("user", (TextBlock(text=modes.ran_text(event)),))
    if event.type == "assistant_message" and not event.aborted:
        return Message("assistant", event.blocks)
    if event.type == "tool_result":
        return Message("user", (_result(event, instead, place),))
    return None


def digest(request: ModelRequest) -> str:
    """SHA-256 of the request in a canonical form: equal exactly when the requests are. Fast: it is made every turn."""
    found = hashlib.sha256()
    update(found, canonical_head(request))
    for message in request.messages:
        update(found, canonical_message(message))
    return found.hexdigest()


def update(found: Hash, pieces: Iterable[str]) -> None:
    """Each piece is hashed with its length, so that none runs into the next."""
    for piece in pieces:
        data = piece.encode()
        found.update(b"%d:" % len(data))
        found.update(data)


def canonical_head(request: ModelRequest) -> Iterator[str]:
    """Everything that goes out before the messages, piece by piece."""
    yield from (request.session, request.identity, request.catalogue, str(request.max_output))
    yield repr(request.allowed_tools)
    for tool in request.tools:
        yield tool.model_dump_json()


def canonical_message(message: Message) -> Iterator[str]:
    """Everything of a message, piece by piece."""
    yield f"{message.role} {len(message.parts)}"
    for part in message.parts:
        if isinstance(part, ResultPart):
            yield from (part.call_id, part.name, part.text, str(part.is_error))
        else:
            yield part.model_dump_json()


def last_rendered(events: Sequence[Event]) -> PromptRendered:
    """The prompt in force. Raises ValueError when none was rendered yet."""
    found = next((e for e in reversed(events) if isinstance(e, PromptRendered)), None)
    if found is None:
        raise ValueError("the session has no rendered prompt")
    return found


def _result(event: ToolResult, instead: Mapping[str, str], place: int) -> ResultPart:
    text = result_text(event, instead)
    if instead.get(event.call_id) != "":
        text = wrapped(enclosed(text, event.external), event.name, event.call_id, place)
    return ResultPart(event.call_id, event.name, text, is_error=event.status != "ok")
