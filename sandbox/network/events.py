"""What the proxy reports: each decision, and how each connection ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """ALLOWED comes before the first byte goes out; one of the others ends it.

    REFUSED: a rule refused it, or cut it. FAILED: allowed but not reached. CLOSED: it went its way.
    A client that goes away before it is let out or refused leaves no event.
    """

    ALLOWED = "allowed"
    REFUSED = "refused"
    FAILED = "failed"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class ConnectionEvent:
    """One decision.

    number: of the connection, from 1; its events share it. call: what `Proxy.token` was told. kind: http, connect or
    socks5, empty before it is known. host and port: as asked for (0: none), the host escaped and cut if it is no name.
    address: what was dialled. rule and reason: why. Bytes and seconds so far, as relayed.
    """

    number: int
    call: str
    kind: str
    host: str
    port: int
    address: str
    verdict: Verdict
    rule: str
    reason: str
    bytes_up: int
    bytes_down: int
    seconds: float

    @property
    def bytes(self) -> int:
        """Both ways together."""
        return self.bytes_up + self.bytes_down


OnEvent = Callable[[ConnectionEvent], None]
