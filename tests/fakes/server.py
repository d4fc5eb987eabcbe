"""A strict model API on a local port: refuses what the real one refuses, plays a script, remembers what it was sent."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.fakes.http import HttpRequest, begin_stream, read_request, write_chunk, write_json
from tests.fakes.prefix import Count, PrefixCache
from tests.fakes.stream_anthropic import anthropic_error, anthropic_events
from tests.fakes.stream_chat import chat_events, openai_error
from tests.fakes.stream_responses import responses_error, responses_events
from tests.fakes.turns import Answer, Format, Step, Turn
from tests.fakes.validate_anthropic import validate_anthropic
from tests.fakes.validate_chat import validate_chat
from tests.fakes.validate_responses import validate_responses

_PATHS = {"anthropic": "/v1/messages", "openai": "/v1/responses", "openai-chat": "/v1/chat/completions"}
_VALIDATORS = {"anthropic": validate_anthropic, "openai": validate_responses, "openai-chat": validate_chat}
_EVENTS = {"anthropic": anthropic_events, "openai": responses_events, "openai-chat": chat_events}
_ANTHROPIC_KINDS = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
}  # fmt: skip
_OPENAI_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded", 500: "server_error"}


class StrictServer:
    """Serves one wire format from its own thread: ``with StrictServer("openai", [Turn(text="hi")]) as server``.

    turns: steps played in order (or one function of the request body for all). by_history: the step is the number of
    answers the request already holds, so that a restarted client goes on where its history ends. api_key: the only key
    accepted, None accepts any. models: the names there are, None takes any. log: a file for every request, as JSON
    lines ``{"path", "body", "error"}``.

    requests: bodies that passed the checks, in order of arrival; rejections: why others did not. A request that is
    rejected plays no step. disconnects: answers a client left unfinished. exhausted: a request came after the last
    step (it got a 400). clients: what an ``async with`` awaits before it closes the server.
    """

    def __init__(
        self,
        format: Format,
        turns: Sequence[Step] | Callable[[dict[str, Any]], Turn] = (),
        *,
        by_history: bool = False,
        api_key: str | None = None,
        models: Sequence[str] | None = None,
        log: Path | None = None,
        port: int = 0,
    ) -> None:
        self.format = format
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.rejections: list[str] = []
        self.disconnects = 0
        self.connections = 0
        self.exhausted = False
        self.port = port
        self.clients: list[Callable[[], Awaitable[None]]] = []
        self._turns = turns
        self._by_history = by_history
        self._api_key = api_key
        self._models = models
        self._log = log
        self._cache = PrefixCache()
        self._plays: Counter[int] = Counter()
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._released = asyncio.Event()
        self._writers: set[asyncio.StreamWriter] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"strict-{format}", daemon=True)

    @property
    def base_url(self) -> str:
        """What the SDK of this format takes as its base URL."""
        return f"http://127.0.0.1:{self.port}" + ("" if self.format == "anthropic" else "/v1")

    def __enter__(self) -> StrictServer:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def __aenter__(self) -> StrictServer:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        for close in self.clients:
            await close()
        await asyncio.to_thread(self.__exit__, kind, error, tb)

    def release(self) -> None:
        """Let every turn that hangs go on."""
        self._loop.call_soon_threadsafe(self._released.set)

    def wait_for(self, condition: Callable[[StrictServer], bool], timeout: float = 10.0) -> bool:
        """Block until ``condition(server)`` holds; False when it does not in ``timeout`` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: condition(self), timeout)

    def wait_for_disconnect(self, timeout: float = 10.0) -> bool:
        """Block until a client has left in the middle of an answer."""
        return self.wait_for(lambda server: server.disconnects > 0, timeout)

    # --- on the server's own thread ---

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, limit=1 << 20)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        self.connections += 1
        try:
            while request := await read_request(reader):
                if not await self._answer(request, reader, writer):
                    break
        except ConnectionError:
            self._note_disconnect()
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, request: HttpRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection can take another."""
        if request.method == "GET" and request.path == "/v1/models":
            names = self._models or ("test-model",)
            await write_json(writer, 200, {"object": "list", "data": [{"id": n, "object": "model"} for n in names]})
            return True
        status, problem, body = self._check(request)
        self._record(request, body, problem)
        if problem is not None:
            await write_json(writer, status, self._error(status, problem))
            return True
        turn = self._next_turn(body)
        if turn is None:
            self.exhausted = True
            await write_json(writer, 400, self._error(400, "The script of this server has no more turns."))
            return True
        if turn.status != 200:
            answer = self._error(turn.status, turn.error or "Scripted failure.", turn.error_type)
            await write_json(writer, turn.status, answer, turn.headers)
            return True
        return await self._play(turn, body, reader, writer)

    def _check(self, request: HttpRequest) -> tuple[int, str | None, Any]:
        """The status and words of a refusal (words None: no refusal), and the parsed body."""
        try:
            body = json.loads(request.body)
        except ValueError:
            body = None
        if request.method != "POST" or request.path != _PATHS[self.format]:
            return 404, f"Unknown request URL: {request.method} {request.path}.", body
        bearer = request.headers.get("authorization", "").removeprefix("Bearer").strip()
        key = bearer or (request.headers.get("x-api-key", "") if self.format == "anthropic" else "")
        if not key or (self._api_key is not None and key != self._api_key):
            return 401, f"Incorrect API key provided: {key or 'none'}.", body
        if self.format == "anthropic" and "anthropic-version" not in request.headers:
            return 400, "anthropic-version: header is required", body
        if problem := _VALIDATORS[self.format](body):
            return 400, problem, body
        if self._models is not None and body["model"] not in self._models:
            return 404, f"The model `{body['model']}` does not exist or you do not have access to it.", body
        if not body.get("stream"):
            return 400, "This server only streams: set `stream` to true.", body
        return 200, None, body

    def _record(self, request: HttpRequest, body: Any, problem: str | None) -> None:
        with self._changed:
            if problem is None:
                self.requests.append(body)
                self.headers.append(dict(request.headers))
            else:
                self.rejections.append(problem)
            self._changed.notify_all()
        if self._log is not None:
            with self._log.open("a") as file:
                file.write(json.dumps({"path": request.path, "body": body, "error": problem}) + "\n")

    def _next_turn(self, body: dict[str, Any]) -> Turn | None:
        if callable(self._turns):
            return self._turns(body)
        at = answers_in(body) if self._by_history else sum(self._plays.values())
        if at >= len(self._turns):
            return None
        step = self._turns[at]
        play, self._plays[at] = self._plays[at], self._plays[at] + 1
        answer: Answer = step[min(play, len(step) - 1)] if isinstance(step, Sequence) else step
        return answer(body) if callable(answer) else answer

    def _error(self, status: int, message: str, kind: str = "") -> dict[str, Any]:
        if self.format == "anthropic":
            return anthropic_error(message, kind or _ANTHROPIC_KINDS.get(status, "api_error"))
        group = "server_error" if status >= 500 else "invalid_request_error"
        return openai_error(message, kind or _OPENAI_CODES.get(status, "invalid_request"), group)

    async def _play(
        self, turn: Turn, body: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        gone = asyncio.ensure_future(reader.read(1))
        try:
            if turn.hang_after == -1:
                await self._hang(gone)
            await begin_stream(writer, turn.headers)
            return await self._stream(turn, body, writer, gone)
        finally:
            gone.cancel()
            # Only one may read at a time, and the next request is read by another.
            await asyncio.wait({gone})

    async def _stream(
        self, turn: Turn, body: dict[str, Any], writer: asyncio.StreamWriter, gone: asyncio.Future[bytes]
    ) -> bool:
        key = str(body.get("prompt_cache_key", ""))
        count = self._cache.account(body, key)
        payloads = self._payloads(turn, body, count)
        for number, payload in enumerate(payloads):
            if turn.delay:
                await asyncio.wait([gone], timeout=turn.delay)
            if number == turn.hang_after:
                await self._hang(gone)
            if gone.done():
                self._note_disconnect()
                return False
            if number == turn.cut_after:
                writer.transport.abort()
                return False
            if number == turn.end_after:
                break
            if number == turn.garbage_after:
                payload = b"event: message_delta\ndata: {not json at all\n\n"
            if number == turn.error_after:
                payload = self._error_event(turn)
            await write_chunk(writer, payload)
            if number in (turn.garbage_after, turn.error_after):
                break
        if turn.cut_after == len(payloads):
            writer.transport.abort()
            return False
        await write_chunk(writer, b"")
        return True

    def _payloads(self, turn: Turn, body: dict[str, Any], count: Count) -> list[bytes]:
        events = _EVENTS[self.format](turn, body, count, len(self.requests))
        if turn.verbatim:
            events = ((str(data.get("type", "")), dict(data)) for data in turn.verbatim)
        payloads = [(f"event: {n}\n" if n else "") + f"data: {json.dumps(data)}\n\n" for n, data in events]
        if self.format == "openai-chat":
            payloads.append("data: [DONE]\n\n")
        return [payload.encode() for payload in payloads]

    def _error_event(self, turn: Turn) -> bytes:
        message = turn.error or "Scripted failure."
        if self.format == "openai":
            data = responses_error(message, turn.error_type or "server_error")
        else:
            data = self._error(529 if self.format == "anthropic" else 500, message, turn.error_type)
        return (
            "" if self.format == "openai-chat" else "event: error\n"
        ).encode() + f"data: {json.dumps(data)}\n\n".encode()

    async def _hang(self, gone: asyncio.Future[bytes]) -> None:
        released = asyncio.ensure_future(self._released.wait())
        futures: list[asyncio.Future[Any]] = [gone, released]
        await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
        released.cancel()

    def _note_disconnect(self) -> None:
        with self._changed:
            self.disconnects += 1
            self._changed.notify_all()


def answers_in(body: dict[str, Any]) -> int:
    """How many answers of the model a request holds."""
    if "messages" in body:
        return sum(message["role"] == "assistant" for message in body["messages"])
    said = [
        item.get("role") == "assistant" or item.get("type") in ("function_call", "reasoning") for item in body["input"]
    ]
    return sum(now and not before for before, now in zip([False, *said], said, strict=False))
