"""The name in a TLS ClientHello (RFC 8446 and 6066), which must be the one that was asked for.

The greeting is read whole, over as many records and packets as it comes in, before a byte of it goes out. What is
inside the encrypted connection afterwards is not seen.
"""

from __future__ import annotations

from sandbox.network.channel import Channel
from sandbox.network.hosts import HostError, parse_host, shown
from sandbox.network.refusals import Refused

HANDSHAKE = 22
_ALERT = 21
_CLIENT_HELLO = 1
_MAX_RECORD = 2**14
_MAX_HELLO = 64 * 1024
_SERVER_NAME = 0
_ENCRYPTED = {0xFE0D: "ECH", 0xFFCE: "ESNI"}
_ADVICE = "connect with plain TLS to the host you asked the proxy for"

# Fatal alerts (RFC 8446, 6.2), so that a TLS library says more than "connection closed".
_ACCESS_DENIED, _DECODE_ERROR, _UNRECOGNIZED_NAME = 49, 50, 112
_ALERTS = {"sni": _UNRECOGNIZED_NAME, "tls": _DECODE_ERROR}


async def read_hello(client: Channel, host: str) -> bytes:
    """The records of the ClientHello as they came. Raises Refused unless it names ``host`` and hides nothing."""
    raw, message, needed = bytearray(), bytearray(), 4
    while len(message) < needed:
        header = await client.exactly(5)
        size = int.from_bytes(header[3:])
        if header[0] != HANDSHAKE or header[1] != 3 or not 0 < size <= _MAX_RECORD:
            raise _broken("a record of it is not one of a TLS handshake")
        fragment = await client.exactly(size)
        raw += header + fragment
        message += fragment
        if len(message) >= 4:
            needed = 4 + int.from_bytes(message[1:4])
            if message[0] != _CLIENT_HELLO or needed > _MAX_HELLO:
                raise _broken("it is no ClientHello, or far too long")
    check_name(server_name(bytes(message[4:])), host)
    return bytes(raw)


def server_name(body: bytes) -> bytes:
    """The name in a ClientHello's body. Raises Refused when there is none, more than one, or a hidden one; and when
    the body does not end where its lengths say, so that nothing comes after it in its record."""
    try:
        found = _extensions(body)
        for number, what in _ENCRYPTED.items():
            if number in found:
                raise Refused("ech", f"the TLS greeting hides the host it is for ({what})", f"switch {what} off")
        if _SERVER_NAME not in found:
            raise Refused("sni", "the TLS greeting names no host (no SNI)", _ADVICE)
        names = _Reader(found[_SERVER_NAME]).vector(2)
        kind, name = names.number(1), names.vector(2)
        names.end()
    except IndexError:
        raise _broken("its lengths do not add up") from None
    if kind != 0:
        raise _broken("its name is of an unknown kind")
    return name.rest()


def check_name(name: bytes, host: str) -> None:
    """Raises Refused unless ``name`` is ``host``."""
    text = name.decode("latin-1")
    try:
        matches = text.isascii() and parse_host(text) == host
    except HostError:
        matches = False
    if not matches:
        raise Refused("sni", f"the TLS greeting is for {shown(text)}, the connection for {host}", _ADVICE)


def alert(rule: str) -> bytes:
    """A fatal TLS alert for a refused greeting."""
    return bytes((_ALERT, 3, 3, 0, 2, 2, _ALERTS.get(rule, _ACCESS_DENIED)))


def _extensions(body: bytes) -> dict[int, bytes]:
    hello = _Reader(body)
    hello.take(2 + 32)  # version, random
    hello.vector(1)  # session id
    hello.vector(2)  # cipher suites
    hello.vector(1)  # compression methods
    if not hello.rest():
        return {}
    listed = hello.vector(2)
    hello.end()
    found: dict[int, bytes] = {}
    while listed.rest():
        number, data = listed.number(2), listed.vector(2)
        if number in found:
            raise _broken("an extension comes twice")
        found[number] = data.rest()
    return found


class _Reader:
    """Reads numbers and length-prefixed parts off bytes. Raises IndexError when there are too few, or too many."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def take(self, size: int) -> bytes:
        if len(self._data) < size:
            raise IndexError
        part, self._data = self._data[:size], self._data[size:]
        return part

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size))

    def vector(self, size: int) -> _Reader:
        return _Reader(self.take(self.number(size)))

    def rest(self) -> bytes:
        return self._data

    def end(self) -> None:
        if self._data:
            raise IndexError


def _broken(reason: str) -> Refused:
    return Refused("tls", f"the TLS greeting is malformed: {reason}", _ADVICE)
