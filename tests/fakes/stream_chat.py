"""A turn as Chat Completions streams it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.fakes.prefix import Count, tokens
from tests.fakes.turns import Turn


def chat_events(turn: Turn, body: dict[str, Any], count: Count, serial: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The chunks of one answer, without names; ``serial`` makes its ids. ``[DONE]`` is the server's."""
    chunk = {
        "id": f"chatcmpl-{serial:024d}",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": body["model"],
        "system_fingerprint": "fp",
    }

    def delta(content: dict[str, Any], finish: str | None = None) -> tuple[str, dict[str, Any]]:
        choice = {"index": 0, "delta": content, "logprobs": None, "finish_reason": finish}
        return "", {**chunk, "choices": [choice]}

    yield delta({"role": "assistant", "content": "", "refusal": None})
    for piece in turn.pieces(turn.thinking):
        yield delta({"reasoning_content": piece})
    for piece in turn.pieces(turn.text):
        yield delta({"content": piece})
    for at, call in enumerate(turn.calls):
        call_id = f"call_{serial:020d}{at:02d}" if call.id is None else call.id
        function = {"name": call.name, "arguments": ""}
        yield delta({"tool_calls": [{"index": at, "id": call_id, "type": "function", "function": function}]})
        for piece in turn.pieces(call.arguments):
            yield delta({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    name, last = delta({}, turn.stop or ("tool_calls" if turn.calls else "stop"))
    yield name, {**last, **turn.extra}
    if turn.send_usage and body.get("stream_options", {}).get("include_usage"):
        yield "", {**chunk, "choices": [], "usage": _usage(turn, count)}


def _usage(turn: Turn, count: Count) -> Any:
    if turn.usage is not None:
        return turn.usage
    reasoning = tokens(turn.thinking)
    output = tokens(turn.text + "".join(call.arguments for call in turn.calls)) + reasoning + 1
    return {
        "prompt_tokens": count.total,
        "completion_tokens": output,
        "total_tokens": count.total + output,
        "prompt_tokens_details": {"cached_tokens": count.read},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def openai_error(message: str, code: str, kind: str = "invalid_request_error") -> dict[str, Any]:
    """An error body of both OpenAI formats, also the data of an error chunk."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
