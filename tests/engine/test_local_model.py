"""The model in this process: the real llama.cpp when weights are given, else its shape over a strict local server."""

from __future__ import annotations

import asyncio
import os
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.events import TextBlock, ToolCall, ToolSpec
from engine.models import local
from engine.models.base import BlockDelta, Done, ModelError, Start
from engine.models.local import LocalModel
from engine.paths import Home
from engine.prompt.request import Message, ModelRequest, ResultPart
from tests.fakes.server import StrictServer
from tests.fakes.turns import Turn

GGUF = os.environ.get("AGENT_TUI_TEST_GGUF", "")
TOOL = ToolSpec(name="fs_read", description="Read.", schema_={"type": "object", "properties": {}})
MESSAGES = (
    Message("user", (TextBlock(text='<runtime kind="env">\ndate\n</runtime>'), TextBlock(text="Hello there"))),
    Message("assistant", (TextBlock(text="Reading."), ToolCall(id="c1", name="fs_read"))),
    Message("user", (ResultPart("c1", "fs_read", "content"), TextBlock(text="And now?"))),
)


def request(*messages: Message, max_output: int = 40) -> ModelRequest:
    return ModelRequest("s", "identity about tools", "catalogue", (TOOL,), messages or MESSAGES, max_output)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "data", tmp_path / "config", tmp_path / "cache")


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "small.gguf"
    path.write_bytes(b"GGUF and more")
    return path


class Llama(types.ModuleType):
    """Stands for xllamacpp: its Server is a strict Chat Completions server that takes the key it was given."""

    def __init__(self, tools: bool) -> None:
        super().__init__("xllamacpp")
        self.tools = tools
        self.servers: list[StrictServer] = []
        self.params: list[types.SimpleNamespace] = []

    def CommonParams(self) -> types.SimpleNamespace:
        return types.SimpleNamespace(model=types.SimpleNamespace(path=""))

    def Server(self, params: types.SimpleNamespace) -> types.SimpleNamespace:
        if "damaged" in params.model.path:
            raise RuntimeError("Failed to init server, please check the input params.")
        self.params.append(params)
        server = StrictServer("openai-chat", [Turn(text="hi"), Turn(text="again")], api_key=params.api_keys[0])
        self.servers.append(server.__enter__())
        return types.SimpleNamespace(listening_address=server.base_url.removesuffix("/v1"))


@pytest.fixture(params=[False, True], ids=["plain", "tools"])
def llama(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Llama]:
    module = Llama(request.param)
    monkeypatch.setitem(sys.modules, "xllamacpp", module)
    monkeypatch.setattr(local, "_knows_tools", lambda _url, _key: module.tools)
    yield module
    for server in module.servers:
        server.__exit__(None, None, None)


async def test_only_what_the_model_can_carry_is_sent(home: Home, weights: Path, llama: Llama) -> None:
    model = LocalModel.open(str(weights), home=home, folder=weights.parent, context_window=4096)
    done = [p async for p in model.stream(request())][-1]
    assert isinstance(done, Done) and done.blocks == (TextBlock(text="hi"),)
    (sent,) = llama.servers[0].requests
    assert ("tools" in sent) is llama.tools
    assert ("identity about tools" in str(sent["messages"])) is llama.tools
    assert ("<runtime" in str(sent["messages"])) is llama.tools
    assert "Hello there" in str(sent["messages"]) and "And now?" in str(sent["messages"])
    await model.aclose()


async def test_it_is_loaded_once_and_listens_to_this_process_alone(home: Home, weights: Path, llama: Llama) -> None:
    model = LocalModel.open(weights.name, home=home, folder=weights.parent, context_window=4096)
    for _ in range(2):
        assert isinstance([p async for p in model.stream(request())][-1], Done)
    (params,) = llama.params
    assert params.n_ctx == 4096 and params.ui is False and len(params.api_keys[0]) > 20
    assert model.spec == f"local/{weights.name}"
    await model.aclose()


async def test_weights_that_cannot_be_loaded_are_named(home: Home, tmp_path: Path, llama: Llama) -> None:
    (tmp_path / "damaged.gguf").write_bytes(b"GGUF")
    model = LocalModel.open("damaged.gguf", home=home, folder=tmp_path, context_window=4096)
    with pytest.raises(ModelError, match=r"damaged\.gguf"):
        [p async for p in model.stream(request())]


def test_a_file_that_is_no_gguf_is_refused(home: Home, tmp_path: Path, llama: Llama) -> None:
    (tmp_path / "notes.gguf").write_text("hello")
    with pytest.raises(ModelError, match="not a GGUF"):
        LocalModel.open("notes.gguf", home=home, folder=tmp_path, context_window=4096)


def test_without_the_extra_its_command_is_named(home: Home, weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelError) as caught:
        LocalModel.open(str(weights), home=home, folder=weights.parent, context_window=4096)
    assert caught.value.kind == "no_model" and "pip install 'agent-tui[local]'" in caught.value.suggestion


@pytest.mark.skipif(not GGUF, reason="AGENT_TUI_TEST_GGUF names no weights")
async def test_real_weights_answer_reuse_their_prefix_and_stop_at_once(home: Home) -> None:
    pytest.importorskip("xllamacpp")
    model = LocalModel.open(GGUF, home=home, folder=Path.cwd(), context_window=2048)
    talk = [Message("user", (TextBlock(text="What is the capital of France?"),))]
    first = [p async for p in model.stream(request(*talk))]
    done = first[-1]
    assert isinstance(first[0], Start) and isinstance(done, Done) and done.usage.output > 0
    assert any(isinstance(p, BlockDelta) for p in first)
    talk += [Message("assistant", done.blocks), Message("user", (TextBlock(text="And of Italy?"),))]
    again = [p async for p in model.stream(request(*talk))][-1]
    assert isinstance(again, Done) and again.usage.cache_read > 0
    long = request(Message("user", (TextBlock(text="Sum this up: " + "one two three four " * 350),)))

    async def ask() -> None:
        async for _ in model.stream(long):
            pass

    asking = asyncio.create_task(ask())
    await asyncio.sleep(0)
    asking.cancel()
    async with asyncio.timeout(5):
        with pytest.raises(asyncio.CancelledError):
            await asking
    with pytest.raises(ModelError) as caught:
        [p async for p in model.stream(request(Message("user", (TextBlock(text="word " * 9000),))))]
    assert caught.value.kind == "context_overflow"
    await model.aclose()
