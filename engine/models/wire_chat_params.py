"""A request as Chat Completions servers take it: plain strings, which every server and every chat template reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.events import ThinkingBlock
from engine.models.sanitize import scrub
from engine.models.wire_params import (
    arguments_json,
    cache_key,
    calls,
    masked,
    results,
    system_texts,
    texts,
    tool_choice,
)
from engine.models.wire_quirks import OFFICIAL, Quirks
from engine.prompt.request import Message, ModelRequest

WIRE = "openai-chat"
_GAP = "\n\n"


def chat_params(request: ModelRequest, model_id: str, quirks: Quirks = OFFICIAL) -> dict[str, Any]:
    """The body of ``chat.completions.create``.

    Identity and catalogue share one system message: many chat templates refuse a second. For the same reason the texts
    of one user message are joined, so that roles alternate; more text later makes it longer, never different.
    """
    system = system_texts(request)
    messages = [{"role": "system", "content": _GAP.join(system)}] if system else []
    messages += [entry for message in request.messages for entry in _entries(message, quirks)]
    params: dict[str, Any] = {
        "model": model_id,
        "stream": True,
        quirks.max_tokens_field: request.max_output,
        "messages": messages,
    }
    if quirks.send_stream_options:
        params["stream_options"] = {"include_usage": True}
    if quirks.send_cache_key:
        params["prompt_cache_key"] = cache_key(request.session)
    if request.tools and quirks.supports_tools:
        params["tools"] = [
            {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.schema_}}
            for t in request.tools
        ]
        if quirks.send_allowed_tools:
            named = [{"type": "function", "function": {"name": name}} for name in masked(request) or ()]
            allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": named}}
            params |= tool_choice(request, allowed)
    return {**scrub(params), **quirks.extra_body}


def _entries(message: Message, quirks: Quirks) -> Iterator[dict[str, Any]]:
    text = _GAP.join(texts(message))
    if message.role == "assistant":
        yield _assistant(message, text, quirks)
        return
    for result in results(message):
        yield {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
    if text:
        yield {"role": "user", "content": text}


def _assistant(message: Message, text: str, quirks: Quirks) -> dict[str, Any]:
    entry: dict[str, Any] = {"role": "assistant", "content": text or None}
    thinking = "".join(
        part.text for part in message.parts if isinstance(part, ThinkingBlock) and part.opaque.get("wire") == WIRE
    )
    if thinking and quirks.send_reasoning:
        entry[quirks.send_reasoning] = thinking
    tool_calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments_json(call)}}
        for call in calls(message)
    ]
    if tool_calls:
        entry["tool_calls"] = tool_calls
    return entry
