"""Models in this process: llama.cpp by the optional extra ``local`` (xllamacpp), a person's own GGUF or small weights.

The engine in the process is asked through the Chat Completions wire on a loopback port, which only a key made for this
process opens. So chat templates, tool calls, streaming, cached tokens and aborts are those of llama.cpp's own server,
and everything a served model gets at the wire (repair, clean text, errors in words) holds here too.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.events import TextBlock
from engine.models.base import Model, ModelError, Part
from engine.models.install import find_weights
from engine.paths import Home
from engine.prompt.request import Message, ModelRequest

PLAIN_IDENTITY = (
    "You are a small language model that runs on this person's own computer, without any tools. "
    "Answer their messages briefly and plainly. Say so when you do not know."
)

# Tokens handled between two looks at whether the request was aborted: about a second on two slow cores.
BATCH = 256


@dataclass(frozen=True, slots=True)
class _Running:
    """A loaded model: ``server`` keeps it alive, ``wire`` asks it, ``tools`` says whether its template knows tools."""

    server: Any
    wire: Model
    tools: bool


class LocalModel:
    """A `Model` over the weights at ``path``, loaded on the first request."""

    def __init__(self, spec: str, path: Path, *, context_window: int) -> None:
        self.spec = spec
        self.context_window = context_window
        self._path = path
        self._running: _Running | None = None
        self._loading = asyncio.Lock()

    @classmethod
    def open(cls, name: str, *, home: Home, folder: Path, context_window: int) -> LocalModel:
        """``smollm2`` or the path of a GGUF file, relative to ``folder``. Raises ModelError (``no_model``) that names
        the command which brings what is missing."""
        path = find_weights(home, name) or folder / Path(name).expanduser()
        if not path.is_file():
            if name == "smollm2":
                missing, command = "The weights of smollm2 are not installed.", "agent-tui models install smollm2"
                raise ModelError("no_model", missing, suggestion=f"Run: {command}")
            raise ModelError("no_model", f"There is no file {path}.", suggestion="Write local/PATH.gguf.")
        if not is_gguf(path):
            raise ModelError("no_model", f"{path} is not a GGUF file.", suggestion="llama.cpp reads GGUF files only.")
        require_llama()
        return cls(f"local/{name}", path, context_window=context_window)

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Send ``request`` and yield its parts; raises ModelError. Closing the iterator aborts the request."""
        running = await self._loaded()
        asked = request if running.tools else _without_tools(request)
        async with aclosing(running.wire.stream(asked)) as parts:  # type: ignore[type-var]  # it is a generator
            async for part in parts:
                yield part

    async def aclose(self) -> None:
        """Unload the model."""
        running, self._running = self._running, None
        if running:
            await running.wire.aclose()
            # The last reference goes on a thread: unloading waits for llama.cpp's own threads.
            held = [running.server]
            del running
            await asyncio.to_thread(held.clear)

    async def _loaded(self) -> _Running:
        async with self._loading:
            if self._running is None:
                self._running = await asyncio.to_thread(self._load)
            return self._running

    def _load(self) -> _Running:
        """Load the weights: seconds for large ones, so never on the loop."""
        key = secrets.token_urlsafe(24)
        server = _start(self._path, self.context_window, key)
        url = server.listening_address
        return _Running(server, self._wire(url, key), _knows_tools(url, key))

    def _wire(self, url: str, key: str) -> Model:
        from engine.models.wire_chat import OpenAIChatModel

        return OpenAIChatModel(
            self.spec, self._path.stem, api_key=key, base_url=f"{url}/v1", context_window=self.context_window
        )


def is_gguf(path: Path) -> bool:
    """Whether ``path`` begins like a GGUF file."""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"GGUF"
    except OSError:
        return False


def require_llama() -> Any:
    """The llama.cpp module, or ModelError with the command that installs it."""
    try:
        import xllamacpp
    except ImportError as error:
        raise ModelError(
            "no_model",
            "Models in this process need the extra 'local' (llama.cpp), which is not installed.",
            suggestion="Run: pip install 'agent-tui[local]'",
        ) from error
    return xllamacpp


def _start(path: Path, context_window: int, key: str) -> Any:
    llama = require_llama()
    params = llama.CommonParams()
    params.model.path = str(path)
    params.n_ctx = context_window
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = BATCH
    params.warmup = False
    params.ui = False
    params.verbosity = -1  # it would write over the screen
    params.api_keys = [key]
    try:
        return llama.Server(params)
    except RuntimeError as error:
        raise ModelError(
            "no_model",
            f"llama.cpp could not load {path}.",
            suggestion="The file may be damaged, newer than the installed xllamacpp, or larger than the memory left.",
        ) from error


def _knows_tools(url: str, key: str) -> bool:
    """Whether the model's chat template can carry tools at all."""
    import httpx

    headers = {"Authorization": f"Bearer {key}"}
    try:
        props = httpx.get(f"{url}/props", headers=headers, timeout=10, trust_env=False).json()
        return bool(props["chat_template_caps"]["supports_tools"])
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return False


def _without_tools(request: ModelRequest) -> ModelRequest:
    """The conversation alone, for a model that cannot call tools: what speaks of tools would only confuse it."""
    messages = (Message(m.role, tuple(p for p in m.parts if _is_talk(p))) for m in request.messages)
    return replace(
        request,
        identity=PLAIN_IDENTITY,
        catalogue="",
        tools=(),
        allowed_tools=None,
        messages=tuple(m for m in messages if m.parts),
    )


def _is_talk(part: object) -> bool:
    return isinstance(part, TextBlock) and not part.text.startswith("<runtime")
