"""What is recorded about the network, and what a person is told about it before a command runs."""

from __future__ import annotations

from sandbox.audit import Audit
from sandbox.network.events import ConnectionEvent, OnEvent, Verdict
from sandbox.policy import Network, Policy
from sandbox.risk import Risk


def recorder(audit: Audit, policy: str) -> OnEvent:
    """Writes each decision of the proxy to the record. It raises OSError when it cannot, and then nothing gets out."""

    def record(event: ConnectionEvent) -> None:
        refused = event.verdict is Verdict.REFUSED
        audit.write(
            "connection",
            call=event.call,
            kind=event.kind,
            subject=f"{event.host}:{event.port}" if event.port else event.host,
            address=event.address,
            policy=policy,
            risk=Risk.HIGH if refused else Risk.MEDIUM,
            verdict=event.verdict.value,
            rule=event.rule,
            reason=event.reason,
            bytes_up=event.bytes_up,
            bytes_down=event.bytes_down,
            seconds=round(event.seconds, 4),
        )

    return record


def reachable(policy: Policy) -> tuple[str, ...]:
    """Effects every command may have under ``policy``'s network."""
    if policy.network is Network.FULL:
        return ("may reach any host, this machine and its network included",)
    if policy.network is Network.ALLOW:
        return tuple(f"may reach {domain}:{port}" for domain in policy.domains for port in policy.ports)
    return ()
