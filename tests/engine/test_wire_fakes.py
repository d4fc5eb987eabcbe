"""The strict servers are strict: each rule refuses what breaks it, in the provider's words, and nothing else."""

from __future__ import annotations

import asyncio
import copy
import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import (
    Call,
    StrictServer,
    Turn,
    assert_append_only,
    read_script,
    validate_anthropic,
    validate_chat,
    validate_responses,
)
from tests.fakes.asking import (
    FORMATS,
    answer,
    assistant,
    call,
    model_at,
    model_for,
    params_for,
    request_of,
    result,
    user,
)
from tests.fakes.seals import encrypt, is_genuine, seal
from tests.fakes.turns import Format

GOOD = request_of(
    user("hi"), assistant("reading", call("call-1"), call("call-2")), user(result("call-1"), result("call-2"), "and?")
)
Change = Callable[[dict[str, Any]], object]


def said(change: Change, format: Format) -> str | None:
    body = copy.deepcopy(params_for(format, GOOD))
    change(body)
    validate = {"anthropic": validate_anthropic, "openai": validate_responses, "openai-chat": validate_chat}[format]
    return validate(body)


@pytest.mark.parametrize("format", FORMATS)
def test_a_good_request_passes(format: Format) -> None:
    assert said(lambda body: None, format) is None


def _sealed(text: str, signature: str | None = None) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": signature or seal(text)}


def _thinking(text: str, signature: str) -> Change:
    return lambda b: b["messages"][1]["content"].insert(0, _sealed(text, signature))


def _reasoning(encrypted: str | None) -> dict[str, Any]:
    return {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": encrypted}


ANTHROPIC: list[tuple[str, Change]] = [
    ("Field required", lambda b: b.pop("max_tokens")),
    ("greater than or equal to 1", lambda b: b.update(max_tokens=0)),
    ("Extra inputs are not permitted", lambda b: b.update(prompt_cache_key="x")),
    ("Extra inputs are not permitted", lambda b: b["messages"][0].update(name="x")),
    ("Extra inputs are not permitted", lambda b: b["messages"][0]["content"][0].update(id="x")),
    ("at least one message", lambda b: b.update(messages=[])),
    ('must use the "user" role', lambda b: b["messages"].pop(0)),
    ('Unexpected role "system"', lambda b: b["messages"].insert(1, {"role": "system", "content": "x"})),
    ("roles must alternate", lambda b: b["messages"].insert(1, {"role": "user", "content": "x"})),
    ("non-empty content", lambda b: b["messages"][0].update(content=[])),
    ("must be non-empty", lambda b: b["messages"][0]["content"][0].update(text="")),
    ("non-whitespace text", lambda b: b["messages"][1]["content"][0].update(text=" \n")),
    ("non-whitespace text", lambda b: b["system"][0].update(text=" ")),
    ("without `tool_result` blocks", lambda b: b["messages"][2]["content"].pop(0)),
    ("without `tool_result` blocks", lambda b: b["messages"][2]["content"].reverse()),
    ("unexpected `tool_use_id`", lambda b: b["messages"][0]["content"].insert(0, b["messages"][2]["content"][0])),
    ("unexpected `tool_use_id`", lambda b: b["messages"][2]["content"][0].update(tool_use_id="other")),
    ("single result", lambda b: b["messages"][2]["content"].insert(0, b["messages"][2]["content"][0])),
    ("ids must be unique", lambda b: b["messages"][1]["content"][2].update(id="call-1")),
    ("should match pattern", lambda b: b["messages"][1]["content"][1].update(id="functions.x:0")),
    ("should match pattern", lambda b: b["messages"][1]["content"][1].update(name="a b")),
    ("valid dictionary", lambda b: b["messages"][1]["content"][1].update(input="{}")),
    ("prefill", lambda b: b["messages"].append({"role": "assistant", "content": "Well,"})),
    ("must define tools", lambda b: b.pop("tools")),
    ("should match pattern", lambda b: b["tools"][0].update(name="mcp.server/tool")),
    ("names must be unique", lambda b: b["tools"][0].update(name="fs_read")),
    ("schema is invalid", lambda b: b["tools"][0].update(input_schema={})),
    ("schema is invalid", lambda b: b["tools"][0]["input_schema"]["properties"].update(x={"type": "text"})),
    ("schema is invalid", lambda b: b["tools"][0]["input_schema"]["properties"].update(x={"$ref": "#/$defs/X"})),
    ("schema is invalid", lambda b: b["tools"][0]["input_schema"].update(anyOf=[])),
    ("not found in provided tools", lambda b: b.update(tool_choice={"type": "tool", "name": "x"})),
    ("maximum of 4", lambda b: b["tools"][0].update(cache_control={"type": "ephemeral"})),
    ("Input should be 'ephemeral'", lambda b: b["tools"][-1].update(cache_control={"type": "forever"})),
    ("Invalid `signature`", _thinking("edited", seal("original"))),
    ("Invalid `data`", lambda b: b["messages"][1]["content"].insert(0, {"type": "redacted_thinking", "data": "x"})),
    ("final block", lambda b: b["messages"][1]["content"].append(_sealed("a"))),
    ("Expected `thinking`", lambda b: b.update(thinking={"type": "enabled", "budget_tokens": 2000})),
    ("budget_tokens", lambda b: b.update(thinking={"type": "enabled", "budget_tokens": 1})),
    ("not valid JSON", lambda b: b["messages"][0]["content"][0].update(text="\ud800")),
    ("not valid JSON", lambda b: b["messages"][0]["content"][0].update(text="a\0b")),
]  # fmt: skip


@pytest.mark.parametrize(("words", "change"), ANTHROPIC)
def test_what_the_messages_api_refuses(words: str, change: Change) -> None:
    assert words in (said(change, "anthropic") or "")


RESPONSES: list[tuple[str, Change]] = [
    ("Missing required parameter: 'model'", lambda b: b.pop("model")),
    ("Missing required parameter: 'input'", lambda b: b.update(input=[])),
    ("Unknown parameter: 'max_tokens'", lambda b: b.update(max_tokens=1)),
    ("Unknown parameter: 'input[2].name'", lambda b: b["input"][2].update(name="x")),
    (">= 16", lambda b: b.update(max_output_tokens=1)),
    ("maximum length 64", lambda b: b.update(prompt_cache_key="x" * 65)),
    ("Invalid value: 'everything'", lambda b: b.update(include=["everything"])),
    ("Supported values are", lambda b: b["input"][3]["content"][0].update(type="input_text")),
    ("Supported values are", lambda b: b["input"][2].update(role="tool")),
    ("empty", lambda b: b["input"][2]["content"][0].update(text="")),
    ("empty", lambda b: b["input"][2].update(content=[])),
    ("No tool call found", lambda b: b["input"].pop(4)),
    ("No tool output found", lambda b: b["input"].pop(6)),
    ("Duplicate function call output", lambda b: b["input"].append(b["input"][6])),
    ("Duplicate function call ", lambda b: b["input"].insert(5, b["input"][4])),
    ("string too long", lambda b: b["input"][4].update(call_id="x" * 65)),
    ("empty string", lambda b: b["input"][4].update(call_id="")),
    ("does not match pattern", lambda b: b["input"][4].update(name="a.b")),
    ("JSON object", lambda b: b["input"][4].update(arguments="{")),
    ("JSON object", lambda b: b["input"][4].update(arguments={})),
    (".output'", lambda b: b["input"][6].update(output=None)),
    ("does not match pattern", lambda b: b["tools"][0].update(name="x" * 65)),
    ("Unknown parameter: 'tools[0].function'", lambda b: b["tools"][0].update(function={})),
    ("Invalid schema for function", lambda b: b["tools"][0].update(parameters={"type": "array"})),
    ("strict", lambda b: b["tools"][0].update(strict=True)),
    ("not found in 'tools'", lambda b: b.update(tool_choice={"type": "function", "name": "x"})),
    ("empty array", lambda b: b.update(tool_choice={"type": "allowed_tools", "mode": "auto", "tools": []})),
    ("Items are not persisted", lambda b: b["input"].insert(3, _reasoning(None))),
    ("could not be verified", lambda b: b["input"].insert(3, _reasoning(encrypt("a")[1:]))),
    ("required following item", lambda b: b["input"].insert(6, _reasoning(encrypt("a")))),
]  # fmt: skip


@pytest.mark.parametrize(("words", "change"), RESPONSES)
def test_what_the_responses_api_refuses(words: str, change: Change) -> None:
    assert words in (said(change, "openai") or "")


CHAT: list[tuple[str, Change]] = [
    ("Missing required parameter: 'messages'", lambda b: b.update(messages=[])),
    ("Unrecognized request argument supplied: input", lambda b: b.update(input="x")),
    ("Unrecognized request argument supplied: messages[1].id", lambda b: b["messages"][1].update(id="x")),
    ("at the same time", lambda b: b.update(max_tokens=5)),
    ("only allowed when 'stream'", lambda b: b.pop("stream")),
    ("'none', 'auto', and 'required'", lambda b: b.update(tool_choice="maybe")),
    ("only allowed when 'tools'", lambda b: b.update(tool_choice="none") or b.pop("tools")),
    ("'tools': empty array", lambda b: b.update(tools=[])),
    ("does not match pattern", lambda b: b["tools"][0]["function"].update(name="a.b")),
    ("Invalid schema for function", lambda b: b["tools"][0]["function"].update(parameters={})),
    ("must be at the beginning", lambda b: b["messages"].insert(1, b["messages"][0])),
    ("must alternate", lambda b: b["messages"].insert(2, {"role": "user", "content": "x"})),
    ("must be from the user", lambda b: b["messages"].pop(1)),
    ("must not be from the assistant", lambda b: b["messages"].append({"role": "assistant", "content": "x"})),
    ("Supported values are", lambda b: b["messages"][1].update(role="model")),
    ("got null", lambda b: b["messages"][1].update(content=None)),
    ("empty", lambda b: b["messages"][1].update(content="")),
    ("tool_calls': empty array", lambda b: b["messages"][2].update(tool_calls=[])),
    ("did not have response messages: call-2", lambda b: b["messages"].pop(4)),
    ("must be a response to a preceeding message", lambda b: b["messages"].insert(2, b["messages"][3])),
    ("must be a response to a preceeding message", lambda b: b["messages"][3].update(tool_call_id="x")),
    ("maximum length 40", lambda b: b["messages"][2]["tool_calls"][0].update(id="x" * 41)),
    ("empty string", lambda b: b["messages"][2]["tool_calls"][0].update(id="")),
    ("Duplicate tool call ids", lambda b: b["messages"][2]["tool_calls"][0].update(id="call-2")),
    ("JSON object", lambda b: b["messages"][2]["tool_calls"][0]["function"].update(arguments="")),
    (".type'", lambda b: b["messages"][2]["tool_calls"][0].pop("type")),
]  # fmt: skip


@pytest.mark.parametrize(("words", "change"), CHAT)
def test_what_chat_completions_refuses(words: str, change: Change) -> None:
    assert words in (said(change, "openai-chat") or "")


def test_seals_hold() -> None:
    assert is_genuine(encrypt("a")) and not is_genuine(encrypt("a") + "x") and not is_genuine(None)
    assert said(_thinking("plan", seal("plan")), "anthropic") is None


@pytest.mark.parametrize("format", FORMATS)
def test_append_only_finds_what_has_changed(format: Format) -> None:
    def bodies(change: Change) -> list[dict[str, Any]]:
        body = copy.deepcopy(params_for(format, GOOD))
        change(body)
        return [params_for(format, GOOD), body]

    name = "input" if format == "openai" else "messages"
    assert_append_only(bodies(lambda body: None))
    for words, change in [
        ("other tools", lambda b: b["tools"].reverse()),
        ("lost messages", lambda b: b[name].pop()),
        ("diverges", lambda b: b[name].insert(1, b[name][-1])),
    ]:
        with pytest.raises(AssertionError, match=words):
            assert_append_only(bodies(change))
    with pytest.raises(AssertionError, match="other system"):
        assert_append_only([params_for(format, GOOD), params_for(format, request_of(identity="Monday, 12:00:01"))])


def post(url: str, body: bytes, **headers: str) -> tuple[int, dict[str, Any]]:
    request = urllib.request.Request(url, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


@pytest.mark.parametrize("format", FORMATS)
def test_refusals_look_like_the_real_ones(format: Format) -> None:
    path = {"anthropic": "/v1/messages", "openai": "/responses", "openai-chat": "/chat/completions"}[format]
    key = {"x-api-key": "k", "anthropic-version": "1"} if format == "anthropic" else {"Authorization": "Bearer k"}
    good = json.dumps(params_for(format, GOOD)).encode()
    with StrictServer(format, models=["another"]) as server:
        url = server.base_url + path
        assert post(url, good)[0] == 401
        assert post(url, b"{}", **key)[0] == 400
        assert post(url, b"nonsense", **key)[0] == 400
        assert post(url + "/x", good, **key)[0] == 404
        status, body = post(url, good, **key)
        assert status == 404 and "test-model" in body["error"]["message"]
        assert server.requests == [] and len(server.rejections) == 5
    kinds = {"anthropic": "not_found_error", "openai": "invalid_request_error", "openai-chat": "invalid_request_error"}
    assert body["error"]["type"] == kinds[format]
    assert format != "anthropic" or body["type"] == "error"


@pytest.mark.parametrize("format", FORMATS)
async def test_steps_by_history_survive_a_restart(format: Format) -> None:
    first = [Turn(status=529), Turn(text="one")]
    async with StrictServer(format, [first, lambda body: Turn(text="two")], by_history=True) as server:
        with pytest.raises(Exception, match="overloaded"):
            await answer(model_for(server), request_of())
        for _ in range(2):
            assert "one" in str(await answer(model_for(server), request_of()))
        later = request_of(user("a"), assistant("one"), user("b"))
        assert "two" in str(await answer(model_for(server), later))
        with pytest.raises(Exception, match="no more turns"):
            await answer(model_for(server), request_of(*later.messages, assistant("two"), user("c")))
        assert server.exhausted


def test_a_script_file_is_read_strictly(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "a", "calls": [{"name": "x", "input": {"n": 1}}]}, [{"status": 529}, {}]]))
    assert read_script(script) == [Turn(text="a", calls=(Call("x", {"n": 1}),)), [Turn(status=529), Turn()]]
    script.write_text('[{"txt": "a"}]')
    with pytest.raises(ValueError, match="unknown turn field txt"):
        read_script(script)


def test_a_server_in_its_own_process(tmp_path: Path) -> None:
    script, log = tmp_path / "script.json", tmp_path / "log.jsonl"
    script.write_text('{"turns": [{"text": "from another process"}]}')
    command = [
        sys.executable,
        "-m",
        "tests.fakes",
        "--format",
        "openai-chat",
        "--script",
        str(script),
        "--log",
        str(log),
    ]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        try:
            assert process.stdout is not None
            model = model_at("openai-chat", process.stdout.readline().strip())

            async def ask() -> str:
                done = await answer(model, request_of())
                await model.aclose()
                return str(done)

            assert "from another process" in asyncio.run(ask())
        finally:
            process.terminate()
        assert process.wait(10) == 0
    entry = json.loads(log.read_text())
    assert entry["error"] is None and entry["body"]["model"] == "test-model"
