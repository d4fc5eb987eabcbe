"""SOCKS5 through the proxy: names only, with the token, outwards only."""

from __future__ import annotations

import asyncio

import pytest

from tests.sandbox.network_kit import Site, site


async def socks(at: Site, login: bytes, request: bytes) -> tuple[bytes, asyncio.StreamReader, asyncio.StreamWriter]:
    """Everything at once, as a pipelining client may; what comes back up to the reply."""
    reader, writer = await at.connect()
    writer.write(b"\x05\x02\x00\x02" + login + request)
    answer = await asyncio.wait_for(reader.readexactly(4), 10)
    try:
        answer += await asyncio.wait_for(reader.readexactly(10), 10)
    except asyncio.IncompleteReadError as error:
        answer += error.partial
    return answer, reader, writer


def password(token: str) -> bytes:
    return b"\x01\x05agent" + bytes((len(token),)) + token.encode()


def by_name(host: bytes, port: int, command: int = 1) -> bytes:
    return bytes((5, command, 0, 3, len(host))) + host + port.to_bytes(2)


async def test_socks_to_a_name() -> None:
    async with site() as at:
        answer, reader, writer = await socks(at, password(at.token), by_name(b"Allowed.test", at.port))
        assert answer == b"\x05\x02\x01\x00" + b"\x05\x00\x00\x01" + bytes(6)
        writer.write(b"GET / HTTP/1.1\r\nHost: " + at.netloc + b"\r\n\r\n")
        assert (await asyncio.wait_for(reader.read(), 10)).endswith(b"hello")
        writer.close()
        assert (await at.last()).kind == "socks5"


@pytest.mark.parametrize(
    ("request_", "code", "rule"),
    [
        (by_name(b"other.test", 80), 2, "domain"),
        (by_name(b"allowed.test", 22), 2, "port"),
        (by_name(b"127.1", 80), 2, "address"),
        (by_name(b"a\xff", 80), 1, "host"),
        (b"\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50", 2, "address"),
        (b"\x05\x01\x00\x04" + bytes(15) + b"\x01\x00\x50", 2, "address"),
        (b"\x05\x01\x00\x09", 8, "address-type"),
        (by_name(b"allowed.test", 80, command=2), 7, "command"),
        (by_name(b"allowed.test", 80, command=3), 7, "command"),
    ],
)
async def test_what_socks_does_not_do(request_: bytes, code: int, rule: str) -> None:
    async with site() as at:
        answer, _, writer = await socks(at, password(at.token), request_)
        writer.close()
        assert answer[4:6] == bytes((5, code)) and (await at.last()).rule == rule


async def test_socks_wants_the_token() -> None:
    async with site() as at:
        answer, _, writer = await socks(at, password("0" * 48), by_name(b"allowed.test", at.port))
        writer.close()
        assert answer == b"\x05\x02\x01\x01" and (await at.last()).rule == "token"
        assert await at.ask(b"\x05\x01\x00") == b"\x05\xff"
        assert (await at.ask(b"\x04\x01\x00\x50\x7f\x00\x00\x01\x00\r\n\r\n")).startswith(b"HTTP/1.1 400")
