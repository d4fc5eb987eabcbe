"""Whatever a model sends, what comes out is clean: once, at the wire."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.events import EVENT, AssistantMessage, TextBlock, ThinkingBlock, ToolCall, Usage
from engine.models.base import BlockDelta, BlockEnd, BlockStart, Done, Part
from engine.models.sanitize import CALL_ID, CallIds
from engine.models.wire_assembly import Assembly
from engine.text import clean
from tests.fakes import Call, StrictServer, Turn
from tests.fakes.asking import FORMATS, after, answer, collect, model_for, request_of
from tests.fakes.turns import Format


async def once(format: Format, turn: Turn) -> Done:
    async with StrictServer(format, [turn]) as server:
        return await answer(model_for(server), request_of())


STOPS = {
    "anthropic": {
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "refusal": "refusal",
        "stop_sequence": "end",
        "pause_turn": "end",
        "eos_found": "end",
    },
    "openai": {"max_output_tokens": "length", "content_filter": "refusal", "eos_found": "end"},
    "openai-chat": {"length": "length", "content_filter": "refusal", "tool_calls": "end", "eos_found": "end"},
}


@pytest.mark.parametrize("format", FORMATS)
async def test_stop_reasons_known_and_unknown(format: Format) -> None:
    expected = STOPS[format]
    turns = [Turn(text="a", stop=word) for word in expected]
    async with StrictServer(format, [*turns, Turn(calls=(Call("fs_read"),), stop="eos_found")]) as server:
        model = model_for(server)
        for word, stop in expected.items():
            done = await answer(model, request_of())
            assert (done.provider_stop, done.stop) == (word, stop)
        assert (await answer(model, request_of())).stop == "tool_calls"


async def test_calls_want_running_even_when_the_server_says_stop() -> None:
    assert (await once("openai-chat", Turn(calls=(Call("fs_read"),), stop="stop"))).stop == "tool_calls"


@pytest.mark.parametrize("format", FORMATS)
async def test_nothing_empty_comes_out(format: Format) -> None:
    call = (Call("fs_list", {"path": "."}),)
    turns = [
        Turn(),
        Turn(empty_text=True),
        Turn(empty_text=True, text="\n \n"),
        Turn(empty_text=True, calls=call),
        Turn(text="\n\n", calls=call),
    ]
    async with StrictServer(format, turns) as server:
        model = model_for(server)
        for turn in turns:
            parts = await collect(model, request_of())
            ended = [part.block for part in parts if isinstance(part, BlockEnd)]
            assert parts[-1].blocks == tuple(ended) and len(ended) == len(turn.calls)
            assert all(isinstance(block, ToolCall) for block in ended)
            assert len([part for part in parts if isinstance(part, BlockStart)]) == len(turn.calls)


DAMAGED: dict[str, dict[str, Any]] = {
    '{"path": "a"': {"path": "a"},
    "{'path': 'a'}": {"path": "a"},
    '{"path": "a",}': {"path": "a"},
    '```json\n{"path": "a"}\n```': {"path": "a"},
    '"{\\"path\\": \\"a\\"}"': {"path": "a"},
    '{"path": "a\\u0000b\\ud800"}': {"path": "a␀b\ufffd"},
    "": {},
    "  ": {},
}


@pytest.mark.parametrize("format", FORMATS)
async def test_damaged_arguments_are_repaired(format: Format) -> None:
    done = await once(format, Turn(calls=tuple(Call("fs_read", raw=raw) for raw in DAMAGED)))
    for block, expected in zip(done.blocks, DAMAGED.values(), strict=True):
        assert isinstance(block, ToolCall) and (block.input, block.bad_input) == (expected, "")


HOPELESS = ["no idea", "[1, 2]", "null", "7", '{"n": 1e999}', '{"a":' * 90 + "1" + "}" * 90]


@pytest.mark.parametrize("format", FORMATS)
async def test_hopeless_arguments_are_kept_as_they_came(format: Format) -> None:
    done = await once(format, Turn(calls=tuple(Call("fs_read", raw=raw) for raw in HOPELESS)))
    for block, raw in zip(done.blocks, HOPELESS, strict=True):
        assert isinstance(block, ToolCall) and (block.input, block.bad_input) == ({}, raw)


@pytest.mark.parametrize(
    ("format", "stop"), [("anthropic", "max_tokens"), ("openai", "max_output_tokens"), ("openai-chat", "length")]
)
async def test_arguments_cut_by_the_length_limit_are_not_completed(format: Format, stop: str) -> None:
    calls = (Call("fs_list", {"path": "whole"}), Call("fs_write", raw='{"path": "a", "text": "half of th'))
    done = await once(format, Turn(calls=calls, stop=stop))
    whole, cut = done.blocks
    assert done.stop == "length"
    assert isinstance(whole, ToolCall) and whole.input == {"path": "whole"}
    assert isinstance(cut, ToolCall) and cut.input == {} and cut.bad_input.endswith("half of th")


@pytest.mark.parametrize("format", FORMATS)
async def test_call_ids_are_valid_and_never_given_twice(format: Format) -> None:
    wild = ("", "", "call_0", "call_0", "same_id_again", "same_id_again", "functions.fs_read:0", "x" * 41, "ünïcode-id")
    first = Turn(calls=tuple(Call("fs_read", {"n": at}, id=i) for at, i in enumerate(wild)))
    second = Turn(calls=(Call("fs_read", id="same_id_again"), Call("fs_read", id="fresh_and_fine")))
    async with StrictServer(format, [first, second, first, Turn(text="ok")]) as server:
        model, request, seen = model_for(server), request_of(), []
        for _ in range(3):
            done = await answer(model, request)
            ids = [block.id for block in done.blocks if isinstance(block, ToolCall)]
            seen += ids
            request = after(request, done, *("r" for _ in ids))
        await answer(model, request)
        assert server.rejections == []
    assert len(set(seen)) == len(seen) == 20
    assert all(CALL_ID.fullmatch(call_id) for call_id in seen)
    assert "same_id_again" in seen and "fresh_and_fine" in seen


@pytest.mark.parametrize("format", FORMATS)
async def test_ids_given_before_a_restart_are_known_from_the_request(format: Format) -> None:
    turn = Turn(calls=(Call("fs_read", id="same_id_again"),))
    async with StrictServer(format, [turn, turn]) as server:
        request = request_of()
        done = await answer(model_for(server), request)
        again = await answer(model_for(server), after(request, done, "r"))
    assert [b.id for b in done.blocks if isinstance(b, ToolCall)] == ["same_id_again"]
    assert [b.id for b in again.blocks if isinstance(b, ToolCall)] != ["same_id_again"]


NAMES = {
    "functions.fs_read": "functions_fs_read",
    "<|channel|>shell run": "channel_shell_run",
    "x" * 200: "x" * 64,
    "ü\0": "unknown_tool",
    "": "unknown_tool",
}


@pytest.mark.parametrize("format", FORMATS)
async def test_tool_names_are_tidied(format: Format) -> None:
    calls = tuple(Call(name, {"path": "a"}) for name in NAMES)
    async with StrictServer(format, [Turn(calls=calls), Turn(text="ok")]) as server:
        model, request = model_for(server), request_of()
        done = await answer(model, request)
        await answer(model, after(request, done, *("no such tool" for _ in calls)))
        assert server.rejections == []
    assert [(block.name, block.input) for block in done.blocks if isinstance(block, ToolCall)] == [
        (name, {"path": "a"}) for name in NAMES.values()
    ]


@pytest.mark.parametrize("format", FORMATS)
async def test_nul_and_surrogates_are_cleaned_and_pairs_split_over_pieces_join(format: Format) -> None:
    turn = Turn(thinking="\ud83d\ude00 \udfff", text="a\0b \ud83d\ude00 \ud83d", calls=(Call("fs_read"),), piece=1)
    async with StrictServer(format, [turn]) as server:
        parts = await collect(model_for(server), request_of())
    thinking, text, _ = parts[-1].blocks
    assert isinstance(thinking, ThinkingBlock) and thinking.text == "😀 \ufffd"
    assert text == TextBlock(text="a␀b 😀 \ufffd")
    assert "".join(part.text for part in parts if isinstance(part, BlockDelta) and part.index == 1) == text.text
    stored = AssistantMessage(turn=1, model="m", blocks=parts[-1].blocks)
    assert EVENT.validate_json(EVENT.dump_json(stored)) == stored


@pytest.mark.parametrize("format", ["anthropic", "openai"])
async def test_thinking_that_cannot_be_kept_exactly_is_not_sent_back(format: Format) -> None:
    turn = Turn(thinking="half a pair \ud83d", calls=(Call("fs_read"),))
    async with StrictServer(format, [turn, Turn(text="ok")]) as server:
        model, request = model_for(server), request_of()
        await answer(model, after(request, await answer(model, request), "r"))
        assert server.rejections == []
        assert "half a pair" not in str(server.requests[1])


async def test_a_chat_server_that_numbers_every_call_zero() -> None:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {"id": "x", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    def whole(call_id: str, path: str) -> dict[str, Any]:
        function = {"name": "fs_read", "arguments": f'{{"path": "{path}"}}'}
        return chunk({"tool_calls": [{"index": 0, "id": call_id, "type": "function", "function": function}]})

    turn = Turn(verbatim=(whole("call_aaaa1", "a"), whole("call_bbbb2", "b"), chunk({}, "stop")))
    done = await once("openai-chat", turn)
    assert [block.input for block in done.blocks if isinstance(block, ToolCall)] == [{"path": "a"}, {"path": "b"}]
    assert done.stop == "tool_calls"


async def test_a_chat_server_with_gaps_and_fields_nobody_knows() -> None:
    def chunk(**fields: Any) -> dict[str, Any]:
        return {"choices": [fields], "surprise": {"a": 1}}

    turn = Turn(
        verbatim=(
            {"choices": []},
            chunk(delta={"reasoning": "so"}),
            chunk(delta=None),
            chunk(delta={"content": None, "tool_calls": None}),
            chunk(delta={"content": "he"}, index=0),
            chunk(delta={"content": "re", "refusal": ""}),
            chunk(delta={"tool_calls": [{"function": {"name": "fs_read", "arguments": None}}]}),
            chunk(delta={"tool_calls": [{"function": {"name": "fs_read", "arguments": "{}"}}]}),
            chunk(delta={}, finish_reason="stop"),
        )
    )
    done = await once("openai-chat", turn)
    thinking, text, call = done.blocks
    assert isinstance(thinking, ThinkingBlock) and thinking.text == "so"
    assert text == TextBlock(text="here")
    assert isinstance(call, ToolCall) and call.name == "fs_read" and call.input == {}


async def test_a_messages_server_that_sends_arguments_whole_and_events_nobody_knows() -> None:
    block = {"type": "tool_use", "id": "toolu_0123456789", "name": "fs_read", "input": {"path": "a"}}
    turn = Turn(
        verbatim=(
            {"type": "message_start", "message": {"id": "m", "model": "m"}},
            {"type": "brand_new_event", "index": 0},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "hologram", "light": 1}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "light_delta", "light": 2}},
            {"type": "content_block_stop", "index": 0},
            {"type": "content_block_start", "index": 1, "content_block": block},
            {"type": "content_block_stop", "index": 1},
            {"type": "content_block_start", "index": 2, "content_block": {**block, "id": "toolu_9876543210"}},
            {
                "type": "content_block_delta",
                "index": 2,
                "delta": {"type": "input_json_delta", "partial_json": '{"path": "b"}'},
            },
            {"type": "content_block_stop", "index": 2},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
            {"type": "message_stop"},
        )
    )
    done = await once("anthropic", turn)
    assert done.blocks == (
        ToolCall(id="toolu_0123456789", name="fs_read", input={"path": "a"}),
        ToolCall(id="toolu_9876543210", name="fs_read", input={"path": "b"}),
    )


async def test_a_chat_server_that_goes_on_talking_after_a_call() -> None:
    def chunk(**delta: Any) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": delta}]}

    call = {"index": 0, "id": "call_aaaa1", "function": {"name": "fs_read", "arguments": "{}"}}
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    turn = Turn(verbatim=(chunk(content="before"), chunk(tool_calls=[call]), chunk(content="after"), last))
    done = await once("openai-chat", turn)
    assert done.blocks == (
        TextBlock(text="before"),
        ToolCall(id="call_aaaa1", name="fs_read"),
        TextBlock(text="after"),
    )


async def test_a_refusal_is_shown_and_named() -> None:
    where = {"output_index": 0, "content_index": 0, "item_id": "msg_1"}
    turn = Turn(
        verbatim=(
            {"type": "response.created", "response": {"id": "r", "model": "m"}},
            {"type": "response.refusal.delta", **where, "delta": "I cannot help with that."},
            {"type": "response.completed", "response": {"id": "r", "status": "completed", "usage": None}},
        )
    )
    done = await once("openai", turn)
    assert (done.blocks, done.stop) == ((TextBlock(text="I cannot help with that."),), "refusal")
    delta = {"choices": [{"index": 0, "delta": {"refusal": "No."}, "finish_reason": "stop"}]}
    done = await once("openai-chat", Turn(verbatim=(delta,)))
    assert (done.blocks, done.stop) == ((TextBlock(text="No."),), "refusal")


PIECES = st.lists(st.tuples(st.sampled_from(["text", "thinking"]), st.text(st.characters(codec=None), max_size=5)))


@given(PIECES)
@settings(max_examples=200, deadline=None)
def test_what_is_shown_is_what_is_kept(pieces: list[tuple[Any, str]]) -> None:
    assembly = Assembly(CallIds().for_turn(request_of()))
    parts: list[Part] = []
    for kind, piece in pieces:
        parts += assembly.write(kind, kind, piece)
    parts += assembly.finish("stop", Usage())
    done = parts[-1]
    assert isinstance(done, Done)
    for index, block in enumerate(done.blocks):
        assert not isinstance(block, ToolCall)
        shown = "".join(part.text for part in parts if isinstance(part, BlockDelta) and part.index == index)
        assert shown == block.text == clean(block.text) and block.text.strip()
    for kind in ("text", "thinking"):
        sent = "".join(piece for k, piece in pieces if k == kind)
        kept = [b.text for b in done.blocks if not isinstance(b, ToolCall) and b.kind == kind]
        assert kept == ([clean(sent)] if sent.strip() else [])
