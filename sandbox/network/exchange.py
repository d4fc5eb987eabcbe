"""One HTTP request and its answer, each understood whole and written anew. A connection carries one of them only, so
that nothing that follows can be taken for a second."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from sandbox.network import message
from sandbox.network.bodies import move
from sandbox.network.channel import Channel
from sandbox.network.hosts import HostError, Target, parse_target, shown
from sandbox.network.message import Framing, Request, Response
from sandbox.network.refusals import Refused, Unreachable, malformed
from sandbox.network.visit import Visit

HTTP_PORT = 80
Work = Coroutine[Any, Any, None]

_INTERIM = 8
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


async def read_request(visit: Visit) -> Request:
    """The next request head of the client. Raises Refused, or EOFError when the client says nothing."""
    async with visit.handshake():
        try:
            data = await visit.client.until(message.END, visit.caps.head, message.check_lines)
        except OverflowError:
            raise malformed(f"its head is longer than {visit.caps.head:,} bytes", rule="head", status=431) from None
    return message.parse_request(data)


def check_host(request: Request, target: Target, default_port: int) -> None:
    """Raises Refused unless the Host header names the target; a request of HTTP/1.0 may have none."""
    hosts = message.values(request.headers, "host")
    if len(hosts) > 1 or (not hosts and request.minor):
        raise malformed(f"it has {len(hosts) or 'no'} Host headers instead of one", rule="host")
    if not hosts:
        return
    try:
        matches = parse_target(hosts[0], default_port) == target
    except HostError:
        matches = False
    if not matches:
        raise Refused(
            "host", f"the Host header says {shown(hosts[0])}, the request is for {target}", "make them the same"
        )


async def exchange(visit: Visit, request: Request, target: Target, path: str, upstream: Channel) -> None:
    """Send the request on and bring back the answer. Raises Refused as long as no answer has begun."""
    body = message.framing(request.headers, request.minor)
    if body.length is None and not body.chunked:
        body = Framing(0 if request.method in ("POST", "PUT", "PATCH") else None)
    host = target.host if target.port == HTTP_PORT else str(target)
    headers = [("Host", host), *message.onward(request.headers)]
    head = message.encode(f"{request.method} {path} HTTP/1.1", headers, body)
    async with visit.transfer():
        visit.sent(len(head))
        await upstream.send(head)
        if not await until_answered(_upload(visit, request, body, upstream), _answer(visit, request, upstream)):
            await visit.client.linger()


async def until_answered(upload: Work, answer: Work) -> bool:
    """Both at once, until the answer is complete: a server may answer before it has heard everything.

    Returns whether the upload had come to its end by then.
    """
    tasks = sending, answering = asyncio.ensure_future(upload), asyncio.ensure_future(answer)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if sending.done() and not isinstance(sending.exception(), ConnectionError):
            sending.result()  # a server that has stopped listening says why in its answer
        await answering
        return sending.done()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _upload(visit: Visit, request: Request, body: Framing, upstream: Channel) -> None:
    if not body.chunked and not body.length:
        return
    if any(value.lower() == "100-continue" for value in message.values(request.headers, "expect")):
        await visit.client.send(_CONTINUE)
    await move(visit.client, upstream, body, visit.sent)


async def _answer(visit: Visit, request: Request, upstream: Channel) -> None:
    response = await _response(visit, upstream)
    body = _body(request, response)
    plain = body.chunked and request.minor == 0
    headers = message.onward(response.headers)
    head = message.encode(f"HTTP/1.1 {response.status} {response.reason}", headers, message.NO_BODY if plain else body)
    visit.received(len(head))
    visit.answer = silence
    await visit.client.send(head)
    if request.method != "HEAD" and response.status not in (204, 304):
        await move(upstream, visit.client, body, visit.received, plain=plain)


async def _response(visit: Visit, upstream: Channel) -> Response:
    """The final answer's head; interim ones are for this hop."""
    try:
        for _ in range(_INTERIM):
            response = message.parse_response(await upstream.until(message.END, visit.caps.head, message.check_lines))
            if response.status >= 200:
                return response
            if response.status == 101:
                break
    except Refused as error:
        raise Unreachable("answer", f"the answer is malformed: {error.reason}", status=502) from None
    except (EOFError, OSError):
        raise Unreachable("answer", "the server closed the connection without an answer", status=502) from None
    except OverflowError:
        raise Unreachable("answer", "the head of the answer is too long", status=502) from None
    raise Unreachable("answer", "the server did not give a final answer", status=502)


def _body(request: Request, response: Response) -> Framing:
    try:
        return message.framing(response.headers, response.minor)
    except Refused as error:
        raise Unreachable("answer", f"the answer is malformed: {error.reason}", status=502) from None


async def silence(_refused: Refused) -> None:
    """How a refusal is told when an answer has begun: by the connection's end."""
