"""Requests and answers that two programs could read in two ways: each is refused, and nothing of it gets out."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.network import Verdict, message
from sandbox.network.refusals import Refused
from tests.sandbox.network_kit import Handler, site

HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: allowed.test\r\n\r\n"

LINES = {
    "both lengths": [b"Content-Length: 5", b"Transfer-Encoding: chunked"],
    "two lengths": [b"Content-Length: 5", b"Content-Length: 6"],
    "the same length twice": [b"Content-Length: 5", b"Content-Length: 5"],
    "a list of lengths": [b"Content-Length: 5, 5"],
    "a signed length": [b"Content-Length: +5"],
    "a hexadecimal length": [b"Content-Length: 0x5"],
    "a length with a space": [b"Content-Length: 5 5"],
    "an empty length": [b"Content-Length:"],
    "an endless length": [b"Content-Length: " + b"9" * 40],
    "an unknown coding": [b"Transfer-Encoding: gzip, chunked"],
    "chunked twice": [b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"],
    "a disguised coding": [b"Transfer-Encoding: \x0bchunked"],
    "identity": [b"Transfer-Encoding: identity"],
    "a folded header": [b"X-A: 1", b" Transfer-Encoding: chunked"],
    "a space before the colon": [b"Transfer-Encoding : chunked"],
    "a bare LF": [b"X-A: 1\nTransfer-Encoding: chunked"],
    "a bare CR": [b"X-A: 1\rTransfer-Encoding: chunked"],
    "a NUL": [b"X-A: \x00"],
    "no colon": [b"X-A"],
    "no name": [b": 1"],
    "too many": [b"X-%d: 1" % number for number in range(200)],
}


@pytest.mark.parametrize("lines", LINES.values(), ids=LINES.keys())
async def test_a_head_that_can_be_read_in_two_ways(lines: list[bytes]) -> None:
    async with site() as at:
        answer = await at.get(*lines, body=b"0\r\n\r\n" + HIDDEN)
        assert answer.startswith((b"HTTP/1.1 400 request: ", b"HTTP/1.1 431 head: ")), answer
        assert (b"folded" in answer) == (lines == LINES["a folded header"])
        assert (await at.last()).verdict is Verdict.REFUSED
        assert at.seen == []


@pytest.mark.parametrize(
    "line",
    [
        b"GET  http://allowed.test/ HTTP/1.1",
        b"GET http://allowed.test/ HTTP/1.1 ",
        b" GET http://allowed.test/ HTTP/1.1",
        b"GET http://allowed.test/a b HTTP/1.1",
        b"GET http://allowed.test/\xff HTTP/1.1",
        b"GET http://allowed.test/#x HTTP/1.1",
        b"GET http://allowed.test/ HTTP/2.0",
        b"GET http://allowed.test/ HTTP/1.1\nHost: x",
        b"GET http://allowed.test/",
        b"G(T http://allowed.test/ HTTP/1.1",
        b"GET /path HTTP/1.1",
        b"GET ftp://allowed.test/ HTTP/1.1",
        b"GET https://allowed.test/ HTTP/1.1",
        b"GET http:/allowed.test/ HTTP/1.1",
        b"GET http://allowed.test\\@other.test/ HTTP/1.1",
        b"CONNECT allowed.test HTTP/1.1",
        b"CONNECT http://allowed.test:443 HTTP/1.1",
        b"PRI * HTTP/2.0",
        b"\x16\x03\x01\x00\x05hello",
    ],
)
async def test_a_request_line_that_is_none(line: bytes) -> None:
    async with site(ports=(80, 443)) as at:
        answer = await at.ask(line + b"\r\nHost: allowed.test\r\n" + at.basic + b"\r\n")
        assert answer[:13] in (b"HTTP/1.1 400 ", b"HTTP/1.1 505 "), answer
        assert at.seen == [] and at.names.asked == []


async def test_a_head_that_is_too_long_or_never_right_is_not_waited_for() -> None:
    async with site() as at:
        assert (await at.ask(b"GET http://allowed.test/" + b"a" * 100_000)).startswith(b"HTTP/1.1 431 head: ")
        assert (await at.ask(b"GET / HTTP/1.1\n\n")).startswith(b"HTTP/1.1 400 request: ")


async def test_what_follows_a_request_is_never_a_second_one() -> None:
    async with site() as at:
        assert (await at.get(body=HIDDEN)).count(b"HTTP/1.1") == 1
        assert (await at.get(b"Content-Length: 3", body=b"abc" + HIDDEN)).count(b"HTTP/1.1") == 1
        await at.last(2)
        assert len(at.seen) == 2 and not any(b"hidden" in seen for seen in at.seen)


def _keeps(bodies: list[bytes]) -> Handler:
    """A server that keeps the raw bytes of a chunked request up to its last chunk."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        try:
            bodies.append(await reader.readuntil(b"0\r\n\r\n"))
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            bodies.append(error.partial)
        writer.close()

    return handler


async def test_chunks_are_written_anew() -> None:
    bodies: list[bytes] = []
    async with site(_keeps(bodies)) as at:
        sent = b"0003;ext=1\r\nabc\r\n00A\r\n0123456789\r\n0\r\nX-Trailer: 1\r\n\r\n"
        assert (await at.get(b"Transfer-Encoding: Chunked", body=sent)).startswith(b"HTTP/1.1 204")
        assert bodies == [b"3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n"]


@pytest.mark.parametrize(
    "body",
    [
        b"3\nabc\r\n0\r\n\r\n",
        b"3\r\nabcd\r\n0\r\n\r\n",
        b"3\r\nabcXX0\r\n\r\n",
        b"+3\r\nabc\r\n",
        b"0x3\r\nabc\r\n",
        b"3 \r\nabc\r\n",
        b"\r\n\r\n",
        b"123456789\r\n",
        b"3;a\nb\r\nabc\r\n",
        b"g\r\n",
        b"1" * 5000,
        b"0\r\nX: 1\n\r\n",
        b"0\r\n" + b"X: 1\r\n" * 5000,
    ],
)
async def test_chunks_that_are_none(body: bytes) -> None:
    bodies: list[bytes] = []
    async with site(_keeps(bodies)) as at:
        answer = await at.get(b"Transfer-Encoding: chunked", body=body + HIDDEN)
        assert answer.startswith(b"HTTP/1.1 400 request: "), answer
        assert (await at.last()).verdict is Verdict.REFUSED
        async with asyncio.timeout(10):
            while not bodies:
                await asyncio.sleep(0.005)
        assert b"hidden" not in bodies[0] and not bodies[0].endswith(b"0\r\n\r\n")


def _says(data: bytes) -> Handler:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(data)
        await writer.drain()
        writer.close()

    return handler


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 smuggled\r\n\r\n", b"ok"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nrest", b"2\r\nok\r\n0\r\n\r\n"),
        (b"HTTP/1.0 200 OK\r\n\r\nall of it", b"all of it"),
        (b"HTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No\r\n\r\nrest", b""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\nrest", b""),
    ],
)
async def test_answers_end_where_they_say(said: bytes, heard: bytes) -> None:
    async with site(_says(said)) as at:
        head, _, body = (await at.get()).partition(b"\r\n\r\n")
        assert body == heard and head.endswith((b"chunked", b": close", b": 2", b": 9")) and b"Hints" not in head


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\nX: 1\n\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: 1\r\n" * 20_000,
        b"HTTP/1.1 100 Continue\r\n\r\n" * 20,
        b"HTTP/9.9 200 OK\r\n\r\n",
    ],
)
async def test_answers_that_are_none(said: bytes) -> None:
    async with site(_says(said)) as at:
        answer = await at.get()
        assert answer.startswith(b"HTTP/1.1 502 answer: "), answer
        assert (await at.last()).verdict is Verdict.FAILED


async def test_an_old_client_gets_chunks_as_plain_bytes() -> None:
    async with site(_says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")) as at:
        answer = await at.ask(b"GET http://" + at.netloc + b"/ HTTP/1.0\r\n" + at.basic + b"\r\n")
        assert answer.endswith(b"\r\n\r\nok") and b"chunked" not in answer


async def test_in_a_tunnel_a_request_stays_with_its_host() -> None:
    for line, host, status in (
        (b"GET / HTTP/1.1", None, b"200"),
        (b"GET / HTTP/1.1", b"other.test", b"403"),
        (b"GET http://other.test/ HTTP/1.1", None, b"400"),
        (b"CONNECT other.test:443 HTTP/1.1", None, b"400"),
        (b"CONNECT / HTTP/1.1", None, b"400"),
    ):
        async with site() as at:
            reader, writer, _ = await at.tunnel()
            writer.write(line + b"\r\nHost: " + (host or at.netloc) + b"\r\n\r\n" + HIDDEN)
            answer = await asyncio.wait_for(reader.read(), 10)
            writer.close()
            assert answer.startswith(b"HTTP/1.1 " + status), answer
            assert len(at.seen) == (status == b"200") and not any(b"hidden" in seen for seen in at.seen)


async def test_other_protocols_do_not_pass_a_tunnel() -> None:
    async with site() as at:
        reader, writer, _ = await at.tunnel()
        writer.write(b"\x00\x01\x02\x03")
        assert await asyncio.wait_for(reader.read(), 10) == b""
        writer.close()
        assert (await at.last()).rule == "protocol" and at.seen == []


@given(st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_any_head_is_understood_or_refused(data: bytes) -> None:
    for read in (message.parse_request, message.parse_response):
        try:
            head = read(b"GET / HTTP/1.1\r\n" + data + message.END)
        except Refused as refused:
            assert message.refusal(refused).isascii()
            continue
        written = message.encode("GET / HTTP/1.1", message.onward(head.headers))
        again = message.parse_request(written)
        assert message.onward(again.headers) == message.onward(head.headers)
