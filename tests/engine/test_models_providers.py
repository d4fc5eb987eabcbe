from __future__ import annotations

from pathlib import Path

import pytest

from engine.models.base import ModelError
from engine.models.providers import Endpoint, endpoint, resolve
from engine.models.script import ScriptModel
from engine.models.spec import parse
from engine.models.wire import WireModel
from engine.models.wire_anthropic import AnthropicModel
from engine.models.wire_chat import OpenAIChatModel
from engine.models.wire_responses import OpenAIModel
from engine.paths import Home
from engine.settings import ProviderSettings, Settings, load


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "data", tmp_path / "config", tmp_path / "cache")


def settings_with(home: Home, text: str = "") -> Settings:
    home.config.mkdir(parents=True, exist_ok=True)
    home.settings.write_text(text)
    return load(home, home.config, {})


HOUSE = '[providers.house]\nwire = "anthropic"\nbase_url = "https://h.example"\nkey_env = "HOUSE_KEY"\n'
BOTH = {"ANTHROPIC_API_KEY": "a-key", "OPENAI_API_KEY": "o-key"}


@pytest.mark.parametrize(
    ("spec", "env", "base_url", "kind", "window"),
    [
        ("anthropic/claude-sonnet-4-5", BOTH, "", AnthropicModel, 200_000),
        ("openai/gpt-4o-mini", BOTH, "", OpenAIModel, 128_000),
        ("openai-chat/gpt-4o-mini", BOTH, "", OpenAIChatModel, 128_000),
        ("openai-chat/whatever", {}, "http://127.0.0.1:9/v1", OpenAIChatModel, 32_768),
        ("ollama/qwen3:8b", {}, "", OpenAIChatModel, 32_768),
        ("house/big", {"HOUSE_KEY": "h"}, "", AnthropicModel, 200_000),
    ],
)
def test_a_spec_becomes_the_model_of_its_wire(
    home: Home, spec: str, env: dict[str, str], base_url: str, kind: type[WireModel], window: int
) -> None:
    settings = settings_with(home, HOUSE)
    model = resolve(spec, settings=settings, env=env, home=home, folder=home.config, base_url=base_url)
    assert type(model) is kind and model.spec == spec and model.context_window == window


def test_a_window_asked_for_goes_over_what_is_known(home: Home) -> None:
    settings = settings_with(home, "context_window = 5000\n")
    asked = {"settings": settings, "env": BOTH, "home": home, "folder": home.config}
    assert resolve("anthropic/claude-sonnet-4-5", **asked).context_window == 5000  # type: ignore[arg-type]
    assert resolve("script/offline", context_window=700, **asked).context_window == 700  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spec", "env", "base_url", "expected"),
    [
        ("openai-chat/m", BOTH, "http://x/v1", Endpoint("openai-chat", "http://x/v1", "AGENT_TUI_API_KEY", None)),
        (
            "openai-chat/m",
            {"AGENT_TUI_API_KEY": "k"},
            "http://x/v1",
            Endpoint("openai-chat", "http://x/v1", "AGENT_TUI_API_KEY", "k"),
        ),
        ("anthropic/m", BOTH, "http://x", Endpoint("anthropic", "http://x", "AGENT_TUI_API_KEY", None)),
        ("anthropic/m", BOTH, "", Endpoint("anthropic", None, "ANTHROPIC_API_KEY", "a-key")),
        (
            "openai/m",
            {"OPENAI_BASE_URL": "http://y/v1"},
            "",
            Endpoint("openai", "http://y/v1", "OPENAI_API_KEY", None),
        ),
        ("vllm/m", BOTH, "", Endpoint("openai-chat", "http://127.0.0.1:8000/v1", "", None)),
        ("house/m", {"HOUSE_KEY": "h"}, "", Endpoint("anthropic", "https://h.example", "HOUSE_KEY", "h")),
        ("house/m", {"HOUSE_KEY": "h"}, "http://x", Endpoint("anthropic", "http://x", "AGENT_TUI_API_KEY", None)),
    ],
)
def test_a_key_goes_only_where_it_was_given_for(
    home: Home, spec: str, env: dict[str, str], base_url: str, expected: Endpoint
) -> None:
    settings = settings_with(home, HOUSE)
    assert endpoint(parse(spec, settings.providers), settings, env, base_url) == expected


@pytest.mark.parametrize(
    ("spec", "kind", "told"),
    [
        ("anthropic/claude-x", "auth", "ANTHROPIC_API_KEY"),
        ("openai/gpt-x", "auth", "OPENAI_API_KEY"),
        ("house/x", "auth", "HOUSE_KEY"),
        ("antropic/claude-x", "no_model", "anthropic/claude-x"),
        ("script/nowhere.toml", "script", "script/demo"),
        ("local/nowhere.gguf", "no_model", "local/PATH.gguf"),
        ("local/smollm2", "no_model", "agent-tui models install smollm2"),
    ],
)
def test_what_cannot_be_used_says_what_to_do(home: Home, spec: str, kind: str, told: str) -> None:
    with pytest.raises(ModelError) as caught:
        resolve(spec, settings=settings_with(home, HOUSE), env={}, home=home, folder=home.config)
    assert caught.value.kind == kind and told in caught.value.suggestion


def test_a_script_is_found_from_the_folder(home: Home, tmp_path: Path) -> None:
    (tmp_path / "turns.toml").write_text('[[turn]]\ntext = "hello"\n')
    model = resolve("script/turns.toml", settings=settings_with(home), env={}, home=home, folder=tmp_path)
    assert isinstance(model, ScriptModel) and model.spec == "script/turns.toml"


def test_a_known_provider_can_be_moved(home: Home) -> None:
    settings = settings_with(home, '[providers.ollama]\nbase_url = "http://box:11434/v1"\n')
    assert settings.providers["ollama"] == ProviderSettings("ollama", "", "http://box:11434/v1")
    assert endpoint(parse("ollama/m"), settings, {}).base_url == "http://box:11434/v1"
