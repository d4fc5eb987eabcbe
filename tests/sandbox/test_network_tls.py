"""TLS through the proxy: the name in the greeting must be the one that was asked for, however it comes."""

from __future__ import annotations

import asyncio
import ssl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.network import Caps, Verdict, hello
from sandbox.network.refusals import Refused
from tests.sandbox.network_kit import HOST, Site, client_hello, client_tls, server_tls, site


async def fetch(at: Site, name: str, target: str = "") -> bytes:
    """A request in TLS for ``name`` through a tunnel to ``target``."""
    reader, writer, head = await at.tunnel(f"{target or name}:{at.port}".encode())
    assert head.startswith(b"HTTP/1.1 200"), head
    await writer.start_tls(client_tls(), server_hostname=name)
    writer.write(f"GET /secret HTTP/1.1\r\nHost: {name}\r\n\r\n".encode())
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return answer


async def test_tls_for_the_host_of_the_tunnel() -> None:
    async with site(tls=server_tls()) as at:
        assert (await fetch(at, HOST)).endswith(b"hello")
        assert (await fetch(at, "a.allowed.test")).endswith(b"hello")
        end = await at.last()
        assert (end.verdict, end.kind) == (Verdict.CLOSED, "connect") and end.bytes_up > 200 and end.bytes_down > 500


async def test_tls_for_another_host_does_not_pass() -> None:
    """Both hosts are on the list; still a tunnel is for the one it was made for."""
    async with site(tls=server_tls()) as at:
        with pytest.raises(ssl.SSLError, match=r"(?i)unrecognized.name"):
            await fetch(at, "a.allowed.test", target=HOST)
        end = await at.last()
        assert (end.verdict, end.rule) == (Verdict.REFUSED, "sni") and "a.allowed.test" in end.reason
        assert at.seen == [] and end.bytes == 0


async def send(greeting: bytes, pieces: int = 1) -> tuple[bytes, str]:
    """What a client hears that says ``greeting`` in a tunnel, and the rule that refused it."""
    async with site(tls=server_tls(), caps=Caps(handshake=5)) as at:
        reader, writer, _ = await at.tunnel()
        step = max(1, len(greeting) // pieces)
        for start in range(0, len(greeting), step):
            writer.write(greeting[start : start + step])
            await writer.drain()
            await asyncio.sleep(0)
        heard = await asyncio.wait_for(reader.readexactly(7), 10)
        writer.close()
        return heard, (await at.last()).rule


def record(data: bytes, kind: int = 22) -> bytes:
    return bytes((kind, 3, 1)) + len(data).to_bytes(2) + data


def in_records(greeting: bytes, size: int) -> bytes:
    """The same greeting in records of ``size`` bytes."""
    body = greeting[5:]
    return b"".join(record(body[start : start + size]) for start in range(0, len(body), size))


@pytest.mark.parametrize("size", [1, 3, 50, 10_000])
async def test_a_greeting_in_many_records(size: int) -> None:
    heard, _ = await send(in_records(client_hello(HOST), size), pieces=40)
    assert heard[0] == hello.HANDSHAKE  # the server's own
    heard, rule = await send(in_records(client_hello("other.test"), size), pieces=40)
    assert (heard, rule) == (hello.alert("sni"), "sni")


@pytest.mark.parametrize("name", [None, "127.0.0.1", "other.test", "allowed.test.evil.test", "notallowed.test", "test"])
async def test_a_greeting_with_no_or_another_name(name: str | None) -> None:
    assert await send(client_hello(name)) == (hello.alert("sni"), "sni")


def with_extension(greeting: bytes, number: int, data: bytes = b"") -> bytes:
    """The greeting with one more extension."""
    body = greeting[9:]
    at = 2 + 32
    at += 1 + body[at]
    at += 2 + int.from_bytes(body[at : at + 2])
    at += 1 + body[at]
    extensions = body[at + 2 :] + number.to_bytes(2) + len(data).to_bytes(2) + data
    body = body[:at] + len(extensions).to_bytes(2) + extensions
    return record(b"\x01" + len(body).to_bytes(3) + body)


async def test_a_greeting_that_hides_its_host() -> None:
    assert await send(with_extension(client_hello(HOST), 0xFE0D, bytes(20))) == (hello.alert("ech"), "ech")
    assert await send(with_extension(client_hello(HOST), 0xFFCE)) == (hello.alert("ech"), "ech")


def name_list(*names: bytes, kind: int = 0) -> bytes:
    listed = b"".join(bytes((kind,)) + len(name).to_bytes(2) + name for name in names)
    return len(listed).to_bytes(2) + listed


async def test_a_greeting_that_is_malformed() -> None:
    good, bare = client_hello(HOST), client_hello(None)
    for greeting in (
        with_extension(good, 0, name_list(b"other.test")),
        with_extension(bare, 0, name_list(HOST.encode(), b"other.test")),
        with_extension(bare, 0, name_list(HOST.encode(), kind=1)),
        with_extension(bare, 0, b"\x00\xff"),
        with_extension(bare, 0),
        record(good[5:] + b"\x01\x00\x00\x00"),
        record(good[5:60]) + record(b"\x02\x28", kind=21) + record(good[60:]),
        record(b""),
        record(b"\x02" + good[6:]),
        b"\x16\x02\x00\x00\x05hello",
        b"\x16\x03\x01\xff\xffhello",
        record(b"\x01\xff\xff\xff"),
        record(b"\x01\x00\x00\x04\x03\x03\x00\x00"),
    ):
        assert await send(greeting) == (hello.alert("tls"), "tls"), greeting
    assert (await send(with_extension(bare, 0, name_list(b"allowed.test\x00.other.test"))))[1] == "sni"
    assert (await send(with_extension(bare, 0, name_list("allowed。test".encode()))))[1] == "sni"


async def test_half_a_greeting_is_not_waited_for_long() -> None:
    async with site(tls=server_tls(), caps=Caps(handshake=0.05)) as at:
        reader, writer, _ = await at.tunnel()
        writer.write(client_hello(HOST)[:100])
        await asyncio.wait_for(reader.read(), 10)
        writer.close()
        end = await at.last()
        assert end.rule == "time" and end.bytes == 0


@given(st.binary(max_size=300), st.integers(0, 400), st.booleans())
@settings(max_examples=300, deadline=None)
def test_any_bytes_give_a_name_or_a_refusal(noise: bytes, at: int, insert: bool) -> None:
    body = client_hello(HOST)[9:]
    data = body[:at] + noise + body[at if insert else at + len(noise) :]
    try:
        assert isinstance(hello.server_name(data), bytes)
    except Refused as refused:
        assert refused.rule in ("sni", "tls", "ech")
