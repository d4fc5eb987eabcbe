"""The model request, provider-neutral: what `engine.prompt.build` makes and `engine.models` puts on a wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.events import TextBlock, ThinkingBlock, ToolCall, ToolSpec


@dataclass(frozen=True, slots=True)
class ResultPart:
    """The result of one call, as the model reads it."""

    call_id: str
    name: str
    text: str
    is_error: bool = False


Part = TextBlock | ThinkingBlock | ToolCall | ResultPart


@dataclass(frozen=True, slots=True)
class Message:
    """One message. Results come in user messages, first, one for each call of the message before, in order."""

    role: Literal["user", "assistant"]
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """The four layers: ``identity`` (A), ``tools`` and ``catalogue`` (B), ``messages`` (C, then D at its end).

    session: stable key for provider-side caches. allowed_tools: None lets all be called; tools are never removed.
    """

    session: str
    identity: str
    catalogue: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    max_output: int = 8192
    allowed_tools: tuple[str, ...] | None = None
