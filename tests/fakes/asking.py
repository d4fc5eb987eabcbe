"""Ask a strict server through the real wires: requests, models and collected answers for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from engine.events import TextBlock, ToolCall, ToolSpec
from engine.models.base import Done, Model
from engine.models.wire_anthropic import AnthropicModel
from engine.models.wire_anthropic_params import anthropic_params
from engine.models.wire_chat import OpenAIChatModel
from engine.models.wire_chat_params import chat_params
from engine.models.wire_quirks import Quirks
from engine.models.wire_responses import OpenAIModel
from engine.models.wire_responses_params import responses_params
from engine.prompt.request import Message, ModelRequest, Part, ResultPart
from tests.fakes.server import StrictServer
from tests.fakes.turns import Format
from tests.fakes.validate_anthropic import validate_anthropic
from tests.fakes.validate_chat import validate_chat
from tests.fakes.validate_responses import validate_responses

FORMATS: tuple[Format, ...] = ("anthropic", "openai", "openai-chat")
_MODELS: dict[Format, Callable[..., Model]] = {
    "anthropic": AnthropicModel,
    "openai": OpenAIModel,
    "openai-chat": OpenAIChatModel,
}
_PARAMS = {"anthropic": anthropic_params, "openai": responses_params, "openai-chat": chat_params}
_VALIDATORS = {"anthropic": validate_anthropic, "openai": validate_responses, "openai-chat": validate_chat}

TOOLS = tuple(
    ToolSpec(
        name=name,
        description=f"Does {name}.",
        schema_={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    )
    for name in ("fs_list", "fs_read", "shell_run")
)


def model_at(format: Format, url: str, quirks: Quirks | None = None, key: str = "test-key") -> Model:
    """A model of this format at this address."""
    return _MODELS[format](
        f"{format}/test-model", "test-model", api_key=key, base_url=url, context_window=100_000, quirks=quirks
    )


def model_for(server: StrictServer, quirks: Quirks | None = None, key: str = "test-key") -> Model:
    """A model of the server's format, pointed at it; closed with it."""
    model = model_at(server.format, server.base_url, quirks, key)
    server.clients.append(model.aclose)
    return model


def params_for(format: Format, request: ModelRequest, quirks: Quirks | None = None) -> dict[str, Any]:
    """The body of ``request`` on the wire."""
    return _PARAMS[format](request, "test-model", quirks or Quirks())


def problem_with(format: Format, request: ModelRequest) -> str | None:
    """Why the provider would refuse ``request``, None if it would not."""
    return _VALIDATORS[format](params_for(format, request))


def user(*parts: str | Part) -> Message:
    return Message("user", tuple(TextBlock(text=part) if isinstance(part, str) else part for part in parts))


def assistant(*parts: str | Part) -> Message:
    return Message("assistant", tuple(TextBlock(text=part) if isinstance(part, str) else part for part in parts))


def call(call_id: str, name: str = "fs_read", **arguments: Any) -> ToolCall:
    return ToolCall(id=call_id, name=name, input=arguments)


def result(call_id: str, text: str = "done", name: str = "fs_read") -> ResultPart:
    return ResultPart(call_id, name, text)


def request_of(*messages: Message, **changes: Any) -> ModelRequest:
    """A request with tools and both system layers; one user message when none is given."""
    fields: dict[str, Any] = {
        "session": "agent:main:tui:direct:1",
        "identity": "You are careful. " * 20,
        "catalogue": "Skills: none. " * 20,
        "tools": TOOLS,
        "messages": messages or (user("Look around."),),
    }
    return ModelRequest(**{**fields, **changes})


async def collect(model: Model, request: ModelRequest) -> list[Any]:
    """All parts of one answer."""
    return [part async for part in model.stream(request)]


async def answer(model: Model, request: ModelRequest) -> Done:
    """How one answer ended."""
    done = (await collect(model, request))[-1]
    assert isinstance(done, Done)
    return done


def after(request: ModelRequest, done: Done, *results: str) -> ModelRequest:
    """The request after ``done``: ``results`` for its calls, in order; without calls, they are what the user says."""
    calls = [block for block in done.blocks if isinstance(block, ToolCall)]
    parts: Sequence[Part | str] = (
        [ResultPart(c.id, c.name, text) for c, text in zip(calls, results, strict=True)] if calls else list(results)
    )
    return replace(request, messages=(*request.messages, Message("assistant", done.blocks), user(*parts)))


__all__ = [
    "FORMATS",
    "TOOLS",
    "after",
    "answer",
    "assistant",
    "call",
    "collect",
    "model_at",
    "model_for",
    "params_for",
    "problem_with",
    "request_of",
    "result",
    "user",
]
