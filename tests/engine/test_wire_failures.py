"""What fails on the way is a `ModelError` for a person, with what to do next and whether another try can help."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from engine.models.base import Done, ModelError
from engine.models.wire_anthropic import AnthropicModel
from engine.models.wire_chat import OpenAIChatModel
from engine.models.wire_errors import Origin, model_error
from engine.models.wire_responses import OpenAIModel
from tests.fakes import Call, StrictServer, Turn
from tests.fakes.asking import FORMATS, answer, assistant, call, collect, model_for, request_of, user
from tests.fakes.turns import Format


async def failure(format: Format, turn: Turn) -> ModelError:
    async with StrictServer(format, [turn]) as server:
        with pytest.raises(ModelError) as caught:
            await collect(model_for(server), request_of())
    return caught.value


KINDS = [
    (Turn(status=400, error="messages: something odd"), "bad_request", False),
    (Turn(status=403, error="Not for you."), "auth", False),
    (Turn(status=404, error="No such model."), "no_model", False),
    (Turn(status=413, error="Request exceeds the maximum size"), "context_overflow", False),
    (Turn(status=429, error="Slow down, see https://example.com/account/billing"), "rate_limit", True),
    (Turn(status=429, error="You exceeded your current quota"), "rate_limit", False),
    (Turn(status=400, error="Your credit balance is too low to access the API"), "rate_limit", False),
    (Turn(status=402, error="Pay first."), "rate_limit", False),
    (Turn(status=408, error="Too slow."), "server", True),
    (Turn(status=500, error="Internal server error"), "server", True),
    (Turn(status=503, error="Service unavailable"), "overloaded", True),
    (Turn(status=529, error="Overloaded"), "overloaded", True),
]
OVERFLOWS = [
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000",
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "the request exceeds the available context size. try increasing the context size",
]


@pytest.mark.parametrize("format", FORMATS)
async def test_refusals_by_status(format: Format) -> None:
    overflows = [(Turn(status=400, error=words), "context_overflow", False) for words in OVERFLOWS]
    cases = [*KINDS, *overflows]
    async with StrictServer(format, [turn for turn, _, _ in cases]) as server:
        model = model_for(server)
        for turn, kind, retryable in cases:
            with pytest.raises(ModelError) as caught:
                await collect(model, request_of())
            assert (caught.value.kind, caught.value.retryable) == (kind, retryable), turn
            assert turn.error in str(caught.value) and caught.value.suggestion


@pytest.mark.parametrize("format", FORMATS)
async def test_what_the_real_api_refuses_is_a_bad_request(format: Format) -> None:
    async with StrictServer(format) as server:
        with pytest.raises(ModelError) as caught:
            await collect(model_for(server), request_of(user("a"), assistant(call("x")), user("b")))
        assert caught.value.kind == "bad_request" and not caught.value.retryable
        assert server.rejections[0] in " ".join(str(caught.value).split())


@pytest.mark.parametrize("format", FORMATS)
async def test_what_the_provider_asks_to_wait(format: Format) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    waits: dict[str, tuple[dict[str, str], float | None]] = {
        "seconds": ({"retry-after": "7"}, 7.0),
        "parts": ({"retry-after": "1.5"}, 1.5),
        "milliseconds": ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        "nonsense": ({"retry-after": "soon"}, None),
        "past": ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        "none": ({}, None),
        "date": ({"retry-after": later}, 3600.0),
    }
    turns = [Turn(status=429 if at % 2 else 529, headers=headers) for at, (headers, _) in enumerate(waits.values())]
    async with StrictServer(format, turns) as server:
        model = model_for(server)
        for _, expected in waits.values():
            with pytest.raises(ModelError) as caught:
                await collect(model, request_of())
            assert caught.value.retry_after == (expected and pytest.approx(expected, abs=60 if expected > 60 else 0))


@pytest.mark.parametrize("format", FORMATS)
async def test_a_wrong_key_names_the_variable_and_is_never_shown(format: Format) -> None:
    key = "plain0123456789"
    async with StrictServer(format, api_key="another") as server:
        with pytest.raises(ModelError) as caught:
            await collect(model_for(server, key=key), request_of())
    assert caught.value.kind == "auth" and not caught.value.retryable
    variable = "ANTHROPIC_API_KEY" if format == "anthropic" else "OPENAI_API_KEY"
    assert variable in caught.value.suggestion
    assert key not in f"{caught.value} {caught.value.suggestion}"


async def test_things_like_keys_in_a_providers_words_are_hidden() -> None:
    error = await failure("openai", Turn(status=400, error="bad header: Bearer abc.def and key sk-proj-12345678"))
    assert "abc.def" not in str(error) and "12345678" not in str(error)


@pytest.mark.parametrize("model_class", [AnthropicModel, OpenAIModel, OpenAIChatModel])
async def test_no_key_at_all(
    model_class: type[AnthropicModel], monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    model = model_class("x/y", "y", api_key=None, base_url=None, context_window=1000)
    with pytest.raises(ModelError) as caught:
        await collect(model, request_of())
    assert caught.value.kind == "auth" and "_API_KEY" in caught.value.suggestion
    await model.aclose()


async def test_another_server_never_gets_a_key_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    async with StrictServer("openai-chat", [Turn(text="a")]) as server:
        model = OpenAIChatModel("x/y", "y", api_key=None, base_url=server.base_url, context_window=1000)
        await answer(model, request_of())
        await model.aclose()
        assert "sk-mine" not in str(server.headers)


@pytest.mark.parametrize("format", FORMATS)
async def test_nobody_listens(format: Format) -> None:
    async with StrictServer(format) as server:
        model = model_for(server)
        port = server.port
    with pytest.raises(ModelError) as caught:
        await collect(model, request_of())
    await model.aclose()
    assert caught.value.kind == "network" and caught.value.retryable
    assert f"127.0.0.1:{port}" in str(caught.value)


@pytest.mark.parametrize("sdk", [anthropic, openai])
def test_a_server_that_is_silent_too_long(sdk: Any) -> None:
    request = httpx2.Request("POST", "http://localhost:1/v1")
    origin = Origin("x/y", "http://someone:hidden@localhost:1/v1", "X_KEY")
    for error in (sdk.APITimeoutError(request), httpx2.ReadTimeout("slow", request=request)):
        found = model_error(error, origin, sdk)
        assert found is not None and (found.kind, found.retryable) == ("network", True)
        assert "localhost:1 did not answer in time" in str(found) and "hidden" not in str(found)
    assert model_error(ZeroDivisionError("ours"), origin, sdk) is None


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("fault", ["cut_after", "end_after"])
async def test_half_an_answer_is_never_taken_for_a_whole_one(format: Format, fault: str) -> None:
    turn = Turn(thinking="hm", text="some text", calls=(Call("fs_read", {"path": "a"}),))
    async with StrictServer(format, lambda body: turn) as server:
        model = model_for(server)
        whole = await answer(model, request_of())
        wholes = 0
        for position in range(40):
            turn = Turn(thinking=turn.thinking, text=turn.text, calls=turn.calls, **{fault: position})  # type: ignore[arg-type]
            try:
                parts = await collect(model, request_of())
            except ModelError as error:
                assert error.kind == "network" and error.retryable
                assert wholes == 0
            else:
                wholes += 1
                assert [b.kind for b in parts[-1].blocks] == [b.kind for b in whole.blocks]
                assert sum(isinstance(part, Done) for part in parts) == 1
                if wholes == 3:
                    break
        assert wholes == 3


@pytest.mark.parametrize(("format", "events"), [("anthropic", 7), ("openai", 9), ("openai-chat", 3)])
async def test_a_connection_cut_after_the_end_of_an_answer_costs_nothing(format: Format, events: int) -> None:
    async with StrictServer(format, [Turn(text="whole", cut_after=events), Turn(text="whole")]) as server:
        model = model_for(server)
        cut, uncut = await answer(model, request_of()), await answer(model, request_of())
        assert (cut.blocks, cut.stop) == (uncut.blocks, uncut.stop)
        assert len(server.requests) == 2


@pytest.mark.parametrize("format", FORMATS)
async def test_errors_in_the_middle_of_an_answer(format: Format) -> None:
    words = {
        "anthropic": {
            "overloaded_error": ("overloaded", True),
            "rate_limit_error": ("rate_limit", True),
            "api_error": ("server", True),
            "invalid_request_error": ("bad_request", False),
        },
        "openai": {
            "server_error": ("server", True),
            "rate_limit_exceeded": ("rate_limit", True),
            "context_length_exceeded": ("context_overflow", False),
        },
        "openai-chat": {"server_error": ("server", True), "insufficient_quota": ("rate_limit", False)},
    }[format]
    turns = [Turn(text="half an answer", error="It broke.", error_type=w, error_after=4, piece=2) for w in words]
    async with StrictServer(format, turns) as server:
        model = model_for(server)
        for expected in words.values():
            with pytest.raises(ModelError) as caught:
                await collect(model, request_of())
            assert (caught.value.kind, caught.value.retryable) == expected
            assert "It broke." in str(caught.value)


async def test_a_failed_response_says_why() -> None:
    response = {"id": "r", "status": "failed", "error": {"code": "rate_limit_exceeded", "message": "Slow down."}}
    events = (
        {"type": "response.created", "response": {"id": "r", "model": "m"}},
        {"type": "response.failed", "response": response},
    )
    error = await failure("openai", Turn(verbatim=events))
    assert (error.kind, error.retryable) == ("rate_limit", True) and "Slow down." in str(error)


async def test_a_chat_server_that_stops_with_an_error() -> None:
    error = await failure("openai-chat", Turn(text="a", stop="error"))
    assert (error.kind, error.retryable) == ("server", True)


@pytest.mark.parametrize("format", FORMATS)
async def test_an_answer_that_cannot_be_read(format: Format) -> None:
    error = await failure(format, Turn(text="some text", garbage_after=3, piece=2))
    assert (error.kind, error.retryable) == ("server", True)


@pytest.mark.parametrize("format", FORMATS)
async def test_a_slow_server_is_waited_for(format: Format) -> None:
    async with StrictServer(format, [Turn(text="late", hang_after=-1)]) as server:
        task = asyncio.ensure_future(answer(model_for(server), request_of()))
        assert await asyncio.to_thread(server.wait_for, lambda s: bool(s.requests))
        server.release()
        assert (await task).blocks
