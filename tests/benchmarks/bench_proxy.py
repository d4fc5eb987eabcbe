"""A large download through the sandbox's network proxy against the same download straight from the server."""

from __future__ import annotations

import asyncio
import base64
import multiprocessing
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from sandbox.network import Allowed, Caps, Proxy
from tests.benchmarks.harness import interleaved, medians, ratio, timed

NAME = "proxy"
TARGET = "a download through the proxy ≥ 0.5 × the speed of a direct loopback download, plain and in a tunnel"

SIZE = 256 * 1024 * 1024
ROUNDS = 7
HOST = "download.test"
_SPAWN = multiprocessing.get_context("spawn")


def run() -> dict[str, float | str]:
    """Speeds as parts of the direct one, and MB a second for orientation. Client, proxy and server are processes."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp") as folder, _server() as port:
        path = Path(folder) / "proxy"
        with _proxy(path, port) as token:
            login = base64.b64encode(f"agent:{token}".encode()).decode()
            ways = {
                "direct": lambda: _download(_tcp(port), _request("/", port)),
                "plain": lambda: _download(_unix(path), _request(f"http://{HOST}:{port}/", port, login)),
                "tunnel": lambda: _download(_tunnel(path, port, login), _request("/", port)),
            }
            measured = interleaved({name: _seconds(way) for name, way in ways.items()}, rounds=ROUNDS)
    found: dict[str, float | str] = {
        f"{name} speed ratio": 1 / ratio(measured, name, "direct") for name in ("plain", "tunnel")
    }
    return found | {f"{name} MB/s": SIZE / 1e6 / seconds for name, seconds in medians(measured).items()}


def _seconds(way: Callable[[], None]) -> Callable[[], float]:
    return lambda: timed(way)


def _request(url: str, port: int, login: str = "") -> bytes:
    proof = f"Proxy-Authorization: Basic {login}\r\n" if login else ""
    return f"GET {url} HTTP/1.1\r\nHost: {HOST}:{port}\r\n{proof}\r\n".encode()


def _tcp(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port))


def _unix(path: Path) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    client.connect(str(path))
    return client


def _tunnel(path: Path, port: int, login: str) -> socket.socket:
    client = _unix(path)
    target = f"{HOST}:{port}"
    client.sendall(
        f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\nProxy-Authorization: Basic {login}\r\n\r\n".encode()
    )
    if not client.recv(4096).startswith(b"HTTP/1.1 200"):
        raise RuntimeError("the proxy made no tunnel")
    return client


def _download(client: socket.socket, request: bytes) -> None:
    """Read the whole answer into one buffer, over and over."""
    buffer, total = bytearray(256 * 1024), 0
    with client:
        client.sendall(request)
        while read := client.recv_into(buffer):
            total += read
    if total < SIZE:
        raise RuntimeError(f"the download ended after {total:,} bytes")


@contextmanager
def _process(work: Callable[..., None], *args: Any) -> Iterator[Any]:
    """A process that runs ``work(pipe, stop, *args)``; the first thing it sends. It ends when ``stop`` is set."""
    here, there = _SPAWN.Pipe()
    stop = _SPAWN.Event()
    process = _SPAWN.Process(target=work, args=(there, stop, *args), daemon=True)
    process.start()
    try:
        if not here.poll(30):
            raise RuntimeError("a part of the benchmark did not start")
        yield here.recv()
    finally:
        stop.set()
        process.join(5)
        process.kill()


def _server() -> Any:
    return _process(_serve)


def _serve(pipe: Any, stop: Event) -> None:
    """Answers every connection with the same bytes, one after the other."""
    payload = memoryview(bytes(1024 * 1024))
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % SIZE
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        pipe.send(listener.getsockname()[1])
        while not stop.is_set():
            try:
                client, _ = listener.accept()
            except TimeoutError:
                continue
            with client:
                client.settimeout(30)
                client.recv(65536)
                client.sendall(head)
                for _ in range(SIZE // len(payload)):
                    client.sendall(payload)


def _proxy(path: Path, port: int) -> Any:
    return _process(_relay, path, port)


def _relay(pipe: Any, stop: Event, path: Path, port: int) -> None:
    """A proxy like the app's, but that it may dial this machine."""

    async def here(_host: str) -> Sequence[str]:
        return ["127.0.0.1"]

    async def serve() -> None:
        caps = Caps(bytes_down=SIZE * 1000)
        proxy = Proxy(Allowed((HOST,), (port,), caps), resolver=here, judge=lambda _address: "")
        await proxy.start(path)
        pipe.send(proxy.token())
        await asyncio.to_thread(stop.wait)
        await proxy.close()

    asyncio.run(serve())
