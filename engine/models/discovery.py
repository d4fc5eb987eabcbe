"""What could answer on this machine: keys in the environment and model servers on their usual loopback ports."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from engine.models.spec import LOOPBACK_PORTS
from engine.settings import Settings

PROBE_SECONDS = 0.6
KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
DEFAULT_MODELS = {"anthropic": "anthropic/claude-sonnet-5-5", "openai": "openai/gpt-6.1-sol"}
OFFLINE = "script/offline"


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server that answered: ``models`` are the ids it lists, possibly none yet."""

    name: str
    base_url: str
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DefaultModel:
    """What a session uses when nobody named a model, and ``why``, for a person."""

    spec: str
    why: str
    base_url: str = ""


def loopback_url(name: str, ports: Mapping[str, int] = LOOPBACK_PORTS) -> str:
    """Base URL of the server called ``name`` on this machine."""
    return f"http://127.0.0.1:{ports[name]}/v1"


async def find_servers(
    ports: Mapping[str, int] = LOOPBACK_PORTS, timeout: float = PROBE_SECONDS
) -> tuple[FoundServer, ...]:
    """Ask every port at once; what does not answer like a model server within ``timeout`` seconds is not there."""
    # No proxy stands between a process and its own machine.
    async with httpx.AsyncClient(timeout=timeout, trust_env=False) as client:
        found = await asyncio.gather(*(_probe(client, name, loopback_url(name, ports), timeout) for name in ports))
    return tuple(server for server in found if server is not None)


def keys_found(env: Mapping[str, str], settings: Settings) -> tuple[str, ...]:
    """Makers whose key is in the environment, in the order in which they are preferred."""
    own = {name: p.key_env for name, p in settings.providers.items() if p.key_env}
    return tuple(name for name, variable in KEYS.items() if env.get(own.get(name, variable), "").strip())


def choose_default(settings: Settings, env: Mapping[str, str], servers: Sequence[FoundServer]) -> DefaultModel:
    """The configured model, else one for a key, else a server on this machine, else the offline script."""
    if settings.model:
        return DefaultModel(settings.model, f"set by {settings.sources['model']}", settings.base_url)
    for name in keys_found(env, settings):
        return DefaultModel(DEFAULT_MODELS[name], f"a key of {name} is set")
    for server in servers:
        if server.models:
            return DefaultModel(f"{server.name}/{server.models[0]}", f"{server.name} answers at {server.base_url}")
    return DefaultModel(OFFLINE, "no key in the environment and no model server on this machine")


async def _probe(client: httpx.AsyncClient, name: str, url: str, timeout: float) -> FoundServer | None:
    try:
        # The time-outs of the client are for each read; a server that drips must not hold the start up.
        async with asyncio.timeout(timeout):
            answer = await client.get(f"{url}/models")
        return FoundServer(name, url, _ids(answer.json())) if answer.status_code == httpx.codes.OK else None
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValueError):
        return None


def _ids(data: Any) -> tuple[str, ...]:
    """Model ids of a ``/v1/models`` answer. Raises ValueError when it is not one."""
    rows = data.get("data") if isinstance(data, dict) else None
    if not isinstance(rows, list):
        # Ollama answers null while it has no models.
        if isinstance(data, dict) and data.get("object") == "list" and rows is None:
            return ()
        raise ValueError("not a list of models")
    return tuple(row["id"] for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str))
