"""A turn as the Responses API streams it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.fakes.prefix import Count, tokens
from tests.fakes.seals import encrypt
from tests.fakes.stream_anthropic import Event
from tests.fakes.turns import Call, Turn


def responses_events(turn: Turn, body: dict[str, Any], count: Count, serial: int) -> Iterator[Event]:
    """The events of one answer, numbered; ``serial`` makes its ids."""
    for number, (name, data) in enumerate(_events(turn, body, count, serial)):
        yield name, {"type": name, "sequence_number": number, **data}


def _events(turn: Turn, body: dict[str, Any], count: Count, serial: int) -> Iterator[Event]:
    response: dict[str, Any] = {
        "id": f"resp_{serial:024d}",
        "object": "response",
        "created_at": 1,
        "model": body["model"],
        "status": "in_progress",
        "output": [],
        "usage": None,
        "incomplete_details": None,
        "error": None,
    }
    yield "response.created", {"response": response}
    yield "response.in_progress", {"response": response}
    output: list[dict[str, Any]] = []
    makers = [_reasoning(turn, body, serial)] if turn.thinking else []
    makers += [_message("", turn, serial)] if turn.empty_text else []
    makers += [_message(turn.text, turn, serial)] if turn.text else []
    makers += [_call(call, at, turn, serial) for at, call in enumerate(turn.calls)]
    for index, maker in enumerate(makers):
        for name, data in maker:
            yield name, {"output_index": index, **data}
            if name == "response.output_item.done":
                output.append(data["item"])
    status = "incomplete" if turn.stop else "completed"
    ended = {**response, "status": status, "output": output, "usage": _usage(turn, count)}
    if turn.stop:
        ended["incomplete_details"] = {"reason": turn.stop}
    yield f"response.{status}", {"response": ended}


def _usage(turn: Turn, count: Count) -> Any:
    if turn.usage is not None or not turn.send_usage:
        return turn.usage
    reasoning = tokens(turn.thinking)
    output = tokens(turn.text + "".join(call.arguments for call in turn.calls)) + reasoning + 1
    return {
        "input_tokens": count.total,
        "input_tokens_details": {"cached_tokens": count.read, "cache_write_tokens": count.write},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": count.total + output,
    }


def _reasoning(turn: Turn, body: dict[str, Any], serial: int) -> Iterator[Event]:
    item_id = f"rs_{serial:024d}"
    item: dict[str, Any] = {"id": item_id, "type": "reasoning", "summary": []}
    where = {"item_id": item_id, "summary_index": 0}
    yield "response.output_item.added", {"item": item}
    yield "response.reasoning_summary_part.added", {**where, "part": {"type": "summary_text", "text": ""}}
    for piece in turn.pieces(turn.thinking):
        yield "response.reasoning_summary_text.delta", {**where, "delta": piece}
    part = {"type": "summary_text", "text": turn.thinking}
    yield "response.reasoning_summary_text.done", {**where, "text": turn.thinking}
    yield "response.reasoning_summary_part.done", {**where, "part": part}
    done = {**item, "summary": [part]}
    if "reasoning.encrypted_content" in body.get("include", ()):
        done["encrypted_content"] = encrypt(turn.thinking)
    yield "response.output_item.done", {"item": done}


def _message(text: str, turn: Turn, serial: int) -> Iterator[Event]:
    item_id = f"msg_{serial:024d}"
    item: dict[str, Any] = {
        "id": item_id,
        "type": "message",
        "role": "assistant",
        "status": "in_progress",
        "content": [],
    }
    where = {"item_id": item_id, "content_index": 0}
    empty = {"type": "output_text", "text": "", "annotations": []}
    yield "response.output_item.added", {"item": item}
    yield "response.content_part.added", {**where, "part": empty}
    for piece in turn.pieces(text):
        yield "response.output_text.delta", {**where, "delta": piece, "logprobs": []}
    yield "response.output_text.done", {**where, "text": text, "logprobs": []}
    yield "response.content_part.done", {**where, "part": {**empty, "text": text}}
    yield (
        "response.output_item.done",
        {"item": {**item, "status": "completed", "content": [{**empty, "text": text}]}},
    )


def _call(call: Call, at: int, turn: Turn, serial: int) -> Iterator[Event]:
    item: dict[str, Any] = {
        "id": f"fc_{serial:020d}{at:02d}",
        "type": "function_call",
        "status": "in_progress",
        "call_id": f"call_{serial:020d}{at:02d}" if call.id is None else call.id,
        "name": call.name,
        "arguments": "",
    }
    yield "response.output_item.added", {"item": item}
    for piece in turn.pieces(call.arguments):
        yield "response.function_call_arguments.delta", {"item_id": item["id"], "delta": piece}
    yield (
        "response.function_call_arguments.done",
        {"item_id": item["id"], "name": call.name, "arguments": call.arguments},
    )
    yield "response.output_item.done", {"item": {**item, "status": "completed", "arguments": call.arguments}}


def responses_error(message: str, code: str) -> dict[str, Any]:
    """The data of an error event."""
    return {"type": "error", "code": code, "message": message, "param": None, "sequence_number": 99}
