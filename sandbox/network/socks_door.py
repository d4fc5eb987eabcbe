"""The proxy's SOCKS5 side (RFC 1928, 1929): CONNECT to a name, with the token as password. Nothing inbound, no UDP."""

from __future__ import annotations

from sandbox.network.hosts import Target
from sandbox.network.refusals import Refused
from sandbox.network.tunnel import carry
from sandbox.network.visit import Visit

VERSION = 5
_LOGIN_VERSION, _BY_PASSWORD, _NO_METHOD = 1, 2, 255
_CONNECT, _BIND = 1, 2
_IPV4, _NAME, _IPV6 = 1, 3, 4
_GRANTED, _FAILURE, _NOT_ALLOWED, _UNREACHABLE, _NO_COMMAND, _NO_ADDRESS_TYPE = 0, 1, 2, 4, 7, 8

_REPLIES = {400: _FAILURE, 502: _UNREACHABLE, 504: _UNREACHABLE}


async def serve(visit: Visit) -> None:
    """A client that speaks SOCKS5. Raises Refused."""
    visit.kind = "socks5"
    async with visit.handshake():
        await _login(visit)
        target = await _request(visit)
    async with visit.upstream(target) as upstream:
        await visit.client.send(_reply(_GRANTED))
        await carry(visit, target, upstream)


async def _login(visit: Visit) -> None:
    async def no_method(_refused: Refused) -> None:
        await visit.client.send(bytes((VERSION, _NO_METHOD)))

    async def no_entry(_refused: Refused) -> None:
        await visit.client.send(bytes((_LOGIN_VERSION, _FAILURE)))

    client = visit.client
    visit.answer = no_method
    _version, count = await client.exactly(2)
    if _BY_PASSWORD not in await client.exactly(count):
        raise Refused("token", "the client offers no password", "use the proxy address in ALL_PROXY as it is", 407)
    await client.send(bytes((VERSION, _BY_PASSWORD)))
    visit.answer = no_entry
    version, size = await client.exactly(2)
    await client.exactly(size)
    password = await client.exactly((await client.exactly(1))[0])
    if version != _LOGIN_VERSION:
        raise Refused("protocol", "the password comes in an unknown form", status=400)
    visit.authenticate(password.decode("latin-1"))
    await client.send(bytes((_LOGIN_VERSION, _GRANTED)))


async def _request(visit: Visit) -> Target:
    async def as_reply(refused: Refused) -> None:
        await visit.client.send(_reply(_code(refused)))

    client = visit.client
    visit.answer = as_reply
    version, command, _reserved, kind = await client.exactly(4)
    if version != VERSION:
        raise Refused("protocol", "that is no SOCKS5 request", status=400)
    host = await _host(visit, kind)
    port = int.from_bytes(await client.exactly(2))
    if command != _CONNECT:
        what = "nothing may connect inwards" if command == _BIND else "only TCP connections are made"
        raise Refused("command", what, "use an ordinary connection")
    return visit.target(f"{host}:{port}")


async def _host(visit: Visit, kind: int) -> str:
    """The host as text. An address is written in brackets, so that it is seen to be one."""
    client = visit.client
    if kind == _NAME:
        name = await client.exactly((await client.exactly(1))[0])
        try:
            return name.decode("utf-8")
        except UnicodeDecodeError:
            raise Refused("host", "the host is not written in UTF-8", status=400) from None
    if kind not in (_IPV4, _IPV6):
        raise Refused("address-type", "the kind of address is unknown", "send the host's name", status=400)
    packed = await client.exactly(4 if kind == _IPV4 else 16)
    return ".".join(map(str, packed)) if kind == _IPV4 else f"[{packed.hex(':', 2)}]"


def _reply(code: int) -> bytes:
    return bytes((VERSION, code, 0, _IPV4)) + bytes(6)


def _code(refused: Refused) -> int:
    by_rule = {"command": _NO_COMMAND, "address-type": _NO_ADDRESS_TYPE}
    return by_rule.get(refused.rule) or _REPLIES.get(refused.status, _NOT_ALLOWED)
