"""The way out of a sandbox whose network is an allow-list: a proxy of its own, on a socket that is bound into it."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sandbox.network.allowed import Allowed
from sandbox.network.events import ConnectionEvent, OnEvent
from sandbox.network.proxy import Proxy
from sandbox.policy import Network, Policy

T = TypeVar("T")


def unheard(_event: ConnectionEvent) -> None:
    """Where connections are told when nobody records them."""


@dataclass(frozen=True, slots=True)
class Way:
    """What one call needs: the proxy's socket on the host, and the token that opens it for this call. reached: hosts
    it has reached so far; grows while the call runs."""

    socket: Path
    token: str
    reached: Sequence[str] = ()


class WayOut:
    """The ways of one sandbox's calls. The proxy starts with the first of them, on the loop that asks for it.

    on_connection: told every decision; when it raises, nothing is let out.
    """

    def __init__(self, policy: Policy, on_connection: OnEvent = unheard) -> None:
        self._policy = policy
        self._on_connection = on_connection
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._proxy: Proxy | None = None
        self._starting = asyncio.Lock()
        self._revoking: set[asyncio.Task[None]] = set()

    async def open(self, call: str) -> Way | None:
        """A way for one call; None when the policy has no allow-list.

        Raises OSError when the proxy cannot listen, ValueError when the allow-list cannot be used.
        """
        if self._policy.network is not Network.ALLOW:
            return None
        async with self._starting:
            proxy = self._proxy or await self._start()
        assert self._folder is not None
        token = proxy.token(call)
        return Way(_socket(self._folder), token, proxy.reached(token))

    async def _start(self) -> Proxy:
        proxy = Proxy(Allowed(self._policy.domains, self._policy.ports), self._on_connection)
        folder = tempfile.TemporaryDirectory(prefix="agent-tui-net-")
        try:
            await proxy.start(_socket(folder))
        except BaseException:
            folder.cleanup()
            raise
        self._folder, self._proxy = folder, proxy
        return proxy

    def shut(self, way: Way | None) -> None:
        """The call has ended: its connections are cut and its token opens nothing any more."""
        if way is not None and self._proxy is not None:
            task = asyncio.get_running_loop().create_task(self._proxy.revoke(way.token))
            self._revoking.add(task)
            task.add_done_callback(self._revoking.discard)

    async def close(self) -> None:
        """Cut everything; the next `open` starts anew."""
        proxy, folder, self._proxy, self._folder = self._proxy, self._folder, None, None
        await asyncio.gather(*self._revoking, return_exceptions=True)
        if proxy is not None:
            await proxy.close()
        if folder is not None:
            folder.cleanup()


@contextmanager
def way_out_of(policy: Policy, on_connection: OnEvent) -> Iterator[Way | None]:
    """A way for one call of a caller without a loop: the proxy has a thread of its own. Raises as `WayOut.open`."""
    if policy.network is not Network.ALLOW:
        yield None
        return
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="network proxy", daemon=True)
    thread.start()

    def on_loop(work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    out = WayOut(policy, on_connection)
    try:
        yield on_loop(out.open("sandbox exec"))
    finally:
        on_loop(out.close())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _socket(folder: tempfile.TemporaryDirectory[str]) -> Path:
    return Path(folder.name) / "proxy"
