"""The Responses API, streamed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

from engine.events import Usage
from engine.models.base import Part, Start, UsageReport
from engine.models.wire import Reader, WireModel
from engine.models.wire_assembly import Assembly
from engine.models.wire_errors import ProviderError
from engine.models.wire_responses_params import reasoning_opaque, responses_params
from engine.models.wire_usage import look, responses_usage
from engine.prompt.request import ModelRequest


class OpenAIModel(WireModel):
    """A model behind the Responses API."""

    sdk_name = "openai"
    key_env = "OPENAI_API_KEY"

    def _connect(self, sdk: Any) -> Any:
        return sdk.AsyncOpenAI(api_key=self._api_key, base_url=self._base_url, max_retries=0)

    async def _send(self, client: Any, request: ModelRequest) -> AbstractAsyncContextManager[AsyncIterator[Any]]:
        # As extra_body: the SDK walks typed parameters one by one, 0.7 s for a history of 1,500 items.
        params = responses_params(request, self.model_id, self.quirks)
        events: AbstractAsyncContextManager[AsyncIterator[Any]] = await client.responses.create(
            stream=True, extra_body=params
        )
        return events

    def _reader(self, assembly: Assembly) -> Reader:
        return _ResponsesReader(assembly)


class _ResponsesReader(Reader):
    """Blocks are keyed (output index, part): an item of several parts is several blocks."""

    def __init__(self, assembly: Assembly) -> None:
        super().__init__(assembly)
        self._usage = Usage()
        self._stop = ""
        self._refused = False

    def read(self, event: Any) -> Iterator[Part]:
        match look(event, "type"):
            case "response.created":
                yield Start(str(look(event, "response", "model") or ""), str(look(event, "response", "id") or ""))
            case "response.output_item.added":
                if event.item.type == "function_call":
                    yield from self.assembly.call(event.output_index, event.item.name or "", event.item.call_id or "")
            case "response.output_text.delta":
                yield from self.assembly.write((event.output_index, event.content_index), "text", event.delta)
            case "response.refusal.delta":
                self._refused = True
                yield from self.assembly.write((event.output_index, event.content_index), "text", event.delta)
            case "response.content_part.done":
                yield from self.assembly.close((event.output_index, event.content_index))
            case "response.reasoning_summary_part.added":
                if self.assembly.raw(event.output_index):
                    yield from self.assembly.write(event.output_index, "thinking", "\n\n")
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                yield from self.assembly.write(event.output_index, "thinking", event.delta)
            case "response.function_call_arguments.delta":
                yield from self.assembly.call(event.output_index, arguments=event.delta)
            case "response.output_item.done":
                yield from self._item_done(event.output_index, event.item)
            case "response.completed" | "response.incomplete":
                yield self._completed(event.response)
            case "response.failed":
                raise ProviderError(look(event, "response", "error"))
            case "error":
                raise ProviderError(event)

    def finish(self) -> Iterator[Part]:
        return self.assembly.finish("refusal" if self._refused else self._stop, self._usage)

    def _item_done(self, index: int, item: Any) -> Iterator[Part]:
        if item.type == "reasoning":
            opaque = reasoning_opaque(item.to_dict())
            if self.assembly.knows(index):
                yield from self.assembly.close(index, opaque)
            elif opaque:
                yield from self.assembly.opaque(index, opaque)
        elif item.type == "function_call":
            if not self.assembly.knows(index):
                yield from self.assembly.call(index, item.name or "", item.call_id or "")
            if not self.assembly.raw(index):
                # Some servers send the arguments only with the finished item.
                yield from self.assembly.call(index, arguments=item.arguments or "")
            yield from self.assembly.close(index)

    def _completed(self, response: Any) -> Part:
        self.complete = True
        self._stop = str(look(response, "incomplete_details", "reason") or look(response, "status") or "")
        self._usage = responses_usage(look(response, "usage"))
        return UsageReport(self._usage)
