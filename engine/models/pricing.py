"""What an answer cost, by the price list that genai-prices carries with it. Nothing is ever fetched."""

from __future__ import annotations

from engine.events import Usage
from engine.models.spec import LOOPBACK_PORTS

FREE = frozenset({"local", "script", *LOOPBACK_PORTS})

# Our provider names that the price list knows under another one.
_LISTED_AS = {"openai-chat": "openai"}


def price(spec: str, usage: Usage) -> tuple[float | None, float | None]:
    """(cost, saved) in USD of one request to ``spec`` (``provider/model``).

    saved is what caching spared: the same tokens without a cache, minus the cost; negative while writing the cache
    costs more than reading it has spared. (None, None) when the price is unknown; zeros for models on this machine.
    """
    provider, _, model = spec.partition("/")
    if provider in FREE:
        return 0.0, 0.0
    cost = _cost(provider, model, usage.input, usage.cache_read, usage.cache_write, usage.output)
    plain = _cost(provider, model, usage.input, 0, 0, usage.output)
    if cost is None or plain is None:
        return None, None
    return cost, plain - cost


def listed_window(provider: str, model: str) -> int | None:
    """Context window of a model in tokens, as the price list has it; None when it does not know."""
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, found = get_snapshot().find_provider_model(model, None, _LISTED_AS.get(provider, provider), None)
    except LookupError:
        return None
    return found.context_window


def _cost(provider: str, model: str, prompt: int, read: int, write: int, output: int) -> float | None:
    """USD, or None. The price list counts cached tokens as part of ``input_tokens``."""
    import genai_prices

    usage = genai_prices.Usage(
        input_tokens=prompt, cache_read_tokens=read, cache_write_tokens=write, output_tokens=output
    )
    try:
        found = genai_prices.calc_price(usage, model, provider_id=_LISTED_AS.get(provider, provider))
    except (LookupError, ValueError):
        return None
    return float(found.total_price)
