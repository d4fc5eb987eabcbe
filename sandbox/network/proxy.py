"""The proxy: the only way out of a sandbox whose network is an allow-list.

It serves a unix socket that is bound into an empty network namespace, and speaks HTTP and SOCKS5 on it. See `Allowed`
for what gets out, `ConnectionEvent` for what is reported, and ``bridge.py`` for the end inside the sandbox.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Sequence
from pathlib import Path

from sandbox.network import http_door, socks_door
from sandbox.network.accounts import Account, Accounts, Credit
from sandbox.network.addresses import refusal
from sandbox.network.allowed import Allowed
from sandbox.network.channel import Channel
from sandbox.network.dial import Judge, Resolver, system_resolver
from sandbox.network.events import ConnectionEvent, OnEvent, Verdict
from sandbox.network.refusals import Refused, Unreachable
from sandbox.network.visit import Rules, Visit

_BACKLOG = 128
_MAX_VISITS = 256
_SEND_BUFFER = 1024 * 1024  # with the system's default, a fast download spends its time waiting for room
_PAUSE = 0.1
_REFUSALS_PER_MINUTE = 600  # a program that tries everything fills no record


def _unheard(_event: ConnectionEvent) -> None:
    """Where events go when nobody listens."""


class Proxy:
    """Lets out what ``allowed`` permits, on the loop it is started on.

    on_event: told every decision, on that loop; when it raises, nothing is let out. resolver: addresses of a name.
    judge: why an address may not be dialled, "" when it may; for tests that dial their own machine.
    """

    def __init__(
        self,
        allowed: Allowed,
        on_event: OnEvent = _unheard,
        *,
        resolver: Resolver = system_resolver,
        judge: Judge = refusal,
    ) -> None:
        self._accounts = Accounts(allowed.caps)
        self._rules = Rules(allowed, self._accounts, resolver, judge, on_event)
        self._visits: dict[asyncio.Task[None], Visit] = {}
        self._room = asyncio.Semaphore(_MAX_VISITS)
        self._refusals = Credit(_REFUSALS_PER_MINUTE)
        self._count = 0
        self._path: Path | None = None
        self._listening: asyncio.Task[None] | None = None

    async def start(self, socket_path: Path) -> None:
        """Serve a new unix socket at ``socket_path``, for this user only.

        Raises OSError when something is there already or the path is too long (about 100 bytes).
        """
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            listener.bind(os.fspath(socket_path))
            self._path = socket_path
            socket_path.chmod(0o600)
            listener.listen(_BACKLOG)
            listener.setblocking(False)
        except OSError as error:
            listener.close()
            raise OSError(
                error.errno, f"the proxy cannot listen: {error.strerror or error}", str(socket_path)
            ) from error
        self._listening = asyncio.create_task(self._listen(listener))

    def token(self, call: str = "") -> str:
        """A new token for one call, whose name its events carry. The caps count for each token alone."""
        return self._accounts.mint(call)

    def reached(self, token: str) -> Sequence[str]:
        """The hosts the call of a token has reached; grows while it runs. Raises Refused for an unknown token."""
        return self._accounts.find(token).reached

    async def revoke(self, token: str) -> None:
        """The call has ended: its connections are cut, and its token opens nothing any more."""
        account = self._accounts.revoke(token)
        if account is not None:
            await self._cut(account)

    async def close(self) -> None:
        """Stop listening and cut every connection; returns when all are gone."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        await self._cut(None)
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            self._path = None

    async def _cut(self, account: Account | None) -> None:
        """Cut the connections of an account, or all."""
        tasks = [task for task, visit in self._visits.items() if account is None or visit.account is account]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        with listener:
            while True:
                await self._room.acquire()
                try:
                    client, _ = await loop.sock_accept(listener)
                except OSError:  # out of descriptors, until a connection ends
                    self._room.release()
                    await asyncio.sleep(_PAUSE)
                    continue
                client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
                self._count += 1
                visit = Visit(self._count, Channel(client), self._rules)
                task = loop.create_task(self._serve(visit))
                self._visits[task] = visit
                task.add_done_callback(self._gone)

    def _gone(self, task: asyncio.Task[None]) -> None:
        self._visits.pop(task).client.close()
        self._room.release()
        if not task.cancelled() and (error := task.exception()) is not None:
            context = {"message": "a connection of the network proxy ended badly", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)

    async def _serve(self, visit: Visit) -> None:
        """One client to its end; the last event says how it ended."""
        try:
            await self._speak(visit)
            visit.closed()
        except Refused as refused:
            verdict = Verdict.FAILED if isinstance(refused, Unreachable) else Verdict.REFUSED
            try:
                await asyncio.sleep(self._refusals.borrow())
            finally:
                visit.report(verdict, refused.rule, refused.reason)
            await _tell(visit, refused)
        except EOFError:
            visit.closed("it ended early")
        except OSError as error:
            visit.closed(f"it was cut off: {error.strerror or error}")
        except asyncio.CancelledError:
            visit.closed("the call ended")
            raise

    async def _speak(self, visit: Visit) -> None:
        async with visit.handshake():
            first = await visit.client.first()
        await (socks_door if first == socks_door.VERSION else http_door).serve(visit)


async def _tell(visit: Visit, refused: Refused) -> None:
    try:
        await visit.answer(refused)
        await visit.client.linger()
    except OSError:
        return  # the client has gone; the record has the reason
