from __future__ import annotations

import pytest

from engine.events import Usage
from engine.models.pricing import listed_window, price

USAGE = Usage(input_uncached=1_000, cache_read=8_000, cache_write=1_000, output=500)


def test_cost_counts_each_kind_of_token_once() -> None:
    # claude-sonnet-4-5: 3 $ in, 15 $ out, 0.30 $ read, 3.75 $ write, per million.
    cost, saved = price("anthropic/claude-sonnet-4-5", USAGE)
    assert cost == pytest.approx((1_000 * 3 + 8_000 * 0.3 + 1_000 * 3.75 + 500 * 15) / 1e6)
    assert saved == pytest.approx((10_000 * 3 + 500 * 15) / 1e6 - cost)


def test_writing_the_cache_first_costs_more_than_it_saves() -> None:
    _, saved = price("anthropic/claude-sonnet-4-5", Usage(cache_write=10_000, output=10))
    assert saved is not None and saved < 0


@pytest.mark.parametrize("spec", ["script/demo", "local/smollm2", "ollama/qwen3"])
def test_models_on_this_machine_are_free(spec: str) -> None:
    assert price(spec, USAGE) == (0.0, 0.0)


@pytest.mark.parametrize("spec", ["openai/no-such-model-at-all", "nobody/x", "nonsense", ""])
def test_an_unknown_model_has_no_price(spec: str) -> None:
    assert price(spec, USAGE) == (None, None)


def test_chat_completions_of_openai_is_priced_like_openai() -> None:
    assert price("openai-chat/gpt-4o-mini", USAGE) == price("openai/gpt-4o-mini", USAGE)


def test_windows_come_from_the_price_list() -> None:
    assert listed_window("anthropic", "claude-sonnet-4-5") == 200_000
    assert listed_window("openai", "no-such-model-at-all") is None
