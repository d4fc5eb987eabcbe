"""What may be reached, and how much of it: frozen, checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass, fields

from sandbox.network.hosts import HostError, LiteralError, parse_host, shown

_LOCAL = ("localhost", "local", "localdomain", "internal", "home.arpa")
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Caps:
    """How much one call may use. Sizes in bytes, times in seconds. Raises ValueError for a cap that is not above 0.

    requests, bytes_up and bytes_down are totals of a call; connections are open at once. head: an HTTP head.
    handshake: for a complete request, or a TLS greeting. connect: to resolve and dial. idle: without a byte either way.
    lifetime: of one connection.
    """

    requests: int = 2000
    requests_per_minute: int = 600
    connections: int = 64
    bytes_up: int = 64 * _MIB
    bytes_down: int = 2048 * _MIB
    head: int = 32 * 1024
    handshake: float = 10.0
    connect: float = 15.0
    idle: float = 120.0
    lifetime: float = 3600.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise ValueError(f"{field.name} must be a number above 0, not {value!r}")


@dataclass(frozen=True, slots=True)
class Allowed:
    """The allow-list. domains: ``example.com`` is that name alone, ``*.example.com`` everything below it (not itself).

    The domains are brought to one form. Raises ValueError that names the entry and the reason: an IP address, a scheme,
    a port, an empty label, a bare ``*``, a name of this machine or network, a port that is none.
    """

    domains: tuple[str, ...]
    ports: tuple[int, ...] = (80, 443)
    caps: Caps = Caps()

    def __post_init__(self) -> None:
        object.__setattr__(self, "domains", tuple(dict.fromkeys(parse_domain(domain) for domain in self.domains)))
        for port in self.ports:
            if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 65536:
                raise ValueError(f"{port!r} is not a port: use a whole number from 1 to 65535")
        object.__setattr__(self, "ports", tuple(dict.fromkeys(self.ports)))

    def permits(self, host: str) -> bool:
        """Whether a host (as `hosts.parse_host` returns it) is on the list; compared label by label."""
        labels = host.split(".")
        below = ("*." + ".".join(labels[start:]) for start in range(1, len(labels)))
        return host in self.domains or any(wild in self.domains for wild in below)


def parse_domain(text: str) -> str:
    """One entry of the list in its one form. Raises ValueError with the reason."""
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is not a domain: write it as a text")
    wild, name = text.startswith("*."), text.removeprefix("*.")
    if "://" in text or "/" in text:
        raise ValueError(f"{shown(text)} is a URL: write the domain alone, such as example.com")
    if "*" in name:
        raise ValueError(f'{shown(text)}: "*" stands only as the first label, as in *.example.com')
    try:
        host = parse_host(name)
    except LiteralError as error:
        raise ValueError(f"{error}: the allow-list takes domains only") from None
    except HostError as error:
        hint = ": ports are listed apart" if ":" in text else ""
        raise ValueError(f"{error}{hint}") from None
    if any(host == local or host.endswith("." + local) for local in _LOCAL):
        raise ValueError(f"{shown(text)} is a name of this machine or network, which cannot be reached from inside")
    if wild and "." not in host:
        raise ValueError(f"{shown(text)} would allow a whole top-level domain: name the domains below it")
    return f"*.{host}" if wild else host
