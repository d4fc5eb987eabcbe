"""Moving the body of an HTTP message from one side to the other, exactly as long as it says it is."""

from __future__ import annotations

import re

from sandbox.network.channel import Channel, Count
from sandbox.network.message import Framing
from sandbox.network.refusals import malformed

_LINE = 4096
_TRAILERS = 16 * 1024
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})(?:[ \t]*;[\t\x20-\x7e]*)?\r\n")


async def move(source: Channel, sink: Channel, body: Framing, count: Count, *, plain: bool = False) -> None:
    """Move a body. plain: the chunks' contents alone, for a reader that knows no chunks.

    Raises Refused for malformed chunks, EOFError when it ends too soon.
    """
    if not body.chunked:
        await source.copy(sink, count, body.length)
        return
    while size := await _chunk_size(source):
        if not plain:
            await sink.send(b"%x\r\n" % size)
        await source.copy(sink, count, size)
        if await source.exactly(2) != b"\r\n":
            raise malformed("a chunk is not as long as it says")
        if not plain:
            await sink.send(b"\r\n")
    await _skip_trailers(source)
    if not plain:
        await sink.send(b"0\r\n\r\n")


async def _chunk_size(source: Channel) -> int:
    """The size of the next chunk; extensions are left out of what goes on."""
    try:
        line = await source.until(b"\n", _LINE)
    except OverflowError:
        raise malformed("the line of a chunk is too long") from None
    size = _SIZE.fullmatch(line)
    if not size:
        raise malformed("a chunk has no proper size")
    return int(size[1], 16)


async def _skip_trailers(source: Channel) -> None:
    left = _TRAILERS
    while left > 0:
        try:
            line = await source.until(b"\n", left)
        except OverflowError:
            break
        if line == b"\r\n":
            return
        if not line.endswith(b"\r\n") or b"\r" in line[:-2]:
            raise malformed("a trailer ends in a bare LF or CR")
        left -= len(line)
    raise malformed("there are too many trailers")
