"""``provider/model`` as people write it, read into data, with near misses when it cannot be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# Servers people run on their own machine, by their usual loopback port. All of them speak Chat Completions.
LOOPBACK_PORTS = {"ollama": 11434, "lmstudio": 1234, "llama-server": 8080, "vllm": 8000}

PROVIDERS = ("anthropic", "openai", "openai-chat", "local", "script", *LOOPBACK_PORTS)

_SHAPE = "A model is written provider/model, for example anthropic/claude-sonnet-5-5, ollama/qwen3 or script/demo."


class SpecError(ValueError):
    """The text names no model; the message says what was wrong, ``suggestion`` what to write instead."""

    def __init__(self, message: str, suggestion: str) -> None:
        super().__init__(message)
        self.suggestion = suggestion


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A provider and what it calls the model: an id, a path or a built-in name. The model may contain slashes."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


def parse(text: str, configured: Iterable[str] = ()) -> ModelSpec:
    """Read ``text``; ``configured`` are provider names from the settings. Raises SpecError."""
    spec = text.strip()
    provider, slash, model = spec.partition("/")
    known = (*PROVIDERS, *(name for name in configured if name not in PROVIDERS))
    if not spec:
        raise SpecError("No model is named.", _SHAPE)
    if provider not in known:
        raise SpecError(_unknown(spec, provider, slash), _guess(provider, slash, model, known))
    if not model:
        raise SpecError(f"{spec!r} names the provider {provider} but no model.", _SHAPE)
    return ModelSpec(provider, model)


def near(word: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """The entries of ``known`` that ``word`` may have been meant for, best first."""
    from rapidfuzz import fuzz, process, utils

    found = process.extract(
        word, list(known), scorer=fuzz.WRatio, processor=utils.default_process, limit=limit, score_cutoff=60
    )
    return [name for name, _score, _index in found]


def _unknown(spec: str, provider: str, slash: str) -> str:
    if not slash:
        return f"{spec!r} has no provider in front of the model."
    return f"There is no provider called {provider!r}."


def _guess(provider: str, slash: str, model: str, known: tuple[str, ...]) -> str:
    if not slash:
        owners = {"claude": "anthropic", "gpt": "openai", "o3": "openai", "o4": "openai", "smollm": "local"}
        owner = next((name for prefix, name in owners.items() if provider.lower().startswith(prefix)), "")
        if owner:
            return f"Did you mean {owner}/{provider}?"
        return _SHAPE
    close = near(provider, known)
    if close:
        return "Did you mean " + " or ".join(f"{name}/{model}" for name in close) + "?"
    return (
        f"Known providers: {', '.join(known)}. For any other server use openai-chat/{model or 'MODEL'} with --base-url."
    )
