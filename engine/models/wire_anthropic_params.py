"""A request as the Messages API takes it. Append-only: only cache breakpoints move from one request to the next."""

from __future__ import annotations

from typing import Any

from engine.events import TextBlock, ThinkingBlock, ToolCall
from engine.models.sanitize import scrub
from engine.models.wire_params import system_texts
from engine.models.wire_quirks import OFFICIAL, Quirks
from engine.prompt.request import Message, ModelRequest, Part, ResultPart

WIRE = "anthropic"
_BREAKPOINT = {"type": "ephemeral"}


def anthropic_params(request: ModelRequest, model_id: str, quirks: Quirks = OFFICIAL) -> dict[str, Any]:
    """The body of ``messages.create``. ``allowed_tools`` is not sent: a changed ``tool_choice`` breaks the cache here.

    At most four cache breakpoints: after the tools, after the system text, at the end, and where the previous request
    ended, so that a turn of any number of blocks still finds the last cache entry.
    """
    messages = [_message(message) for message in request.messages]
    if messages:
        _mark(messages[-1]["content"])
    if len(messages) > 2:
        _mark(messages[-3]["content"])
    params: dict[str, Any] = {"model": model_id, "max_tokens": request.max_output, "stream": True}
    system = [{"type": "text", "text": text} for text in system_texts(request)]
    if system:
        params["system"] = _mark(system)
    if request.tools and quirks.supports_tools:
        params["tools"] = _mark(
            [{"name": t.name, "description": t.description, "input_schema": t.schema_} for t in request.tools]
        )
    return {**scrub({**params, "messages": messages}), **quirks.extra_body}


def thinking_opaque(block: dict[str, Any]) -> dict[str, Any]:
    """What to keep of a thinking block as the API sent it; nothing when it could not be sent back unchanged."""
    return {"wire": WIRE, "block": block} if block == scrub(block) else {}


def _mark(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Set a cache breakpoint on the last block."""
    blocks[-1] = {**blocks[-1], "cache_control": _BREAKPOINT}
    return blocks


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": [block for part in message.parts if (block := _block(part))]}


def _block(part: Part) -> dict[str, Any] | None:
    match part:
        case TextBlock():
            return {"type": "text", "text": part.text}
        case ToolCall():
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": part.input}
        case ResultPart():
            failed = {"is_error": True} if part.is_error else {}
            return {"type": "tool_result", "tool_use_id": part.call_id, "content": part.text, **failed}
        case ThinkingBlock():
            return part.opaque.get("block") if part.opaque.get("wire") == WIRE else None
