"""What goes onto the wires: deterministic, append-only, within each provider's rules."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.events import ThinkingBlock, ToolCall
from engine.models.wire_quirks import LENIENT, OFFICIAL, Quirks, default_quirks
from engine.prompt.repair import repair
from engine.prompt.request import Message, ModelRequest
from tests.fakes import Call, StrictServer, Turn, assert_append_only
from tests.fakes.asking import (
    FORMATS,
    TOOLS,
    answer,
    assistant,
    call,
    model_for,
    params_for,
    problem_with,
    request_of,
    result,
    user,
)
from tests.fakes.prefix import blocks
from tests.fakes.turns import Format

LONG = (
    user("runtime: monday", "do it"),
    assistant(ThinkingBlock(text="a", opaque={"wire": "elsewhere"}), "first", call("call-1", path="ü"), call("call-2")),
    user(result("call-1", "one"), result("call-2", "two"), "faster please"),
    assistant("second", call("call-3", z=1, a={"n": [1]})),
    user(result("call-3", "three")),
    assistant("third"),
    user("thanks"),
)


@pytest.mark.parametrize("format", FORMATS)
def test_requests_only_append(format: Format) -> None:
    ends = [at + 1 for at, message in enumerate(LONG) if message.role == "user"]
    requests = [request_of(*LONG[:end]) for end in ends]
    assert [problem_with(format, request) for request in requests] == [None] * len(ends)
    assert_append_only([params_for(format, request) for request in requests])


@pytest.mark.parametrize("format", FORMATS)
def test_a_user_message_that_grows_is_still_a_prefix(format: Format) -> None:
    before, after = request_of(user("do it")), request_of(user("do it", "and faster"))
    assert_append_only([params_for(format, before), params_for(format, after)])


@pytest.mark.parametrize("format", FORMATS)
def test_the_same_request_is_the_same_bytes(format: Format) -> None:
    one, two = (json.dumps(params_for(format, request_of(*LONG))) for _ in range(2))
    assert one == two


TURNS = st.lists(
    st.tuples(st.lists(st.sampled_from(["a", "b", "c"]), max_size=3), st.sampled_from(["", "text"])), max_size=6
)


@given(TURNS)
@settings(max_examples=100, deadline=None)
def test_growing_histories_only_append(turns: list[tuple[list[str], str]]) -> None:
    history: list[Message] = [user("begin")]
    sent: list[ModelRequest] = [request_of(*repair(tuple(history)))]
    for number, (names, text) in enumerate(turns):
        calls = [call("reused", name, n=at) for at, name in enumerate(names)]
        history.append(assistant(*calls, *([text] if text else [])))
        history.append(user(*(result("reused", f"{number}", c.name) for c in calls), "next"))
        sent.append(request_of(*repair(tuple(history))))
    for format in FORMATS:
        bodies = [params_for(format, request) for request in sent]
        assert [problem_with(format, request) for request in sent] == [None] * len(sent)
        assert_append_only(bodies)


def marks(request: ModelRequest) -> list[str]:
    return [block.place for block in blocks(params_for("anthropic", request)) if block.marked]


def test_breakpoints_stand_after_tools_system_the_end_and_the_end_before() -> None:
    assert marks(request_of(user("a"))) == ["tools[2]", "system[1]", "messages[0].content[0]"]
    assert marks(request_of(*LONG)) == ["tools[2]", "system[1]", "messages[4].content[0]", "messages[6].content[0]"]
    assert marks(request_of(user("a"), tools=(), identity="", catalogue="")) == ["messages[0].content[0]"]


async def test_a_turn_of_many_blocks_still_finds_the_cache() -> None:
    calls = tuple(Call("fs_read", {"n": at}) for at in range(30))
    async with StrictServer("anthropic", [Turn(calls=calls), Turn(text="ok")]) as server:
        model, request = model_for(server), request_of()
        first = await answer(model, request)
        results = [result(b.id, "r") for b in first.blocks if isinstance(b, ToolCall)]
        grown = replace(request, messages=(*request.messages, Message("assistant", first.blocks), user(*results)))
        second = await answer(model, grown)
    assert second.usage.cache_read == first.usage.input


def test_layers_a_and_b_are_two_blocks_where_the_format_has_blocks() -> None:
    request = request_of(identity="I", catalogue="C")
    assert [block["text"] for block in params_for("anthropic", request)["system"]] == ["I", "C"]
    assert [item["content"][0]["text"] for item in params_for("openai", request)["input"][:2]] == ["I", "C"]
    assert params_for("openai-chat", request)["messages"][0] == {"role": "system", "content": "I\n\nC"}


def test_responses_are_stateless_with_reasoning_encrypted() -> None:
    params = params_for("openai", request_of())
    assert params["store"] is False and params["include"] == ["reasoning.encrypted_content"]
    assert params["prompt_cache_key"] == request_of().session
    assert "include" not in params_for("openai", request_of(), Quirks(encrypted_reasoning=False))


@pytest.mark.parametrize("format", ["openai", "openai-chat"])
def test_tools_are_masked_and_never_removed(format: Format) -> None:
    for allowed, expected in [(("fs_read", "fs_list"), "allowed_tools"), ((), "none"), (None, ""), (("x",), "none")]:
        request = request_of(allowed_tools=allowed)
        params = params_for(format, request)
        choice: Any = params.get("tool_choice", "")
        assert (choice["type"] if isinstance(choice, dict) else choice) == expected
        assert len(params["tools"]) == len(TOOLS)
        assert problem_with(format, request) is None
        assert "tool_choice" not in params_for(format, request, LENIENT)


@pytest.mark.parametrize("format", FORMATS)
def test_what_another_wire_wanted_kept_is_not_sent(format: Format) -> None:
    opaque = {"wire": "elsewhere", "block": {"type": "thinking"}, "item": {"type": "reasoning"}}
    history = (user("a"), assistant(ThinkingBlock(text="t", opaque=opaque), "b"), user("c"))
    assert params_for(format, request_of(*history)) == params_for(
        format, request_of(user("a"), assistant("b"), user("c"))
    )


def test_messages_are_never_masked_by_tool_choice_which_would_break_their_cache() -> None:
    assert params_for("anthropic", request_of(allowed_tools=())) == params_for("anthropic", request_of())


@pytest.mark.parametrize("format", FORMATS)
def test_extremes_stay_within_the_rules(format: Format) -> None:
    odd = request_of(session="s" * 200, tools=(), identity="", catalogue="", max_output=1)
    assert problem_with(format, odd) is None
    assert problem_with(format, request_of(*LONG, tools=TOOLS)) is None
    assert "tools" not in params_for(format, request_of(), Quirks(supports_tools=False))


@pytest.mark.parametrize("format", FORMATS)
def test_a_quirk_can_add_fields(format: Format) -> None:
    params = params_for(format, request_of(), Quirks(extra_body={"thinking": {"type": "adaptive"}}))
    assert params["thinking"] == {"type": "adaptive"}


def test_other_servers_get_only_what_all_servers_know() -> None:
    params = params_for("openai-chat", request_of(allowed_tools=()), LENIENT)
    assert set(params) == {"model", "stream", "max_tokens", "messages", "stream_options", "tools"}
    assert default_quirks(None) == default_quirks("https://api.openai.com/v1") == OFFICIAL
    assert default_quirks("http://localhost:11434/v1") == default_quirks("https://openai.com.example") == LENIENT
