"""A turn as the Messages API streams it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.fakes.prefix import Count, tokens
from tests.fakes.seals import encrypt, seal
from tests.fakes.turns import Turn

Event = tuple[str, dict[str, Any]]


def anthropic_events(turn: Turn, body: dict[str, Any], count: Count, serial: int) -> Iterator[Event]:
    """The events of one answer; ``serial`` makes its ids."""
    output = tokens(turn.thinking + turn.text + "".join(call.arguments for call in turn.calls)) + 1
    usage: dict[str, Any] = {
        "input_tokens": count.total - count.read - count.write,
        "cache_creation_input_tokens": count.write,
        "cache_read_input_tokens": count.read,
    }
    begin = {**usage, "output_tokens": 1}
    end = {**usage, "output_tokens": output, "output_tokens_details": {"thinking_tokens": tokens(turn.thinking)}}
    if turn.usage is not None:
        begin = end = {"output_tokens": 1, "input_tokens": 0, **turn.usage}
    message = {
        "id": f"msg_{serial:024d}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": begin,
    }
    yield "message_start", {"type": "message_start", "message": message}
    for index, (block, deltas) in enumerate(_blocks(turn, serial)):
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": block}
        if index == 0:
            yield "ping", {"type": "ping"}
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    stop = turn.stop or ("tool_use" if turn.calls else "end_turn")
    yield (
        "message_delta",
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": end},
    )
    yield "message_stop", {"type": "message_stop"}


def _blocks(turn: Turn, serial: int) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each block as it starts, and its deltas."""
    if turn.empty_text:
        yield {"type": "text", "text": ""}, []
    if turn.thinking:
        pieces = [{"type": "thinking_delta", "thinking": piece} for piece in turn.pieces(turn.thinking)]
        signature = {"type": "signature_delta", "signature": seal(turn.thinking)}
        yield {"type": "thinking", "thinking": "", "signature": ""}, [*pieces, signature]
    if turn.redacted:
        yield {"type": "redacted_thinking", "data": encrypt(turn.redacted)}, []
    if turn.text:
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": p} for p in turn.pieces(turn.text)]
    for at, call in enumerate(turn.calls):
        call_id = f"toolu_{serial:020d}{at:02d}" if call.id is None else call.id
        pieces = [{"type": "input_json_delta", "partial_json": p} for p in ["", *turn.pieces(call.arguments)]]
        yield {"type": "tool_use", "id": call_id, "name": call.name, "input": {}}, pieces


def anthropic_error(message: str, kind: str) -> dict[str, Any]:
    """An error body, also the data of an error event."""
    return {"type": "error", "error": {"type": kind, "message": message}}
