"""The proxy's HTTP side: CONNECT, and plain requests with the whole URL."""

from __future__ import annotations

import base64
import binascii

from sandbox.network import message
from sandbox.network.exchange import HTTP_PORT, check_host, exchange, read_request
from sandbox.network.message import Request
from sandbox.network.refusals import Refused, malformed
from sandbox.network.tunnel import carry
from sandbox.network.visit import Visit

_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


async def serve(visit: Visit) -> None:
    """One request of a client that speaks HTTP. Raises Refused."""
    request = await read_request(visit)
    visit.kind = "connect" if request.method == "CONNECT" else "http"
    visit.authenticate(_token(request))
    await (_connect if request.method == "CONNECT" else _plain)(visit, request)


async def _connect(visit: Visit, request: Request) -> None:
    target = visit.target(request.target)
    body = message.framing(request.headers, request.minor)
    if body.chunked or body.length:
        raise malformed("a CONNECT request has no body")
    check_host(request, target, default_port=target.port)
    async with visit.upstream(target) as upstream:
        await visit.client.send(_ESTABLISHED)
        await carry(visit, target, upstream)


async def _plain(visit: Visit, request: Request) -> None:
    scheme, colon, rest = request.target.partition("://")
    if not colon or scheme.lower() != "http":
        known = f"{scheme.lower()}:// is not taken" if colon else "it names no URL"
        raise Refused(
            "protocol", f"this is a proxy, and {known}", "http:// in a plain request, else CONNECT", status=400
        )
    cut = min((at for at in map(rest.find, "/?") if at >= 0), default=len(rest))
    authority, path = rest[:cut], rest[cut:]
    target = visit.target(authority, HTTP_PORT)
    if "#" in path:
        raise malformed("its URL has a fragment")
    message.framing(request.headers, request.minor)
    check_host(request, target, HTTP_PORT)
    path = path if path.startswith("/") else f"/{path}"
    async with visit.upstream(target) as upstream:
        await exchange(visit, request, target, path, upstream)


def _token(request: Request) -> str:
    """The password of Basic credentials; empty when there is none, or more than one."""
    given = message.values(request.headers, "proxy-authorization")
    scheme, _, encoded = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(encoded.strip(), validate=True).decode("latin-1").partition(":")[2]
    except binascii.Error:
        return ""
