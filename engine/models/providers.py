"""From ``provider/model`` to a model that can be asked: the wire it speaks, its address, its key, its window.

A key is sent only to the server it was given for: the makers' keys to the makers (or to the address their own variables
name), a configured provider's key to its own URL, and AGENT_TUI_API_KEY to whatever ``--base-url`` names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.models.base import Model, ModelError
from engine.models.discovery import loopback_url
from engine.models.pricing import listed_window
from engine.models.spec import LOOPBACK_PORTS, ModelSpec, SpecError, parse
from engine.paths import Home
from engine.settings import ProviderSettings, Settings

KEY_FOR_BASE_URL = "AGENT_TUI_API_KEY"
SCRIPT_WAITING = "AGENT_TUI_SCRIPT_WAITING"

# Tokens, for models nobody has told us about.
WINDOWS = {"anthropic": 200_000, "openai": 128_000, "openai-chat": 32_768, "local": 8_192}


@dataclass(frozen=True, slots=True)
class _Maker:
    """A company that serves its own models: the variables its SDK knows."""

    key_env: str
    url_env: str
    name: str


MAKERS = {
    "anthropic": _Maker("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "Anthropic"),
    "openai": _Maker("OPENAI_API_KEY", "OPENAI_BASE_URL", "OpenAI"),
    "openai-chat": _Maker("OPENAI_API_KEY", "OPENAI_BASE_URL", "OpenAI"),
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is served: ``base_url`` None is the maker's own address, ``key_env`` the variable a key is read
    from (empty: none is sent)."""

    wire: str
    base_url: str | None
    key_env: str
    key: str | None


def resolve(
    spec_text: str,
    *,
    settings: Settings,
    env: Mapping[str, str],
    home: Home,
    folder: Path,
    base_url: str = "",
    context_window: int | None = None,
) -> Model:
    """The model ``spec_text`` names, ready to be asked; nothing is sent yet.

    folder: what relative paths of scripts and weights start from. context_window: tokens, over everything known.
    Raises ModelError: ``no_model`` when there is no such thing, ``auth`` when a key is missing, ``script`` for a script
    that cannot be played.
    """
    try:
        spec = parse(spec_text, settings.providers)
    except SpecError as error:
        raise ModelError("no_model", str(error), suggestion=error.suggestion) from error
    window = context_window or settings.context_window
    if spec.provider == "script":
        return _script(spec, env, folder, window)
    if spec.provider == "local":
        from engine.models.local import LocalModel

        return LocalModel.open(spec.model, home=home, folder=folder, context_window=window or WINDOWS["local"])
    return _served(spec, endpoint(spec, settings, env, base_url), settings, window)


def endpoint(spec: ModelSpec, settings: Settings, env: Mapping[str, str], base_url: str = "") -> Endpoint:
    """Where ``spec`` is served and with which key. Raises ModelError (``auth``) when a needed key is missing."""
    own = settings.providers.get(spec.provider, ProviderSettings(spec.provider))
    wire = own.wire or (spec.provider if spec.provider in MAKERS else "openai-chat")
    if base_url:
        return Endpoint(wire, base_url, KEY_FOR_BASE_URL, env.get(KEY_FOR_BASE_URL) or None)
    if own.base_url or own.key_env:
        maker = MAKERS.get(spec.provider)
        url = own.base_url or (loopback_url(spec.provider) if spec.provider in LOOPBACK_PORTS else None)
        return _with_key(spec, wire, url, own.key_env, env, maker.name if maker and not url else "")
    if spec.provider in LOOPBACK_PORTS:
        return Endpoint(wire, loopback_url(spec.provider), "", None)
    maker = MAKERS[spec.provider]
    return _with_key(spec, wire, env.get(maker.url_env) or None, maker.key_env, env, maker.name)


def _with_key(
    spec: ModelSpec, wire: str, url: str | None, key_env: str, env: Mapping[str, str], maker: str
) -> Endpoint:
    key = env.get(key_env, "").strip() if key_env else ""
    if key_env and not key and not (maker and url):
        raise ModelError(
            "auth",
            f"{spec} needs a key, and {key_env} is not set.",
            suggestion=f"Set {key_env} to a key of {maker or spec.provider} and start again, or choose another model: "
            "`agent-tui models` lists those that can be used now.",
        )
    return Endpoint(wire, url, key_env, key or None)


def _served(spec: ModelSpec, at: Endpoint, settings: Settings, window: int | None) -> Model:
    """A model behind one of the three wires."""
    from dataclasses import replace

    from engine.models.wire_anthropic import AnthropicModel
    from engine.models.wire_chat import OpenAIChatModel
    from engine.models.wire_quirks import default_quirks
    from engine.models.wire_responses import OpenAIModel

    wires: dict[str, Callable[..., Model]] = {
        "anthropic": AnthropicModel,
        "openai": OpenAIModel,
        "openai-chat": OpenAIChatModel,
    }
    own = settings.providers.get(spec.provider)
    known = window or (own.context_window if own else None) or listed_window(spec.provider, spec.model)
    return wires[at.wire](
        str(spec),
        spec.model,
        api_key=at.key,
        base_url=at.base_url,
        context_window=known or WINDOWS[at.wire],
        quirks=replace(default_quirks(at.base_url), key_env=at.key_env),
    )


def _script(spec: ModelSpec, env: Mapping[str, str], folder: Path, window: int | None) -> Model:
    from engine.models.script import BUILT_IN, ScriptModel

    name = spec.model if spec.model in BUILT_IN else str(folder / Path(spec.model).expanduser())
    try:
        waiting = max(0.0, float(env.get(SCRIPT_WAITING, "") or 1.0))
    except ValueError:
        waiting = 1.0
    model = ScriptModel.open(name, context_window=window, waiting=waiting)
    model.spec = str(spec)
    return model
