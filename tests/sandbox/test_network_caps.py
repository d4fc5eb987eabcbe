"""How much a call may use: requests, bytes, connections and time, and what happens at each limit."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from sandbox.network import Caps, Verdict, splice
from sandbox.network.accounts import Credit
from sandbox.network.exchange import until_answered
from tests.sandbox.network_kit import site


async def test_caps_of_a_call() -> None:
    for caps, rule in (
        (Caps(requests=1), "requests"),
        (Caps(requests_per_minute=1), "requests_per_minute"),
        (Caps(bytes_up=300), "bytes_up"),
    ):
        async with site(caps=caps) as at:
            assert (await at.get()).endswith(b"hello")
            answer = await at.get(b"X-Long: " + b"x" * 300)
            assert answer.startswith(f"HTTP/1.1 429 {rule}: ".encode()), answer
            assert len(at.seen) == 1 and (await at.last(2)).rule == rule
            at.token = at.proxy.token("another")
            assert not (await at.get()).startswith(b"HTTP/1.1 429 requests")


async def test_a_cap_on_what_comes_down_cuts_the_answer() -> None:
    async def flood(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1_000_000)
        writer.close()

    async with site(flood, caps=Caps(bytes_down=100_000)) as at:
        assert len(await at.get()) < 110_000
        end = await at.last()
        assert (end.verdict, end.rule) == (Verdict.REFUSED, "bytes_down") and end.bytes_down <= 100_000


@pytest.mark.parametrize("spliced", [True, False])
async def test_a_long_transfer_arrives_whole_and_its_cap_holds(spliced: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.network.channel.AVAILABLE", spliced and splice.AVAILABLE)
    content = random.Random(7).randbytes(3_000_000)

    async def long(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(content) + content + b"more")
        writer.close()

    async with site(long, caps=Caps(bytes_down=5_000_000)) as at:
        assert (await at.get()).partition(b"\r\n\r\n")[2] == content
        end = await at.last()
        assert end.verdict is Verdict.CLOSED and len(content) < end.bytes_down < len(content) + 200
        rest = (await at.get()).partition(b"\r\n\r\n")[2]
        assert content.startswith(rest) and len(rest) < 2_000_000
        assert (await at.last(2)).rule == "bytes_down"
        descriptors = len(list(Path("/proc/self/fd").iterdir()))
        at.token = at.proxy.token("another")
        assert len(await at.get()) > len(content)
        await at.last(3)
        async with asyncio.timeout(10):
            while len(list(Path("/proc/self/fd").iterdir())) > descriptors:
                await asyncio.sleep(0.005)


async def test_an_answer_before_the_whole_request_was_heard() -> None:
    async def full(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
        await writer.drain()
        await reader.read()
        writer.close()

    async with site(full) as at:
        answer = await at.get(b"Content-Length: 10000000", body=bytes(4_000_000))
        assert answer.startswith(b"HTTP/1.1 413 ") and answer.endswith(b"big")

    async def cut_off() -> None:
        raise ConnectionResetError

    async def answer_later() -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    assert await until_answered(cut_off(), answer_later()) is True
    assert await until_answered(asyncio.sleep(60), answer_later()) is False
    with pytest.raises(EOFError):
        await until_answered(_ends_early(), asyncio.sleep(60))


async def _ends_early() -> None:
    raise EOFError


async def test_open_connections_are_capped() -> None:
    async with site(caps=Caps(connections=1)) as at:
        _, writer, _ = await at.tunnel()
        assert (await at.get()).startswith(b"HTTP/1.1 429 connections: ")
        writer.close()
        await at.last(2)
        assert (await at.get()).endswith(b"hello")


async def test_time_outs() -> None:
    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with site(mute, caps=Caps(handshake=0.05)) as at:
        assert (await at.ask(b"GET http://")).startswith(b"HTTP/1.1 408 time: ")
    async with site(mute, caps=Caps(idle=0.05)) as at:
        assert (await at.get()).startswith(b"HTTP/1.1 504 time: nothing came for 0.05 s")
        end = await at.last()
        assert (end.verdict, end.rule) == (Verdict.REFUSED, "time")
    async with site(mute, caps=Caps(handshake=0.3)) as at:
        reader, writer, head = await at.tunnel()
        assert head.startswith(b"HTTP/1.1 200") and await asyncio.wait_for(reader.read(), 10) == b""
        writer.close()
    async with site(mute, caps=Caps(lifetime=0.05)) as at:
        assert b"may last" in await at.get()

    async def slow(_host: str) -> list[str]:
        await asyncio.Event().wait()
        return []

    async with site(caps=Caps(connect=0.05), names=slow) as at:  # type: ignore[arg-type]
        assert (await at.get()).startswith(b"HTTP/1.1 504 time: ")


async def test_a_flood_of_refusals_is_slowed_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.network.proxy._REFUSALS_PER_MINUTE", 3)
    async with site() as at:
        for _ in range(3):
            assert (await at.ask(b"nonsense\r\n\r\n")).startswith(b"HTTP/1.1 400")
        reader, writer = await at.connect()
        writer.write(b"nonsense\r\n\r\n")
        assert (await at.get()).endswith(b"hello")  # others are not held up
        assert not reader.at_eof() and len([e for e in at.events if e.verdict is Verdict.REFUSED]) == 3
        await at.proxy.close()
        assert len([e for e in at.events if e.verdict is Verdict.REFUSED]) == 4  # late, but never lost
        writer.close()


def test_credit_comes_back_with_time() -> None:
    now = 0.0
    credit = Credit(60, lambda: now)
    assert [credit.spend() for _ in range(61)] == [True] * 60 + [False]
    now = 1.5
    assert credit.spend() and not credit.spend() and credit.borrow() == 0.5
    now = 1000.0
    assert [credit.borrow() for _ in range(62)] == [0.0] * 60 + [1.0, 2.0]
