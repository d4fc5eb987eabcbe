"""HTTP/1 messages, read strictly: what two programs could read in two ways is refused, never repaired (RFC 9112).

A bare LF or CR, folded lines, space before a colon, doubled or odd lengths, both lengths at once: each has been used to
smuggle a second request past a proxy. What goes on is written anew from what was understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sandbox.network.hosts import shown
from sandbox.network.refusals import Refused, malformed

END = b"\r\n\r\n"

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_TARGET = re.compile(r"[\x21-\x7e]+")
_LENGTH = re.compile(r"[0-9]{1,15}")
_BARE = re.compile(rb"(?<!\r)\n|\r(?!\n)(?!\Z)|\x00")
_MAX_HEADERS = 128

# For the next hop only (RFC 9110, 7.6.1), or written anew by us.
_HOP = frozenset(
    "connection keep-alive proxy-connection proxy-authorization proxy-authenticate proxy-authentication-info te "
    "trailer transfer-encoding upgrade content-length host expect".split()
)

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """target as written; minor: of the HTTP/1 version."""

    method: str
    target: str
    minor: int
    headers: Headers


@dataclass(frozen=True, slots=True)
class Response:
    """The head of an answer; minor: of the HTTP/1 version."""

    status: int
    reason: str
    minor: int
    headers: Headers


@dataclass(frozen=True, slots=True)
class Framing:
    """How long a body is: chunked, or ``length`` bytes, or (None) not said."""

    length: int | None = None
    chunked: bool = False


NO_BODY = Framing()


def check_lines(data: bytes) -> None:
    """Raises Refused for line ends other than CR LF, and for NUL: while the head still comes in."""
    if _BARE.search(data):
        raise malformed("a line of it ends in a bare LF or CR, or holds a NUL")


def parse_request(data: bytes) -> Request:
    """A request head, with the empty line. Raises Refused."""
    line, headers = _split(data)
    parts = line.split(" ")
    if len(parts) != 3 or not _TOKEN.fullmatch(parts[0]) or not _TARGET.fullmatch(parts[1]):
        raise malformed(f"{shown(line)} is not METHOD TARGET VERSION with one space between")
    return Request(parts[0], parts[1], _minor(parts[2]), headers)


def parse_response(data: bytes) -> Response:
    """A response head, with the empty line. Raises Refused."""
    line, headers = _split(data)
    version, _, rest = line.partition(" ")
    status, _, reason = rest.partition(" ")
    if not re.fullmatch(r"[1-5][0-9][0-9]", status) or not _VALUE.fullmatch(reason):
        raise malformed(f"{shown(line)} is not an HTTP status line")
    return Response(int(status), reason, _minor(version), headers)


def values(headers: Headers, name: str) -> list[str]:
    """The values of a header, one an occurrence; ``name`` in lower case."""
    return [value for key, value in headers if key.lower() == name]


def framing(headers: Headers, minor: int) -> Framing:
    """How the body is delimited. Raises Refused for anything that could be read in two ways."""
    lengths, codings = values(headers, "content-length"), values(headers, "transfer-encoding")
    if lengths and codings:
        raise malformed("it has both Content-Length and Transfer-Encoding")
    if codings:
        if minor == 0 or len(codings) > 1 or codings[0].lower() != "chunked":
            raise malformed(f"Transfer-Encoding {shown(', '.join(codings))}: only chunked is taken, in HTTP/1.1")
        return Framing(chunked=True)
    if not lengths:
        return NO_BODY
    if len(lengths) > 1 or not _LENGTH.fullmatch(lengths[0]):
        raise malformed(f"Content-Length {shown(', '.join(lengths))}: it must be one whole number")
    return Framing(int(lengths[0]))


def onward(headers: Headers) -> list[tuple[str, str]]:
    """What is meant for the other end: without headers for this hop, those that Connection names included."""
    named = {word.strip().lower() for value in values(headers, "connection") for word in value.split(",")}
    return [(name, value) for name, value in headers if name.lower() not in _HOP | named]


def encode(line: str, headers: Iterable[tuple[str, str]], body: Framing = NO_BODY) -> bytes:
    """A head for the next hop, which closes after this message."""
    framed = [*headers, ("Connection", "close")]
    if body.chunked:
        framed.append(("Transfer-Encoding", "chunked"))
    elif body.length is not None:
        framed.append(("Content-Length", str(body.length)))
    return "".join([f"{line}\r\n", *(f"{name}: {value}\r\n" for name, value in framed), "\r\n"]).encode("latin-1")


def refusal(refused: Refused) -> bytes:
    """A refusal as an answer. The reason is in the status line too, because many programs show nothing else."""
    lines = [f"refused by the sandbox's network proxy ({refused.rule}): {refused.reason}."]
    text = "\n".join([*lines, *([f"{refused.advice}."] if refused.advice else []), ""]).encode("ascii", "replace")
    headers = [("Content-Type", "text/plain; charset=us-ascii")]
    if refused.status == 407:
        headers.append(("Proxy-Authenticate", 'Basic realm="sandbox"'))
    reason = re.sub(r"[^\x20-\x7e]", "?", f"{refused.rule}: {refused.reason}")[:200]
    return encode(f"HTTP/1.1 {refused.status} {reason}", headers, Framing(len(text))) + text


def _split(data: bytes) -> tuple[str, Headers]:
    check_lines(data)
    line, *rest = data.removesuffix(END).decode("latin-1").split("\r\n")
    if len(rest) > _MAX_HEADERS:
        raise malformed(f"it has more than {_MAX_HEADERS} headers", rule="head", status=431)
    return line, tuple(_header(text) for text in rest)


def _header(text: str) -> tuple[str, str]:
    if text.startswith((" ", "\t")):
        raise malformed("a header is folded over two lines")
    name, colon, value = text.partition(":")
    if not colon or not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
        raise malformed(f"{shown(text)} is not a header")
    return name, value.strip(" \t")


def _minor(version: str) -> int:
    if version not in ("HTTP/1.0", "HTTP/1.1"):
        raise malformed(f"{shown(version)}: HTTP/1.1 and HTTP/1.0 only", status=505)
    return int(version[-1])
