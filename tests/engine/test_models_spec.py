from __future__ import annotations

import pytest

from engine.models.spec import ModelSpec, SpecError, parse


@pytest.mark.parametrize(
    ("text", "provider", "model"),
    [
        ("anthropic/claude-sonnet-5-5", "anthropic", "claude-sonnet-5-5"),
        (" openai/gpt-6.1-sol ", "openai", "gpt-6.1-sol"),
        ("openai-chat/org/model:tag", "openai-chat", "org/model:tag"),
        ("local//abs/path.gguf", "local", "/abs/path.gguf"),
        ("script/~/turns.toml", "script", "~/turns.toml"),
        ("house/big", "house", "big"),
    ],
)
def test_provider_and_model_are_split_at_the_first_slash(text: str, provider: str, model: str) -> None:
    assert parse(text, ("house",)) == ModelSpec(provider, model)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("antropic/claude-x", "anthropic/claude-x"),
        ("opanai/gpt", "openai/gpt"),
        ("claude-sonnet-5-5", "anthropic/claude-sonnet-5-5"),
        ("gpt-5", "openai/gpt-5"),
        ("script", "provider/model"),
        ("qqqqqq/x", "--base-url"),
        ("", "provider/model"),
        ("anthropic/", "provider/model"),
    ],
)
def test_what_cannot_be_read_names_what_was_meant(text: str, hint: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse(text)
    assert hint in caught.value.suggestion


def test_a_configured_provider_is_among_the_near_misses() -> None:
    with pytest.raises(SpecError) as caught:
        parse("huose/big", ("house",))
    assert "house/big" in caught.value.suggestion
