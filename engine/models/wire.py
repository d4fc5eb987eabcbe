"""What the three wires share: one attempt, from the request to `Done`, through an official SDK's client."""

from __future__ import annotations

import asyncio
import importlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar

from engine.lasting import made_to_last, settled
from engine.models.base import ModelError, Part
from engine.models.sanitize import CallIds
from engine.models.wire_assembly import Assembly
from engine.models.wire_errors import Origin, as_model_errors, cut_off
from engine.models.wire_quirks import Quirks, default_quirks
from engine.prompt.request import ModelRequest


class Reader(ABC):
    """Reads one answer's events into parts. ``complete``: the provider said how the answer ended."""

    complete = False

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly

    @abstractmethod
    def read(self, event: Any) -> Iterator[Part]:
        """The parts an event comes to; unknown events come to none."""

    @abstractmethod
    def finish(self) -> Iterator[Part]:
        """The parts that end the answer, `Done` last. Called once, when ``complete``."""


class WireModel(ABC):
    """A model behind a wire format. Makes one attempt; `engine.models.retry` makes more of them.

    ``api_key`` None leaves it to the SDK to look for one, except for another server (``base_url``), which gets a
    placeholder: a key is never sent to a server it was not given for.
    """

    sdk_name: ClassVar[str]
    key_env: ClassVar[str]

    def __init__(
        self,
        spec: str,
        model_id: str,
        *,
        api_key: str | None,
        base_url: str | None,
        context_window: int,
        quirks: Quirks | None = None,
    ) -> None:
        self.spec = spec
        self.context_window = context_window
        self.model_id = model_id
        self.quirks = quirks or default_quirks(base_url)
        self._api_key = api_key or ("none" if base_url else None)
        self._base_url = base_url
        self._origin = Origin(spec, base_url, self.quirks.key_env or self.key_env, api_key)
        self._ids = CallIds()
        self._sdk: Any = None
        self._client: Any = None

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Send ``request`` and yield its parts; raises ModelError. Closing the iterator aborts the request."""
        # The SDKs take a second or more to import: off the loop, which stays free for an interrupt.
        if self._sdk is None:
            with made_to_last():
                self._sdk = await asyncio.to_thread(importlib.import_module, self.sdk_name)
        reader = self._reader(Assembly(self._ids.for_turn(request)))
        try:
            with as_model_errors(self._origin, self._sdk):
                if self._client is None:
                    self._client = self._connect(self._sdk)
                async with await self._send(self._client, request) as events:
                    async for event in events:
                        # Its types are only made when the first event of an answer is read.
                        settled(self.sdk_name)
                        for part in reader.read(event):
                            yield part
        except ModelError:
            # A connection that breaks after the answer has ended costs nothing.
            if not reader.complete:
                raise
        if not reader.complete:
            raise cut_off(self._origin)
        for part in reader.finish():
            yield part

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    @abstractmethod
    def _connect(self, sdk: Any) -> Any:
        """A client of the SDK that makes no retries of its own."""

    @abstractmethod
    async def _send(self, client: Any, request: ModelRequest) -> AbstractAsyncContextManager[AsyncIterator[Any]]:
        """Send the request; the stream of the provider's events."""

    @abstractmethod
    def _reader(self, assembly: Assembly) -> Reader:
        """A reader for one answer."""
