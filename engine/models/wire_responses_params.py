"""A request as the Responses API takes it: stateless (``store`` off), reasoning sent back encrypted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.events import TextBlock, ThinkingBlock, ToolCall
from engine.models.sanitize import scrub
from engine.models.wire_params import arguments_json, cache_key, masked, system_texts, tool_choice
from engine.models.wire_quirks import OFFICIAL, Quirks
from engine.prompt.request import ModelRequest, Part, ResultPart

WIRE = "openai"
_SMALLEST_OUTPUT = 16
_WITHOUT_REASONING = ("gpt-3", "gpt-4", "chatgpt")
_REASONING_FIELDS = ("id", "type", "summary", "encrypted_content")


def responses_params(request: ModelRequest, model_id: str, quirks: Quirks = OFFICIAL) -> dict[str, Any]:
    """The body of ``responses.create``. Identity and catalogue are the first two input items."""
    system = [{"type": "message", "role": "system", "content": _input(text)} for text in system_texts(request)]
    items = [item for message in request.messages for part in message.parts for item in _items(message.role, part)]
    params: dict[str, Any] = {
        "model": model_id,
        "store": False,
        "stream": True,
        "max_output_tokens": max(request.max_output, _SMALLEST_OUTPUT),
        "input": system + items,
    }
    if _reasons(model_id, quirks):
        params["include"] = ["reasoning.encrypted_content"]
    if quirks.send_cache_key:
        params["prompt_cache_key"] = cache_key(request.session)
    if request.tools and quirks.supports_tools:
        params["tools"] = [
            {"type": "function", "name": t.name, "description": t.description, "parameters": t.schema_, "strict": False}
            for t in request.tools
        ]
        if quirks.send_allowed_tools:
            named = [{"type": "function", "name": name} for name in masked(request) or ()]
            params |= tool_choice(request, {"type": "allowed_tools", "mode": "auto", "tools": named})
    return {**scrub(params), **quirks.extra_body}


def reasoning_opaque(item: dict[str, Any]) -> dict[str, Any]:
    """What to keep of a reasoning item; nothing when it is not encrypted or could not be sent back unchanged."""
    kept = {name: item[name] for name in _REASONING_FIELDS if item.get(name) is not None}
    if not kept.get("encrypted_content") or kept != scrub(kept):
        return {}
    return {"wire": WIRE, "item": kept}


def _reasons(model_id: str, quirks: Quirks) -> bool:
    if quirks.encrypted_reasoning is not None:
        return quirks.encrypted_reasoning
    return not model_id.startswith(_WITHOUT_REASONING)


def _input(text: str) -> list[dict[str, Any]]:
    return [{"type": "input_text", "text": text}]


def _items(role: str, part: Part) -> Iterator[dict[str, Any]]:
    match part:
        case TextBlock() if role == "user":
            yield {"type": "message", "role": "user", "content": _input(part.text)}
        case TextBlock():
            yield {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": part.text}]}
        case ToolCall():
            yield {"type": "function_call", "call_id": part.id, "name": part.name, "arguments": arguments_json(part)}
        case ResultPart():
            yield {"type": "function_call_output", "call_id": part.call_id, "output": part.text}
        case ThinkingBlock() if part.opaque.get("wire") == WIRE:
            yield part.opaque["item"]
