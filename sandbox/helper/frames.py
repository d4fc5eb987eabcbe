"""The wire between app and helper: a frame is two lengths (big-endian, 4 bytes each), a JSON object, raw bytes."""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

LENGTHS = struct.Struct(">II")


def pack(header: dict[str, Any], data: bytes = b"") -> bytes:
    """One frame. Lone surrogates in strings (undecodable file names) survive as JSON escapes."""
    text = json.dumps(header).encode()
    return LENGTHS.pack(len(text), len(data)) + text + data


def read(source: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """The next frame, or None at the end of the stream. Raises EOFError for a frame cut short."""
    lengths = source.read(LENGTHS.size)
    if not lengths:
        return None
    if len(lengths) < LENGTHS.size:
        raise EOFError("frame cut short")
    header_size, data_size = LENGTHS.unpack(lengths)
    header, data = source.read(header_size), source.read(data_size)
    if len(header) < header_size or len(data) < data_size:
        raise EOFError("frame cut short")
    parsed = json.loads(header)
    if not isinstance(parsed, dict):
        raise ValueError("a frame's header is an object")
    return parsed, data
