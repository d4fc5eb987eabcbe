"""Addresses that are never dialled, whatever name leads to them: an explicit table.

Source: IANA's IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and its updates: 6598, 7534, 7535, 8155,
8215, 9374, 9602, 9637, 9780), the IPv4 and IPv6 multicast and address space registries (RFC 5771, 4291), and the forms
that carry an IPv4 address inside (RFC 4291, 2765, 3056, 4380, 5214, 6052). Python's own `ipaddress` properties differ
between versions and are not asked (3.11 calls ::ffff:8.8.8.8, ::8.8.8.8, 64:ff9b:1::1, 2002::1 and 3fff::1 global).
Blocks that the registries call globally reachable but that no web server lives in (AS112, AMT, 6to4 relays) are
refused as well.

Of IPv6 only 2000::/3 is in use for ordinary hosts; all else is refused, named here or not.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

Address = IPv4Address | IPv6Address

_NAMED = """
0.0.0.0/8 this network
10.0.0.0/8 private
100.64.0.0/10 shared by a carrier (CGNAT)
127.0.0.0/8 loopback
168.63.129.16/32 a cloud's host services
169.254.0.0/16 link-local
172.16.0.0/12 private
192.0.0.0/24 protocol assignments
192.0.2.0/24 documentation
192.31.196.0/24 AS112 sink
192.52.193.0/24 multicast tunnels (AMT)
192.88.99.0/24 6to4 relays
192.168.0.0/16 private
192.175.48.0/24 AS112 sink
198.18.0.0/15 benchmarking
198.51.100.0/24 documentation
203.0.113.0/24 documentation
224.0.0.0/4 multicast
240.0.0.0/4 reserved
255.255.255.255/32 broadcast
::/96 IPv4 inside IPv6 (compatible)
::/128 unspecified
::1/128 loopback
::ffff:0:0/96 IPv4 inside IPv6 (mapped)
::ffff:0:0:0/96 IPv4 inside IPv6 (translated)
64:ff9b::/96 IPv4 inside IPv6 (NAT64)
64:ff9b:1::/48 IPv4 inside IPv6 (local NAT64)
100::/64 discard
100:0:0:1::/64 discard
2001::/23 protocol assignments
2001::/32 IPv4 inside IPv6 (Teredo)
2001:2::/48 benchmarking
2001:3::/32 multicast tunnels (AMT)
2001:4:112::/48 AS112 sink
2001:10::/28 overlay identifiers (ORCHID)
2001:20::/28 overlay identifiers (ORCHIDv2)
2001:30::/28 drone identifiers
2001:db8::/32 documentation
2002::/16 IPv4 inside IPv6 (6to4)
2620:4f:8000::/48 AS112 sink
3ffe::/16 returned test network
3fff::/20 documentation
5f00::/16 segment routing
fc00::/7 private (unique local)
fe80::/10 link-local
fec0::/10 private (site-local)
ff00::/8 multicast
"""

_GLOBAL_UNICAST = IPv6Network("2000::/3")
_ISATAP = 0x5EFE  # bits 32 to 47 of an interface identifier; the IPv4 address follows


def _read(table: str) -> tuple[tuple[IPv4Network | IPv6Network, str], ...]:
    """Networks with what they are for, the narrowest first."""
    rows = [line.split(" ", 1) for line in table.strip().splitlines()]
    return tuple(sorted(((ip_network(net), use) for net, use in rows), key=lambda row: -row[0].prefixlen))


TABLE = _read(_NAMED)


def refusal(address: Address) -> str:
    """What the block the address lies in is for, when it is never dialled; empty for an ordinary public address."""
    if isinstance(address, IPv6Address):
        if address.scope_id:
            return "an address with a zone"
        if address not in _GLOBAL_UNICAST:
            return _use(address) or "not a public IPv6 address"
        if (int(address) >> 32) & 0xFCFFFFFF == _ISATAP:
            return "IPv4 inside IPv6 (ISATAP)"
    return _use(address)


def _use(address: Address) -> str:
    return next((use for net, use in TABLE if net.version == address.version and address in net), "")
