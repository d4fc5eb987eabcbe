"""One client connection from its first byte to its end: what it may do next, what it has done, what is reported."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sandbox.network import message
from sandbox.network.accounts import Account, Accounts
from sandbox.network.allowed import Allowed
from sandbox.network.channel import Channel
from sandbox.network.dial import Judge, Resolver, dial, resolve
from sandbox.network.events import ConnectionEvent, OnEvent, Verdict
from sandbox.network.hosts import HostError, LiteralError, Target, parse_target, shown
from sandbox.network.refusals import Refused, Unreachable

_DOMAINS_SHOWN = 12

Answer = Callable[[Refused], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Rules:
    """What every visit of a proxy goes by."""

    allowed: Allowed
    accounts: Accounts
    resolver: Resolver
    judge: Judge
    on_event: OnEvent


class Visit:
    """A client's connection. ``answer`` is how a refusal is told at this point of the protocol."""

    def __init__(self, number: int, client: Channel, rules: Rules) -> None:
        self.client = client
        self.caps = rules.allowed.caps
        self.kind = ""
        self.answer: Answer = self.as_http
        self.account: Account | None = None
        self._rules = rules
        self._number = number
        self._asked, self._port, self._address = "", 0, ""
        self._up = self._down = 0
        self._started = time.monotonic()
        self._clock: asyncio.Timeout | None = None

    async def as_http(self, refused: Refused) -> None:
        """Tell a refusal as an HTTP answer."""
        await self.client.send(message.refusal(refused))

    def authenticate(self, token: str) -> None:
        """Raises Refused for a token that belongs to no call."""
        self.account = self._rules.accounts.find(token)

    def target(self, text: str, default_port: int | None = None) -> Target:
        """Where the client wants to go. Raises Refused for what is no host name; an address in any spelling is none."""
        self._asked = text if text.isascii() and text.isprintable() and len(text) < 256 else shown(text)
        try:
            target = parse_target(text, default_port)
        except LiteralError as error:
            raise Refused("address", str(error), "use the host's name; only names are on the allow-list") from None
        except HostError as error:
            raise Refused("host", str(error), "write the host as a plain name", status=400) from None
        self._asked, self._port = target.host, target.port
        return target

    @asynccontextmanager
    async def upstream(self, target: Target) -> AsyncIterator[Channel]:
        """A connection to the target, checked, counted and reported. Raises Refused."""
        assert self.account is not None, "a visit is authenticated before it goes anywhere"
        with self.account.request():
            self._check(target)
            async with self._within(self.caps.connect, f"{target} could not be reached"):
                addresses = await resolve(target.host, self._rules.resolver, self._rules.judge)
                sock, address = await dial(target, addresses)
            channel = Channel(sock)
            try:
                self._address = str(address)
                self.report(Verdict.ALLOWED)
                self.account.reach(target.host)
                yield channel
            finally:
                channel.close()

    def _check(self, target: Target) -> None:
        allowed = self._rules.allowed
        if not allowed.permits(target.host):
            names = ", ".join(allowed.domains[:_DOMAINS_SHOWN]) or "nothing"
            more = ", ..." if len(allowed.domains) > _DOMAINS_SHOWN else ""
            raise Refused(
                "domain",
                f"{target.host} is not on the allow-list",
                f"on it: {names}{more}. The person can add a domain to the policy",
            )
        if target.port not in allowed.ports:
            ports = ", ".join(map(str, allowed.ports)) or "none"
            raise Refused(
                "port", f"port {target.port} is not allowed", f"allowed: {ports}. The person can add one to the policy"
            )

    @asynccontextmanager
    async def handshake(self) -> AsyncIterator[None]:
        """The client has only so long to say what it wants."""
        async with self._within(self.caps.handshake, "no complete request came", status=408):
            yield

    @asynccontextmanager
    async def _within(self, seconds: float, what: str, status: int = 504) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError:
            kind = Unreachable if status == 504 else Refused
            raise kind("time", f"{what} within {seconds:g} s", "try again", status) from None

    @asynccontextmanager
    async def transfer(self) -> AsyncIterator[None]:
        """Bytes flow: cut when none did for a while, or when it goes on for too long."""
        try:
            async with asyncio.timeout(None) as self._clock:
                self._touch()
                yield
        except TimeoutError:
            if self._age() >= self.caps.lifetime:
                reason = f"a connection may last {self.caps.lifetime:g} s"
            else:
                reason = f"nothing came for {self.caps.idle:g} s"
            raise Refused("time", reason, "try again", status=504) from None
        finally:
            self._clock = None

    def sent(self, size: int) -> None:
        """Count bytes on their way out. Raises Refused at the cap."""
        assert self.account is not None
        self.account.sent(size)
        self._up += size
        self._touch()

    def received(self, size: int) -> None:
        """Count bytes on their way in. Raises Refused at the cap."""
        assert self.account is not None
        self.account.received(size)
        self._down += size
        self._touch()

    def _touch(self) -> None:
        if self._clock is not None and not self._clock.expired():
            wait = min(self.caps.idle, self.caps.lifetime - self._age())
            self._clock.reschedule(asyncio.get_running_loop().time() + max(wait, 0))

    def _age(self) -> float:
        return time.monotonic() - self._started

    def closed(self, reason: str = "") -> None:
        """The connection has ended. One that was never let out has nothing to report."""
        if self._address:
            self.report(Verdict.CLOSED, reason=reason)

    def report(self, verdict: Verdict, rule: str = "", reason: str = "") -> None:
        """Tell the record. When it cannot be kept, nothing is let out: what the callback raises becomes a refusal."""
        call = self.account.call if self.account is not None else ""
        event = ConnectionEvent(
            number=self._number,
            call=call,
            kind=self.kind,
            host=self._asked,
            port=self._port,
            address=self._address,
            verdict=verdict,
            rule=rule,
            reason=reason,
            bytes_up=self._up,
            bytes_down=self._down,
            seconds=round(self._age(), 6),
        )
        try:
            self._rules.on_event(event)
        except Exception as error:
            if verdict is Verdict.ALLOWED:
                raise Refused("record", f"the connection could not be recorded: {error}", "tell the person") from error
            raise
