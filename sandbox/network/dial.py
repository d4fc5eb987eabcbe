"""From a name to a connected socket: resolved once, every address checked, exactly a checked address dialled."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import ip_address

from sandbox.network.addresses import Address, refusal
from sandbox.network.hosts import Target
from sandbox.network.refusals import Refused, Unreachable

Resolver = Callable[[str], Awaitable[Sequence[str]]]
Judge = Callable[[Address], str]

# Threads of our own: a slow name server must not hold up what else the app does in threads.
_RESOLVERS = ThreadPoolExecutor(4, thread_name_prefix="resolver")
_MAX_ADDRESSES = 64
_MAX_TRIES = 4


async def system_resolver(host: str) -> list[str]:
    """The addresses the host's resolver gives. The name is absolute: no search domain is ever put behind it."""
    look_up = partial(socket.getaddrinfo, host + ".", None, type=socket.SOCK_STREAM)
    found = await asyncio.get_running_loop().run_in_executor(_RESOLVERS, look_up)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def resolve(host: str, resolver: Resolver, judge: Judge = refusal) -> list[Address]:
    """The addresses of a host. One that may not be dialled refuses the host, whatever the others are."""
    try:
        texts = list(await resolver(host))
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Unreachable("dns", f"{host} was not found: {reason}", "check the name", status=502) from None
    if not texts or len(texts) > _MAX_ADDRESSES:
        raise Unreachable("dns", f"{host} has {len(texts) or 'no'} addresses", "check the name", status=502)
    addresses = []
    for text in texts:
        try:
            address = ip_address(text)
        except ValueError:
            raise Unreachable("dns", f"{host} has an address that is none", "check the name", status=502) from None
        if use := judge(address):
            raise Refused("address", f"{host} leads to {address}: {use}", "only public addresses can be reached")
        addresses.append(address)
    return addresses


async def dial(target: Target, addresses: Sequence[Address]) -> tuple[socket.socket, Address]:
    """Connect to the first of the addresses that answers. Raises Unreachable, or Refused for this machine's own."""
    last = "it has no address"
    for address in addresses[:_MAX_TRIES]:
        if not address.is_loopback and _is_own(address):
            raise Refused("address", f"{target.host} leads to {address}: this machine", "only others can be reached")
        family = socket.AF_INET if address.version == 4 else socket.AF_INET6
        sock = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await asyncio.get_running_loop().sock_connect(sock, (str(address), target.port))
        except OSError as error:
            sock.close()
            last = error.strerror or str(error)
        except BaseException:
            sock.close()
            raise
        else:
            return sock, address
    raise Unreachable("connect", f"{target} could not be reached: {last}", "check the port, or try later", status=502)


def _is_own(address: Address) -> bool:
    """Whether the address is one of this machine's: then traffic to it would start there too. Nothing is sent."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as probe:
        try:
            probe.connect((str(address), 9))
        except OSError:
            return False
        return ip_address(probe.getsockname()[0]) == address
