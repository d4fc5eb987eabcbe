"""What flows through a CONNECT or SOCKS5 tunnel: TLS for the host that was asked for, or one HTTP request for it."""

from __future__ import annotations

from sandbox.network import hello
from sandbox.network.channel import Channel, Count, together
from sandbox.network.exchange import HTTP_PORT, check_host, exchange, read_request, silence
from sandbox.network.hosts import Target
from sandbox.network.refusals import Refused, malformed
from sandbox.network.visit import Visit


async def carry(visit: Visit, target: Target, upstream: Channel) -> None:
    """Relay the tunnel to its end. Raises Refused for what may not flow through it."""
    visit.answer = silence
    async with visit.handshake():
        first = await visit.client.first()
    if first == hello.HANDSHAKE:
        await _tls(visit, target, upstream)
    elif chr(first).isascii() and chr(first).isalpha():
        await _http(visit, target, upstream)
    else:
        raise Refused("protocol", "a tunnel carries TLS or HTTP only", "use https:// or http://")


async def _tls(visit: Visit, target: Target, upstream: Channel) -> None:
    async def as_alert(refused: Refused) -> None:
        await visit.client.send(hello.alert(refused.rule))

    visit.answer = as_alert
    async with visit.handshake():
        greeting = await hello.read_hello(visit.client, target.host)
    visit.answer = silence
    async with visit.transfer():
        visit.sent(len(greeting))
        await upstream.send(greeting)
        await together(_oneway(visit.client, upstream, visit.sent), _oneway(upstream, visit.client, visit.received))


async def _oneway(source: Channel, sink: Channel, count: Count) -> None:
    await source.copy(sink, count)
    sink.end()


async def _http(visit: Visit, target: Target, upstream: Channel) -> None:
    visit.answer = visit.as_http
    request = await read_request(visit)
    if request.method == "CONNECT" or not (request.target.startswith("/") or request.target == "*"):
        raise malformed("inside a tunnel a request names a path")
    check_host(request, target, HTTP_PORT)
    await exchange(visit, request, target, request.target, upstream)
