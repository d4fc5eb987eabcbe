"""What the tests of the network share: a proxy on a socket, servers on this machine that it may dial, and clients."""

from __future__ import annotations

import asyncio
import atexit
import base64
import shutil
import ssl
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from sandbox.network import Allowed, Caps, ConnectionEvent, Proxy, Verdict
from sandbox.network.addresses import Address, refusal

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
HOST = "allowed.test"


def judge(address: Address) -> str:
    """The real table, but for the one address that the test servers have."""
    return "" if str(address) == "127.0.0.1" else refusal(address)


class Names:
    """A resolver. ``answers``: by name, one list of addresses a question, the last one for all later questions."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self.answers = {name.replace("_", "."): list(lists) for name, lists in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        lists = self.answers.get(host, [["127.0.0.1"]])
        return lists.pop(0) if len(lists) > 1 else lists[0]


@dataclass
class Site:
    """A proxy, the port its targets have, and what it has reported."""

    proxy: Proxy
    socket: Path
    port: int
    token: str
    names: Names
    events: list[ConnectionEvent]
    seen: list[bytes] = field(default_factory=list)

    @property
    def basic(self) -> bytes:
        return b"Proxy-Authorization: Basic " + base64.b64encode(f"agent:{self.token}".encode()) + b"\r\n"

    @property
    def netloc(self) -> bytes:
        return f"{HOST}:{self.port}".encode()

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_unix_connection(str(self.socket))

    async def ask(self, data: bytes) -> bytes:
        """Send ``data`` and read what comes until the end."""
        reader, writer = await self.connect()
        writer.write(data)
        try:
            return await asyncio.wait_for(reader.read(), 10)
        finally:
            writer.close()

    async def get(self, *headers: bytes, url: bytes = b"", host: bytes = b"", body: bytes = b"") -> bytes:
        """A plain request through the proxy, with the token."""
        lines = [b"GET " + (url or b"http://" + self.netloc + b"/page") + b" HTTP/1.1"]
        lines += [b"Host: " + (host or self.netloc), *headers]
        return await self.ask(b"\r\n".join(lines) + b"\r\n" + self.basic + b"\r\n" + body)

    async def tunnel(self, target: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]:
        """A CONNECT; the head of its answer comes third."""
        target = target or self.netloc
        reader, writer = await self.connect()
        writer.write(b"CONNECT " + target + b" HTTP/1.1\r\nHost: " + target + b"\r\n" + self.basic + b"\r\n")
        return reader, writer, await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)

    async def last(self, count: int = 1) -> ConnectionEvent:
        """The event that ends the ``count``-th connection, once it is there."""
        async with asyncio.timeout(10):
            while len(ends := [event for event in self.events if event.verdict is not Verdict.ALLOWED]) < count:
                await asyncio.sleep(0.005)
        return ends[count - 1]


@asynccontextmanager
async def site(
    handler: Handler | None = None,
    *,
    tls: ssl.SSLContext | None = None,
    names: Names | None = None,
    domains: tuple[str, ...] = (HOST, "*.allowed.test"),
    caps: Caps | None = None,
    ports: tuple[int, ...] | None = None,
    on_event: Callable[[ConnectionEvent], None] | None = None,
) -> AsyncIterator[Site]:
    """A target server with a proxy before it. Without ``handler`` the server answers each request with ``hello``."""
    seen: list[bytes] = []
    server = await asyncio.start_server(handler or _greeter(seen), "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    events: list[ConnectionEvent] = []
    names = names or Names()
    allowed = Allowed(domains, ports or (port,), caps or Caps())
    proxy = Proxy(allowed, on_event or events.append, resolver=names, judge=judge)
    with tempfile.TemporaryDirectory(prefix="net-", dir="/tmp") as folder:
        path = Path(folder) / "proxy"
        await proxy.start(path)
        try:
            yield Site(proxy, path, port, proxy.token("call_1"), names, events, seen)
        finally:
            await proxy.close()
            server.close()


def _greeter(seen: list[bytes]) -> Handler:
    """Answers a request with its own head and body as it came, kept in ``seen`` too."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            lower = head.lower()
            size = int(lower.split(b"content-length:")[1].split(b"\r\n")[0]) if b"content-length:" in lower else 0
            seen.append(head + await reader.readexactly(size))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nKeep-Alive: timeout=5\r\n\r\nhello")
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # a client that went away; what it asked is not in ``seen``
        finally:
            writer.close()

    return handler


@cache
def certificate() -> tuple[Path, Path]:
    """A certificate for the test host and its key, made once; skips by name where openssl is not there."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: no certificate for a TLS server can be made")
    folder = Path(tempfile.mkdtemp(prefix="net-tls-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    key, cert = folder / "key.pem", folder / "cert.pem"
    names = "subjectAltName=DNS:allowed.test,DNS:*.allowed.test"
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=allowed.test"
    command = [*make.split(), "-addext", names, "-keyout", str(key), "-out", str(cert)]
    subprocess.run(command, check=True, capture_output=True, timeout=20)
    return cert, key


def server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate())
    return context


def client_tls() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate()[0]))


def client_hello(name: str | None) -> bytes:
    """The first bytes a TLS client sends."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    outgoing = ssl.MemoryBIO()
    connection = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        connection.do_handshake()
    return outgoing.read()
