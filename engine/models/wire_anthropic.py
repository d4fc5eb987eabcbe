"""The Messages API, streamed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

from engine.events import Usage
from engine.models.base import Part, Start, UsageReport
from engine.models.wire import Reader, WireModel
from engine.models.wire_anthropic_params import anthropic_params, thinking_opaque
from engine.models.wire_assembly import Assembly
from engine.models.wire_usage import anthropic_usage, look
from engine.prompt.request import ModelRequest


class AnthropicModel(WireModel):
    """A model behind the Messages API."""

    sdk_name = "anthropic"
    key_env = "ANTHROPIC_API_KEY"

    def _connect(self, sdk: Any) -> Any:
        return sdk.AsyncAnthropic(api_key=self._api_key, base_url=self._base_url, max_retries=0)

    async def _send(self, client: Any, request: ModelRequest) -> AbstractAsyncContextManager[AsyncIterator[Any]]:
        # As extra_body, which takes every field as it is, also those a quirk adds.
        params = anthropic_params(request, self.model_id, self.quirks)
        events: AbstractAsyncContextManager[AsyncIterator[Any]] = await client.messages.create(
            model=self.model_id, max_tokens=request.max_output, messages=[], stream=True, extra_body=params
        )
        return events

    def _reader(self, assembly: Assembly) -> Reader:
        return _AnthropicReader(assembly)


class _AnthropicReader(Reader):
    def __init__(self, assembly: Assembly) -> None:
        super().__init__(assembly)
        self._usage = Usage()
        self._stop = ""
        self._signatures: dict[int, str] = {}
        self._inputs: dict[int, Any] = {}

    def read(self, event: Any) -> Iterator[Part]:
        match look(event, "type"):
            case "message_start":
                yield Start(str(look(event, "message", "model") or ""), str(look(event, "message", "id") or ""))
                yield self._count(look(event, "message", "usage"))
            case "content_block_start":
                yield from self._begin(event.index, event.content_block)
            case "content_block_delta":
                yield from self._more(event.index, event.delta)
            case "content_block_stop":
                yield from self._end(event.index)
            case "message_delta":
                self._stop = look(event, "delta", "stop_reason") or self._stop
                yield self._count(event.usage)
            case "message_stop":
                self.complete = True

    def finish(self) -> Iterator[Part]:
        return self.assembly.finish(self._stop, self._usage)

    def _count(self, reported: Any) -> UsageReport:
        self._usage = anthropic_usage(reported, self._usage)
        return UsageReport(self._usage)

    def _begin(self, index: int, block: Any) -> Iterator[Part]:
        match block.type:
            case "text":
                yield from self.assembly.write(index, "text", block.text or "")
            case "thinking":
                self._signatures[index] = block.signature or ""
                yield from self.assembly.write(index, "thinking", block.thinking or "")
            case "redacted_thinking":
                sent = {"type": "redacted_thinking", "data": block.data}
                yield from self.assembly.opaque(index, thinking_opaque(sent))
            case "tool_use":
                self._inputs[index] = block.input
                yield from self.assembly.call(index, block.name or "", block.id or "")

    def _more(self, index: int, delta: Any) -> Iterator[Part]:
        match delta.type:
            case "text_delta":
                yield from self.assembly.write(index, "text", delta.text or "")
            case "thinking_delta":
                yield from self.assembly.write(index, "thinking", delta.thinking or "")
            case "signature_delta":
                self._signatures[index] = self._signatures.get(index, "") + (delta.signature or "")
            case "input_json_delta":
                yield from self.assembly.call(index, arguments=delta.partial_json or "")

    def _end(self, index: int) -> Iterator[Part]:
        opaque = None
        if signature := self._signatures.pop(index, ""):
            thinking = self.assembly.raw(index)
            opaque = thinking_opaque({"type": "thinking", "thinking": thinking, "signature": signature})
        if (given := self._inputs.pop(index, None)) and not self.assembly.raw(index):
            # Some servers send the arguments whole when the block begins.
            yield from self.assembly.call(index, arguments=json.dumps(given))
        yield from self.assembly.close(index, opaque)
