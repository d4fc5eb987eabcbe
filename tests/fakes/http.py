"""As much HTTP/1.1 as a model API needs, over asyncio streams: requests in, JSON or chunked event streams out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(frozen=True)
class HttpRequest:
    """A request; header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


async def read_request(reader: asyncio.StreamReader) -> HttpRequest | None:
    """The next request on a connection, None when the client is done with it."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (li.partition(":") for li in lines if li)}
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(await reader.readline(), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return HttpRequest(method, path.partition("?")[0], headers, body)


async def write_json(
    writer: asyncio.StreamWriter, status: int, body: Any, headers: Mapping[str, str] | None = None
) -> None:
    """A whole JSON answer."""
    payload = json.dumps(body).encode()
    fields = {"content-type": "application/json", "content-length": str(len(payload)), **(headers or {})}
    writer.write(_head(status, fields) + payload)
    await writer.drain()


async def begin_stream(writer: asyncio.StreamWriter, headers: Mapping[str, str] | None = None) -> None:
    """The head of an event stream."""
    fields = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache", **(headers or {})}
    writer.write(_head(200, {**fields, "transfer-encoding": "chunked"}))
    await writer.drain()


async def write_chunk(writer: asyncio.StreamWriter, payload: bytes) -> None:
    """A piece of the stream; an empty one ends it."""
    writer.write(f"{len(payload):x}\r\n".encode() + payload + b"\r\n")
    await writer.drain()


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}", *(f"{k}: {v}" for k, v in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
