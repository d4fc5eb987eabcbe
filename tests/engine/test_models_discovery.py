from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from engine.models.discovery import FoundServer, choose_default, find_servers
from engine.paths import Home
from engine.settings import Settings, load
from engine.survey import survey
from sandbox.backends.base import Capabilities


@asynccontextmanager
async def server(body: bytes, status: str = "200 OK", hang: bool = False) -> AsyncIterator[int]:
    """An HTTP server on a free port that answers every request with ``body``; with ``hang`` it never ends one."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        length = 1_000_000 if hang else len(body)
        writer.write(f"HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        if hang:
            await reader.read()
        writer.close()

    running = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield running.sockets[0].getsockname()[1]
    finally:
        running.close()


def models(*ids: str) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": i} for i in ids]}).encode()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "data", tmp_path / "config", tmp_path / "cache")


@pytest.fixture
def settings(home: Home) -> Settings:
    return load(home, home.config, {})


async def test_servers_are_found_at_their_ports_and_nothing_else_is() -> None:
    async with (
        server(models("qwen3:8b", "gemma")) as ollama,
        server(b'{"object": "list", "data": null}') as lmstudio,
        server(b"<html>a web page</html>") as llama,
        server(models("x"), status="404 Not Found") as vllm,
    ):
        ports = {"ollama": ollama, "lmstudio": lmstudio, "llama-server": llama, "vllm": vllm}
        found = await find_servers(ports, timeout=5)
    assert found == (
        FoundServer("ollama", f"http://127.0.0.1:{ollama}/v1", ("qwen3:8b", "gemma")),
        FoundServer("lmstudio", f"http://127.0.0.1:{lmstudio}/v1", ()),
    )


async def test_a_server_that_never_ends_its_answer_is_given_up() -> None:
    async with server(b"{", hang=True) as port, asyncio.timeout(20):
        assert await find_servers({"ollama": port}, timeout=0.2) == ()


@pytest.mark.parametrize("body", [b"[]", b"null", b'{"data": 3}', b'{"data": [1, {"id": 2}, {"id": "ok"}]}'])
async def test_odd_answers_are_no_trouble(body: bytes) -> None:
    async with server(body) as port:
        found = await find_servers({"vllm": port}, timeout=5)
    assert [s.models for s in found] in ([], [("ok",)])


def test_the_default_is_configured_then_a_key_then_a_server_then_offline(home: Home, settings: Settings) -> None:
    servers = (FoundServer("lmstudio", "u", ()), FoundServer("vllm", "http://v", ("big",)))
    keys = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": " "}
    home.config.mkdir(parents=True)
    home.settings.write_text('model = "openai-chat/mine"\nbase_url = "http://b"\n')
    configured = choose_default(load(home, home.config, {}), keys, servers)
    assert (configured.spec, configured.base_url) == ("openai-chat/mine", "http://b")
    assert str(home.settings) in configured.why
    assert choose_default(settings, keys, servers).spec.startswith("openai/")
    assert choose_default(settings, {}, servers).spec == "vllm/big"
    offline = choose_default(settings, {}, servers[:1])
    assert offline.spec == "script/offline" and "no key" in offline.why


async def test_the_survey_says_for_each_model_why_it_can_or_cannot_be_used(home: Home, tmp_path: Path) -> None:
    home.config.mkdir(parents=True)
    home.settings.write_text('[providers.house]\nbase_url = "https://h.example/v1"\nkey_env = "HOUSE_KEY"\n')
    sandbox = Capabilities("bwrap", works=False, contained=False, why="no namespaces", hint="allow them")
    async with server(models("qwen3")) as port:
        ports = {"ollama": port, "vllm": 1}
        found = await survey(load(home, tmp_path, {}), {"OPENAI_API_KEY": "k"}, sandbox, home=home, ports=ports)
    rows = {model.spec: model for model in found.models}
    assert rows["ollama/qwen3"].usable and rows["script/demo"].usable
    for spec, said in {
        "anthropic/claude-sonnet-5-5": "ANTHROPIC_API_KEY",
        "vllm/MODEL": "nothing answers",
        "local/smollm2": "not installed",
        "house/MODEL": "HOUSE_KEY",
    }.items():
        assert not rows[spec].usable and said in rows[spec].why and rows[spec].hint
    assert found.chosen.startswith("openai/")
    assert (found.sandbox, found.sandbox_works, found.sandbox_why) == ("bwrap", False, "no namespaces")
