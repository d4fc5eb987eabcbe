"""What can be used on this machine and why the rest cannot: the first-run screen, ``models`` and ``doctor`` show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from engine.models.base import ModelError
from engine.models.discovery import DEFAULT_MODELS, KEYS, OFFLINE, FoundServer, choose_default, find_servers
from engine.models.install import PACKAGES, find_weights
from engine.models.providers import endpoint
from engine.models.spec import LOOPBACK_PORTS, ModelSpec
from engine.paths import Home
from engine.queries import FoundModel, SurveyResult
from engine.settings import Settings
from sandbox.backends.base import Capabilities


async def survey(
    settings: Settings,
    env: Mapping[str, str],
    sandbox: Capabilities,
    *,
    home: Home | None = None,
    ports: Mapping[str, int] = LOOPBACK_PORTS,
) -> SurveyResult:
    """Look for keys, servers, weights and scripts, all at once; well under a second."""
    servers = await find_servers(ports)
    chosen = choose_default(settings, env, servers)
    models = (
        *_makers(env),
        *_own(settings, env),
        *_servers(servers, ports),
        *_local(home or Home.here()),
        *_scripts(),
    )
    return SurveyResult(
        models=models,
        chosen=chosen.spec,
        why=chosen.why,
        sandbox=sandbox.name,
        sandbox_works=sandbox.works,
        sandbox_why=sandbox.why,
        sandbox_hint=sandbox.hint,
    )


def _makers(env: Mapping[str, str]) -> list[FoundModel]:
    rows = []
    for name, key in KEYS.items():
        found = bool(env.get(key, "").strip())
        why, hint = (f"{key} is set", "") if found else (f"{key} is not set", f"export {key}=…")
        rows.append(FoundModel(DEFAULT_MODELS[name], "key in the environment", found, why, hint))
    return rows


def _own(settings: Settings, env: Mapping[str, str]) -> list[FoundModel]:
    """Providers of the settings: usable when their key is there, which is all that can be known without asking."""
    rows = []
    for name, provider in settings.providers.items():
        source = settings.sources.get(f"providers.{name}.base_url", "settings")
        try:
            endpoint(ModelSpec(name, "MODEL"), settings, env)
        except ModelError as error:
            rows.append(FoundModel(f"{name}/MODEL", source, False, str(error), error.suggestion))
        else:
            rows.append(
                FoundModel(f"{name}/MODEL", source, True, f"served at {provider.base_url or 'its usual address'}")
            )
    return rows


def _servers(servers: Sequence[FoundServer], ports: Mapping[str, int]) -> list[FoundModel]:
    rows = []
    found = {server.name: server for server in servers}
    for name, port in ports.items():
        source = f"server on 127.0.0.1:{port}"
        server = found.get(name)
        if server is None:
            rows.append(FoundModel(f"{name}/MODEL", source, False, "nothing answers there", f"start {name}"))
        elif not server.models:
            rows.append(
                FoundModel(f"{name}/MODEL", source, False, "it answers but has no models", f"load one in {name}")
            )
        else:
            rows += [FoundModel(f"{name}/{model}", source, True, "it answers") for model in server.models]
    return rows


def _local(home: Home) -> list[FoundModel]:
    rows = []
    extra = find_spec("xllamacpp") is not None
    for name in PACKAGES:
        weights: Path | None = find_weights(home, name)
        if not extra:
            why, hint = "the extra 'local' (llama.cpp) is not installed", "pip install 'agent-tui[local]'"
        elif weights is None:
            why, hint = "its weights are not installed", f"agent-tui models install {name}"
        else:
            why, hint = "weights are installed; short chat, no tools", ""
        rows.append(FoundModel(f"local/{name}", "llama.cpp in this process", extra and weights is not None, why, hint))
    return rows


def _scripts() -> list[FoundModel]:
    return [
        FoundModel("script/demo", "built in", True, "a scripted model; `agent-tui demo` runs it on its own repository"),
        FoundModel(OFFLINE, "built in", True, "says how to connect a model"),
    ]
