"""Tokens, one a call, and what each call has used of its caps."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sandbox.network.allowed import Caps
from sandbox.network.refusals import Refused

_WAIT = "wait, or make fewer requests"
_MORE = "the person can raise this cap in the policy"


class Credit:
    """So many a minute, and as many at once after a quiet minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = per_minute / 60
        self._most = self._left = float(per_minute)
        self._clock = clock
        self._at = clock()

    def spend(self) -> bool:
        """Take one, if there is one."""
        self._fill()
        if self._left < 1:
            return False
        self._left -= 1
        return True

    def borrow(self) -> float:
        """Take one even when there is none. Seconds until it would have been there."""
        self._fill()
        self._left -= 1
        return max(0.0, -self._left / self._rate)

    def _fill(self) -> None:
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._at) * self._rate)
        self._at = now


class Account:
    """What one call has used. Every method that would go past a cap raises Refused with the cap's name."""

    def __init__(self, call: str, caps: Caps, clock: Callable[[], float] = time.monotonic) -> None:
        self.call = call
        self.caps = caps
        self.reached: list[str] = []
        """Hosts a connection was made to, each once, in order."""
        self._requests = 0
        self._open = 0
        self._up = 0
        self._down = 0
        self._credit = Credit(caps.requests_per_minute, clock)

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request; it is open within the block."""
        if self._open >= self.caps.connections:
            raise _over("connections", f"{self.caps.connections} connections are open already", _WAIT)
        if self._requests >= self.caps.requests:
            raise _over("requests", f"this call has made {self.caps.requests} requests", _MORE)
        if not self._credit.spend():
            raise _over("requests_per_minute", f"more than {self.caps.requests_per_minute} requests a minute", _WAIT)
        self._requests += 1
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

    def reach(self, host: str) -> None:
        """Note a host that was let through."""
        if host not in self.reached:
            self.reached.append(host)

    def sent(self, size: int) -> None:
        """Count bytes on their way out, before they go."""
        self._up += size
        if self._up > self.caps.bytes_up:
            raise _over("bytes_up", f"this call has sent {self.caps.bytes_up:,} bytes", _MORE)

    def received(self, size: int) -> None:
        """Count bytes on their way in."""
        self._down += size
        if self._down > self.caps.bytes_down:
            raise _over("bytes_down", f"this call has received {self.caps.bytes_down:,} bytes", _MORE)


class Accounts:
    """The calls that may use the proxy now."""

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        self._by_token: dict[str, Account] = {}

    def mint(self, call: str) -> str:
        """A new token, for a call."""
        token = secrets.token_hex(24)
        self._by_token[token] = Account(call, self._caps)
        return token

    def revoke(self, token: str) -> Account | None:
        """The token is worth nothing from now on."""
        return self._by_token.pop(token, None)

    def find(self, token: str) -> Account:
        """The account of a token; compares with every token in full. Raises Refused for one that is unknown."""
        given, found = token.encode("utf-8", "surrogateescape"), None
        for known, account in self._by_token.items():
            if hmac.compare_digest(known.encode(), given):
                found = account
        if found is None:
            raise Refused(
                "token",
                "the proxy wants the token of this call",
                "use the proxy address in HTTP_PROXY as it is",
                status=407,
            )
        return found


def _over(cap: str, reason: str, advice: str) -> Refused:
    return Refused(cap, reason, advice, status=429)
