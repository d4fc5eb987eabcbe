"""The proxy by real sockets: what gets out, what does not, and what is said and recorded about it."""

from __future__ import annotations

import asyncio
import random
import socket
import stat
from pathlib import Path

import pytest

from sandbox.network import Caps, ConnectionEvent, Proxy, Verdict, splice
from sandbox.network.accounts import Credit
from sandbox.network.dial import dial, resolve, system_resolver
from sandbox.network.exchange import until_answered
from sandbox.network.hosts import Target
from sandbox.network.refusals import Refused
from tests.sandbox.network_kit import HOST, Names, Site, site


async def refused(at: Site, answer: bytes, status: int, rule: str, said: str = "") -> ConnectionEvent:
    """The client was told the status, the rule and what to do; the record has it too; nothing reached the server."""
    event = await at.last()
    assert answer.startswith(f"HTTP/1.1 {status} {rule}: ".encode()), answer
    assert said.encode() in answer
    assert event.rule == rule and event.reason and event.verdict in (Verdict.REFUSED, Verdict.FAILED)
    assert at.seen == []
    return event


async def test_a_plain_request_gets_out_and_is_recorded() -> None:
    async with site() as at:
        answer = await at.get(b"Accept: text/plain", url=b"http://" + at.netloc + b"/a?b=c")
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n") and answer.endswith(b"\r\n\r\nhello")
        assert at.seen[0].startswith(b"GET /a?b=c HTTP/1.1\r\nHost: " + at.netloc + b"\r\nAccept: text/plain\r\n")
        end = await at.last()
        first = at.events[0]
        assert (first.verdict, first.bytes, first.call, first.kind) == (Verdict.ALLOWED, 0, "call_1", "http")
        assert (end.verdict, end.number) == (Verdict.CLOSED, first.number)
        assert (end.host, end.port, end.address) == (HOST, at.port, "127.0.0.1")
        assert end.bytes_down >= len(b"hello") and end.bytes_up > 40 and end.seconds > 0


async def test_a_body_arrives_as_it_was_sent() -> None:
    async with site() as at:
        head = b"POST http://" + at.netloc + b"/ HTTP/1.1\r\nHost: " + at.netloc + b"\r\n" + at.basic
        body = bytes(range(256)) * 2000
        answer = await at.ask(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert answer.endswith(b"hello") and at.seen[0].endswith(body)
        answer = await at.ask(head + b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\nok")
        assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")
        assert b"Expect" not in at.seen[1]


async def test_headers_for_one_hop_stay_here_and_the_token_too() -> None:
    async with site() as at:
        hop = [b"Connection: X-Private, keep-alive", b"X-Private: 1", b"Keep-Alive: 5", b"Upgrade: websocket"]
        answer = await at.get(*hop, b"Proxy-Connection: keep-alive", b"TE: trailers", b"X-Public: 2")
        sent = at.seen[0].lower()
        for name in (b"x-private", b"keep-alive", b"upgrade", b"proxy-", b"te:", at.token.encode()):
            assert name not in sent, name
        assert b"x-public: 2\r\nconnection: close\r\n" in sent
        assert b"Keep-Alive" not in answer and b"Connection: close\r\n" in answer


@pytest.mark.parametrize(
    "host",
    ["other.test", "notallowed.test", "allowed.test.evil.test", "x.other.test", "test", "xn--llowed-cua.test"],
)
async def test_a_host_off_the_list(host: str) -> None:
    async with site() as at:
        netloc = f"{host}:{at.port}".encode()
        answer = await at.get(url=b"http://" + netloc + b"/", host=netloc)
        event = await refused(at, answer, 403, "domain", "allowed.test")
        assert event.host == host and at.names.asked == []


@pytest.mark.parametrize("host", ["ALLOWED.test", "allowed.test.", "A.B.allowed.Test"])
async def test_spellings_of_a_host_on_the_list(host: str) -> None:
    async with site() as at:
        netloc = f"{host}:{at.port}".encode()
        assert (await at.get(url=b"http://" + netloc + b"/", host=netloc)).endswith(b"hello")
        assert at.names.asked == [host.lower().rstrip(".")]


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.1", "0x7f.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "1.1.1.1"]
)
async def test_an_address_is_no_host_even_where_it_could_be_dialled(host: str) -> None:
    async with site() as at:
        netloc = f"{host}:{at.port}".encode()
        await refused(at, await at.get(url=b"http://" + netloc + b"/", host=netloc), 403, "address", "names")
        _, writer, head = await at.tunnel(netloc)
        writer.close()
        assert head.startswith(b"HTTP/1.1 403 address")


@pytest.mark.parametrize(
    "host", ["allowed%2etest", "allowed.test%00", "user@allowed.test", "user:pw@allowed.test", "a..b", ""]
)
async def test_a_host_that_is_none(host: str) -> None:
    async with site() as at:
        answer = await at.get(url=f"http://{host}/".encode(), host=b"allowed.test")
        assert answer.startswith(b"HTTP/1.1 400 host: ")
        assert at.seen == []


async def test_a_port_off_the_list() -> None:
    async with site(ports=(443,)) as at:
        await refused(at, await at.get(), 403, "port", "allowed: 443")


async def test_the_host_header_must_say_the_same() -> None:
    async with site() as at:
        for host in (b"other.test", HOST.encode(), b"sub." + at.netloc, b"127.0.0.1"):
            answer = await at.get(host=host)
            assert answer.startswith(b"HTTP/1.1 403 host: "), answer
        two = await at.get(b"Host: other.test")
        assert two.startswith(b"HTTP/1.1 400 host: ")
        none = await at.ask(b"GET http://" + at.netloc + b"/ HTTP/1.1\r\n" + at.basic + b"\r\n")
        assert none.startswith(b"HTTP/1.1 400 host: ")
        connect = b"CONNECT " + at.netloc + b" HTTP/1.1\r\nHost: other.test\r\n" + at.basic + b"\r\n"
        assert (await at.ask(connect)).startswith(b"HTTP/1.1 403 host: ")
        assert at.seen == [] and at.names.asked == []


@pytest.mark.parametrize(
    "answers",
    [
        ["10.0.0.1"],
        ["127.0.0.1", "10.0.0.1"],
        ["127.0.0.1", "::1"],
        ["127.0.0.1", "::ffff:127.0.0.1"],
        ["169.254.169.254"],
    ],
)
async def test_one_address_that_may_not_be_dialled_refuses_the_name(answers: list[str]) -> None:
    async with site(names=Names(allowed_test=[answers])) as at:
        event = await refused(at, await at.get(), 403, "address", "public addresses")
        assert event.address == ""


async def test_a_name_that_changes_its_address_after_the_check() -> None:
    """Rebinding: the address that was checked is the one that is dialled; the second answer is never asked for."""
    async with site(names=Names(allowed_test=[["127.0.0.1"], ["10.0.0.1"]])) as at:
        assert (await at.get()).endswith(b"hello")
        assert at.names.asked == [HOST]
        assert (await at.get()).startswith(b"HTTP/1.1 403 address: ")


async def test_names_that_are_not_there_and_servers_that_do_not_answer() -> None:
    async def lost(_host: str) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with pytest.raises(Refused, match="not known"):
        await resolve("nowhere.test", lost)
    for answer in ([], ["nonsense"], ["8.8.8.8"] * 100):
        with pytest.raises(Refused, match="dns"):
            await resolve("odd.test", Names(odd_test=[answer]))
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    async with site(ports=(port,)) as at:
        at.port = port
        assert (await refused(at, await at.get(), 502, "connect")).verdict is Verdict.FAILED


async def test_this_machine_is_not_reached_by_its_own_address() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("198.51.100.1", 9))
        except OSError:
            pytest.skip("this machine has no network address of its own")
        own = probe.getsockname()[0]
    addresses = await resolve("own.test", Names(own_test=[[own]]), judge=lambda _address: "")
    with pytest.raises(Refused, match="this machine"):
        await dial(Target("own.test", 80), addresses)


async def test_the_system_resolver_knows_no_search_domains(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def getaddrinfo(host: str, *_rest: object, **_options: object) -> list[tuple[object, ...]]:
        asked.append(host)
        return [(2, 1, 6, "", ("8.8.8.8", 0)), (2, 1, 6, "", ("8.8.8.8", 0)), (10, 1, 6, "", ("2600::1", 0, 0, 0))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    assert await system_resolver("example.com") == ["8.8.8.8", "2600::1"]
    assert asked == ["example.com."]


async def test_without_the_token_nothing_is_even_looked_at() -> None:
    async with site() as at:
        good = at.token
        for token in ("", "0" * 48, good[:-1], good + "0", good.upper() + "x"):
            at.token = token
            answer = await at.get()
            assert answer.startswith(b"HTTP/1.1 407 token: ") and b"Proxy-Authenticate: Basic" in answer
        for header in (b"", b"Proxy-Authorization: Bearer x\r\n", b"Proxy-Authorization: Basic ???\r\n"):
            request = b"GET http://" + at.netloc + b"/ HTTP/1.1\r\nHost: " + at.netloc + b"\r\n" + header + b"\r\n"
            assert (await at.ask(request)).startswith(b"HTTP/1.1 407")
        assert at.seen == [] and at.names.asked == []
        assert {event.call for event in at.events} == {""}


async def test_a_token_ends_with_its_call_and_takes_its_connections_along() -> None:
    async with site() as at:
        reader, writer, head = await at.tunnel()
        assert head.startswith(b"HTTP/1.1 200")
        other = at.proxy.token("call_2")
        await at.proxy.revoke(at.token)
        assert await asyncio.wait_for(reader.read(), 10) == b""
        writer.close()
        assert (await at.last()).reason == "the call ended"
        assert (await at.get()).startswith(b"HTTP/1.1 407")
        at.token = other
        assert (await at.get()).endswith(b"hello")
        assert (await at.last(3)).call == "call_2"


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


async def test_what_cannot_be_recorded_does_not_get_out() -> None:
    def full(event: ConnectionEvent) -> None:
        if event.verdict is Verdict.ALLOWED:
            raise OSError("no space left on the disk")

    async with site(on_event=full) as at:
        answer = await at.get()
        assert answer.startswith(b"HTTP/1.1 403 record: ") and b"no space left" in answer
        assert at.seen == []


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


async def test_a_client_that_says_nothing_leaves_no_event() -> None:
    async with site() as at:
        for data in (b"", b"\x05", b"GET "):
            _, writer = await at.connect()
            writer.write(data)
            writer.close()
        await at.get()
        await at.last()
        assert {event.kind for event in at.events} == {"http"} and len(at.events) == 2


async def test_the_socket_is_for_this_user_and_goes_with_the_proxy() -> None:
    async with site() as at:
        assert stat.S_IMODE(at.socket.stat().st_mode) == 0o600
        with pytest.raises(OSError, match="cannot listen"):
            await Proxy(at.proxy._rules.allowed).start(at.socket)
        _, writer, _ = await at.tunnel()
        await asyncio.wait_for(at.proxy.close(), 10)
        assert not at.socket.exists() and (await at.last()).reason == "the call ended"
        writer.close()


async def test_many_at_once_do_not_mix() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1]
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (len(path) * 5000) + path * 5000)
        await writer.drain()
        writer.close()

    async with site(echo) as at:
        paths = [b"/%d" % number for number in range(40)]
        answers = await asyncio.gather(*(at.get(url=b"http://" + at.netloc + path) for path in paths))
        assert all(answer.endswith(b"\r\n\r\n" + path * 5000) for answer, path in zip(answers, paths, strict=True))
        assert len({event.number for event in at.events}) == 40
