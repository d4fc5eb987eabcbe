"""The network of a sandbox, when it is an allow-list: a proxy outside, a bridge inside, nothing else in between."""

from __future__ import annotations

from sandbox.network.allowed import Allowed, Caps, parse_domain
from sandbox.network.events import ConnectionEvent, Verdict
from sandbox.network.proxy import Proxy

__all__ = ["Allowed", "Caps", "ConnectionEvent", "Proxy", "Verdict", "parse_domain"]
