"""Host names as programs write them, brought to one form, so that no spelling slips past a rule.

One form: lower case ASCII labels without the trailing dot. Anything that some library would read as an IP address
(``127.1``, ``0x7f.1``, ``2130706433``, ``[::1]``, full-width digits) is a literal, and literals match no rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_IPV6 = re.compile(r"[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(?:%.*)?")
_PORT = re.compile(r"[0-9]{1,5}")
_MAX_NAME = 253
_SHOWN = 80


class HostError(ValueError):
    """A text that is no usable host name; the message says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request wants to go. host: in the one form (see the module)."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class LiteralError(HostError):
    """The host is an IP address, in some spelling."""


def parse_host(text: str) -> str:
    """The one form of a host name. Raises LiteralError for an IP address in any spelling, HostError for the rest."""
    if not text:
        raise HostError("the host is empty")
    _refuse_ipv6(text)
    if "%" in text:
        raise HostError(f"{shown(text)} has a '%': percent-encoding and zone ids are not taken")
    name = _ascii(text).lower().removesuffix(".")
    labels = name.split(".")
    if not all(labels):
        raise HostError(f"{shown(text)} has an empty label")
    if _NUMBER.fullmatch(labels[-1]):
        raise LiteralError(f"{shown(text)} is an IP address (it ends in a number), not a name")
    for label in labels:
        if not _LABEL.fullmatch(label):
            raise HostError(f"{shown(text)} is not a host name: {shown(label)} cannot be a part of one")
    if len(name) > _MAX_NAME:
        raise HostError(f"{shown(text)} is longer than {_MAX_NAME} characters")
    return name


def parse_target(text: str, default_port: int | None = None) -> Target:
    """``HOST`` or ``HOST:PORT``. Raises HostError; also for a missing port when there is no default."""
    _refuse_ipv6(text)
    host, colon, port = text.partition(":")
    if not colon:
        if default_port is None:
            raise HostError(f"{shown(text)} has no port")
        return Target(parse_host(host), default_port)
    if not _PORT.fullmatch(port) or not 0 < int(port) < 65536:
        raise HostError(f"{shown(port)} is not a port")
    return Target(parse_host(host), int(port))


def shown(text: str) -> str:
    """Text from outside, quoted, escaped and cut, to be put into a message."""
    cut = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return ascii(cut).replace("\\u2026", "...")


def _refuse_ipv6(text: str) -> None:
    if text.startswith("[") or _IPV6.fullmatch(text):
        raise LiteralError(f"{shown(text)} is an IP address, not a name")


def _ascii(text: str) -> str:
    """Letters of other scripts as IDNA (UTS 46) writes them. What they turn into is checked like anything else."""
    if text.isascii():
        return text
    import idna

    try:
        return idna.encode(text, uts46=True, std3_rules=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise HostError(f"{shown(text)} is not a host name: {ascii(str(error))[1:-1]}") from None
