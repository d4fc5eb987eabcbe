"""What the three conversions of a request share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from engine.events import TextBlock, ToolCall
from engine.prompt.request import Message, ModelRequest, ResultPart

_CACHE_KEY_LIMIT = 64


def texts(message: Message) -> Iterator[str]:
    """The texts of a message, in order."""
    return (part.text for part in message.parts if isinstance(part, TextBlock))


def results(message: Message) -> Iterator[ResultPart]:
    """The tool results of a message, in order."""
    return (part for part in message.parts if isinstance(part, ResultPart))


def calls(message: Message) -> Iterator[ToolCall]:
    """The tool calls of a message, in order."""
    return (part for part in message.parts if isinstance(part, ToolCall))


def system_texts(request: ModelRequest) -> list[str]:
    """Identity and catalogue, as far as they say something."""
    return [text for text in (request.identity, request.catalogue) if text.strip()]


def arguments_json(call: ToolCall) -> str:
    """The call's arguments as compact JSON, keys in the model's own order: the same bytes every time."""
    return json.dumps(call.input, ensure_ascii=False, separators=(",", ":"))


def cache_key(session: str) -> str:
    """The session as a key providers accept (64 characters): itself, or its digest when it is longer."""
    return session if len(session) <= _CACHE_KEY_LIMIT else hashlib.sha256(session.encode()).hexdigest()


def masked(request: ModelRequest) -> list[str] | None:
    """Names of the tools that may be called now, in the order of the tools; None when all may."""
    names = [tool.name for tool in request.tools]
    if request.allowed_tools is None or set(names) <= set(request.allowed_tools):
        return None
    return [name for name in names if name in request.allowed_tools]


def tool_choice(request: ModelRequest, allowed: dict[str, Any]) -> dict[str, Any]:
    """The ``tool_choice`` field that masks tools, or nothing: ``allowed`` is the format's way to name those left."""
    names = masked(request)
    if names is None:
        return {}
    return {"tool_choice": allowed if names else "none"}
