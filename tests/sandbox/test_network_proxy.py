"""The proxy by real sockets: what gets out, what does not, and what is said and recorded about it."""

from __future__ import annotations

import asyncio
import socket
import stat

import pytest

from sandbox.network import ConnectionEvent, Proxy, Verdict
from sandbox.network.dial import dial, resolve, system_resolver
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


async def test_what_cannot_be_recorded_does_not_get_out() -> None:
    def full(event: ConnectionEvent) -> None:
        if event.verdict is Verdict.ALLOWED:
            raise OSError("no space left on the disk")

    async with site(on_event=full) as at:
        answer = await at.get()
        assert answer.startswith(b"HTTP/1.1 403 record: ") and b"no space left" in answer
        assert at.seen == []


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
