"""Chat Completions, streamed: OpenAI's own and the many servers that speak it in their own way."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

from engine.events import Usage
from engine.models.base import Part, Start, UsageReport
from engine.models.wire import Reader, WireModel
from engine.models.wire_assembly import Assembly
from engine.models.wire_chat_params import WIRE, chat_params
from engine.models.wire_errors import ProviderError
from engine.models.wire_quirks import Quirks
from engine.models.wire_usage import chat_usage, look
from engine.prompt.request import ModelRequest

_TEXT = "text"
_THINKING = "thinking"


class OpenAIChatModel(WireModel):
    """A model behind a Chat Completions server."""

    sdk_name = "openai"
    key_env = "OPENAI_API_KEY"

    def _connect(self, sdk: Any) -> Any:
        return sdk.AsyncOpenAI(api_key=self._api_key, base_url=self._base_url, max_retries=0)

    async def _send(self, client: Any, request: ModelRequest) -> AbstractAsyncContextManager[AsyncIterator[Any]]:
        # As extra_body: the SDK walks typed parameters one by one, which takes long for a long history.
        params = chat_params(request, self.model_id, self.quirks)
        events: AbstractAsyncContextManager[AsyncIterator[Any]] = await client.chat.completions.create(
            model=self.model_id, messages=[], stream=True, extra_body=params
        )
        return events

    def _reader(self, assembly: Assembly) -> Reader:
        return _ChatReader(assembly, self.quirks)


class _ChatReader(Reader):
    def __init__(self, assembly: Assembly, quirks: Quirks) -> None:
        super().__init__(assembly)
        self._quirks = quirks
        self._usage = Usage()
        self._reported: Any = None
        self._timings: Any = None
        self._stop = ""
        self._refused = False
        self._started = False
        self._serial = 0
        self._calls: dict[int, tuple[int, str]] = {}

    def read(self, event: Any) -> Iterator[Part]:
        if not self._started:
            self._started = True
            yield Start(str(look(event, "model") or ""), str(look(event, "id") or ""))
        for choice in look(event, "choices") or ():
            yield from self._delta(look(choice, "delta"))
            if stop := look(choice, "finish_reason"):
                if stop == "error":
                    raise ProviderError(look(choice, "error") or {"message": "the server stopped with an error"})
                self._stop, self.complete = str(stop), True
        if look(event, "usage") or look(event, "timings"):
            self._reported = look(event, "usage") or self._reported
            self._timings = look(event, "timings") or self._timings
            self._usage = chat_usage(self._reported, self._timings)
            yield UsageReport(self._usage)

    def finish(self) -> Iterator[Part]:
        yield from self._end_thinking()
        yield from self.assembly.finish("refusal" if self._refused else self._stop, self._usage)

    def _delta(self, delta: Any) -> Iterator[Part]:
        thinking = next((text for name in self._quirks.reasoning_fields if (text := look(delta, name))), None)
        if isinstance(thinking, str):
            yield from self.assembly.write(_THINKING, "thinking", thinking)
        refusal = look(delta, "refusal")
        self._refused = self._refused or bool(refusal)
        for text in (look(delta, "content"), refusal):
            if isinstance(text, str) and text:
                yield from self._end_thinking()
                yield from self.assembly.write(_TEXT, "text", text)
        for call in look(delta, "tool_calls") or ():
            yield from self._call(call)

    def _call(self, call: Any) -> Iterator[Part]:
        """A piece of a call. Servers that number every call 0 are told apart by a new id beside a new name."""
        index = int(look(call, "index") or 0)
        provider_id = str(look(call, "id") or "")
        name = str(look(call, "function", "name") or "")
        key, known_id = self._calls.get(index, (-1, ""))
        if key < 0 or (provider_id and name and provider_id != known_id):
            yield from self._end_thinking()
            yield from self.assembly.close(_TEXT)
            key, self._serial = self._serial, self._serial + 1
            self._calls[index] = (key, provider_id)
        arguments = str(look(call, "function", "arguments") or "")
        yield from self.assembly.call(key, name, provider_id, arguments)

    def _end_thinking(self) -> Iterator[Part]:
        says_something = self.assembly.raw(_THINKING).strip()
        yield from self.assembly.close(_THINKING, {"wire": WIRE} if says_something else None)
