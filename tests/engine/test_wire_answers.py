"""What comes out of the three wires, through the official SDKs, from servers that speak them strictly."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from engine.events import TextBlock, ThinkingBlock, ToolCall, Usage
from engine.models.base import BlockDelta, BlockEnd, BlockStart, Done, Start, UsageReport
from engine.models.wire_quirks import LENIENT, Quirks
from tests.fakes import Call, StrictServer, Turn, assert_append_only
from tests.fakes.asking import FORMATS, after, answer, collect, model_for, request_of
from tests.fakes.turns import Format

BOTH = (Call("fs_read", {"path": "a.py"}), Call("shell_run", {"path": "b", "n": [1, None]}))


@pytest.mark.parametrize("format", FORMATS)
async def test_an_answer_arrives_in_parts_and_whole(format: Format) -> None:
    turn = Turn(thinking="First I look. " * 5, text="Reading ü 👩‍👩‍👧 now.", calls=BOTH, piece=3)
    async with StrictServer(format, [turn]) as server:
        parts = await collect(model_for(server), request_of())
    assert isinstance(parts[0], Start) and parts[0].request_id
    done = parts[-1]
    assert isinstance(done, Done) and sum(isinstance(part, Done) for part in parts) == 1
    thinking, text, *calls = done.blocks
    assert isinstance(thinking, ThinkingBlock) and thinking.text == turn.thinking
    assert text == TextBlock(text=turn.text)
    assert [(c.name, c.input) for c in calls if isinstance(c, ToolCall)] == [(c.name, c.input) for c in BOTH]
    assert done.stop == "tool_calls"
    assert [part.index for part in parts if isinstance(part, BlockStart)] == [0, 1, 2, 3]
    for index, block in enumerate(done.blocks):
        places = [at for at, part in enumerate(parts) if getattr(part, "index", None) == index]
        assert isinstance(parts[places[0]], BlockStart) and parts[places[-1]] == BlockEnd(index, block)
        if not isinstance(block, ToolCall):
            shown = "".join(parts[at].text for at in places if isinstance(parts[at], BlockDelta))
            assert shown == block.text


@pytest.mark.parametrize("format", FORMATS)
async def test_a_conversation_only_appends_and_is_read_from_the_cache(format: Format) -> None:
    turns = [
        Turn(thinking="hm", text="Two things at once.", calls=BOTH),
        Turn(thinking="so", calls=(Call("fs_list", {"path": "."}),)),
        Turn(text="All done."),
        Turn(text="You are welcome."),
    ]
    async with StrictServer(format, turns) as server:
        model, request, usages = model_for(server, Quirks()), request_of(), []
        for results in (("x" * 400, "boom"), ("nothing",), ("thanks",), ()):
            done = await answer(model, request)
            usages.append(done.usage)
            if results:
                request = after(request, done, *results)
        assert server.rejections == []
        assert_append_only(server.requests)
    for earlier, later in pairwise(usages):
        assert later.cache_read >= earlier.input - 1
        assert later.input > earlier.input


@pytest.mark.parametrize("format", ["anthropic", "openai"])
async def test_thinking_goes_back_byte_for_byte(format: Format) -> None:
    turn = Turn(thinking='Odd " \\ bytes: é\u2028 \n\t 👍', calls=BOTH, piece=2)
    async with StrictServer(format, [turn, Turn(text="ok")]) as server:
        model, request = model_for(server), request_of()
        await answer(model, after(request, await answer(model, request), "a", "b"))
        assert server.rejections == []
        assert "thinking" in str(server.requests[1]) or "encrypted_content" in str(server.requests[1])


async def test_redacted_thinking_goes_back() -> None:
    async with StrictServer("anthropic", [Turn(redacted="hidden", calls=BOTH), Turn(text="ok")]) as server:
        model, request = model_for(server), request_of()
        done = await answer(model, request)
        await answer(model, after(request, done, "a", "b"))
        assert server.rejections == []
        assert server.requests[1]["messages"][1]["content"][0]["type"] == "redacted_thinking"


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("other", FORMATS)
async def test_a_session_can_change_its_provider(format: Format, other: Format) -> None:
    async with StrictServer(format, [Turn(thinking="mine", text="t", calls=BOTH)]) as first:
        request = request_of()
        done = await answer(model_for(first), request)
    async with StrictServer(other, [Turn(text="ok")]) as second:
        await answer(model_for(second), after(request, done, "a", "b"))
        assert second.rejections == []
        assert format == other or "mine" not in str(second.requests)


async def test_a_chat_server_gets_its_thinking_back_where_it_wants_it() -> None:
    async with StrictServer("openai-chat", [Turn(thinking="mine", calls=BOTH), Turn(text="ok")]) as server:
        model, request = model_for(server, Quirks(send_reasoning="reasoning_content")), request_of()
        await answer(model, after(request, await answer(model, request), "a", "b"))
        assert server.requests[1]["messages"][2]["reasoning_content"] == "mine"


@pytest.mark.parametrize("format", FORMATS)
async def test_nul_and_lone_surrogates_in_results_can_be_sent(format: Format) -> None:
    async with StrictServer(format, [Turn(calls=BOTH), Turn(text="ok")]) as server:
        model, request = model_for(server), request_of()
        await answer(model, after(request, await answer(model, request), "a\0b", "half \ud83d and \ude00"))
        assert server.rejections == []
        assert "a␀b" in str(server.requests[1])


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("hang_after", [-1, 4])
async def test_closing_the_iterator_aborts_the_request(format: Format, hang_after: int) -> None:
    async with StrictServer(format, [Turn(text="word " * 50, hang_after=hang_after)]) as server:
        model = model_for(server)
        if hang_after > 0:
            parts = model.stream(request_of())
            async for part in parts:
                if isinstance(part, Start):
                    break
            await parts.aclose()  # type: ignore[attr-defined]
        else:
            task = asyncio.ensure_future(collect(model, request_of()))
            assert await asyncio.to_thread(server.wait_for, lambda s: bool(s.requests))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert await asyncio.to_thread(server.wait_for_disconnect)


@pytest.mark.parametrize("format", FORMATS)
async def test_connections_are_used_again_and_closed(format: Format) -> None:
    async with StrictServer(format, [Turn(text="a"), Turn(text="b")]) as server:
        model = model_for(server)
        await answer(model, request_of())
        await answer(model, request_of())
        assert server.connections == 1
        await model.aclose()
        await model.aclose()


@pytest.mark.parametrize(
    ("format", "reported", "expected"),
    [
        (
            "anthropic",
            {"input_tokens": 5, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 20, "output_tokens": 9},
            Usage(input_uncached=5, cache_read=70, cache_write=20, output=9),
        ),
        ("anthropic", {"input_tokens": 5, "output_tokens": 9}, Usage(input_uncached=5, output=9)),
        (
            "openai",
            {
                "input_tokens": 100,
                "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 30},
                "output_tokens": 9,
                "output_tokens_details": {"reasoning_tokens": 4},
            },
            Usage(input_uncached=6, cache_read=64, cache_write=30, output=9, reasoning=4),
        ),
        ("openai", {"input_tokens": 100, "output_tokens": 9}, Usage(input_uncached=100, output=9)),
        (
            "openai-chat",
            {"prompt_tokens": 100, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 64}},
            Usage(input_uncached=36, cache_read=64, output=9),
        ),
        (
            "openai-chat",
            {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": None},
            Usage(input_uncached=10, output=2),
        ),
    ],
)
async def test_usage_has_one_definition(format: Format, reported: dict[str, object], expected: Usage) -> None:
    async with StrictServer(format, [Turn(text="a", usage=reported)]) as server:
        parts = await collect(model_for(server), request_of())
    assert parts[-1].usage == expected
    assert [part for part in parts if isinstance(part, UsageReport)][-1].usage == expected


@pytest.mark.parametrize("with_usage", [True, False])
async def test_llama_cpp_reports_cached_tokens_in_its_timings(with_usage: bool) -> None:
    timings = {"timings": {"cache_n": 80, "prompt_n": 20, "predicted_n": 7}}
    reported = {"prompt_tokens": 100, "completion_tokens": 7} if with_usage else None
    turn = Turn(text="a", usage=reported, send_usage=with_usage, extra=timings)
    async with StrictServer("openai-chat", [turn]) as server:
        done = await answer(model_for(server, LENIENT), request_of())
    assert done.usage == Usage(input_uncached=20, cache_read=80, output=7)


async def test_a_chat_server_may_send_no_usage_at_all() -> None:
    async with StrictServer("openai-chat", [Turn(text="a", send_usage=False)]) as server:
        done = await answer(model_for(server, Quirks(send_stream_options=False)), request_of())
        assert "stream_options" not in server.requests[0]
    assert done.usage == Usage() and done.blocks == (TextBlock(text="a"),)
