"""What the bytes of a file are: text in some encoding, an image, or something a model cannot read."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Literal

from engine.text import clean
from engine.tools.words import octets

_SAMPLE = 8192
_CONTROL_SHARE = 0.1
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\b\x1b")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF8_BOM = b"\xef\xbb\xbf"
_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"BM", "BMP"),
)
_BINARIES = (
    (b"%PDF-", "PDF document"),
    (b"\x7fELF", "ELF program"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"(\xb5/\xfd", "zstd data"),
    (b"\xca\xfe\xba\xbe", "Java class or Mach-O program"),
    (b"\0asm", "WebAssembly module"),
)


@dataclass(frozen=True, slots=True)
class Content:
    """kind: text, image or binary. what: a few words for a person or a model. text: decoded, without its BOM.

    replaced: whether bytes that are no text were replaced by U+FFFD.
    """

    kind: Literal["text", "image", "binary"]
    what: str
    text: str = ""
    replaced: bool = False


def look(data: bytes, size: int | None = None) -> Content:
    """What ``data`` is, the beginning of a file of ``size`` bytes (all of it by default)."""
    whole = octets(len(data) if size is None else size)
    if kind := _image_kind(data):
        pixels = _pixels(data, kind)
        return Content("image", f"{kind} image, {pixels}{whole}")
    for magic, name in _BINARIES:
        if data.startswith(magic):
            return Content("binary", f"{name}, {whole}")
    if data.startswith(_UTF16):
        return _decoded(data, "utf-16", f"UTF-16 text, {whole}")
    if _looks_binary(data[:_SAMPLE]):
        return Content("binary", f"binary data, {whole}")
    return _decoded(data.removeprefix(_UTF8_BOM), "utf-8", f"text, {whole}")


def _decoded(data: bytes, encoding: str, what: str) -> Content:
    try:
        text, replaced = data.decode(encoding), False
    except UnicodeDecodeError:
        text, replaced = data.decode(encoding, "replace"), True
    return Content("text", what, clean(text), replaced)


def _looks_binary(sample: bytes) -> bool:
    """Many control bytes or a good part of NULs. A stray NUL or a Latin-1 letter does not make a file binary."""
    if not sample:
        return False
    odd = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in sample)
    text = sample.decode("utf-8", "replace")
    # A character cut at the end of the sample is not an odd one, hence the tolerance for short samples.
    invalid = text.count("\ufffd") - sample.count("\ufffd".encode())
    return odd > max(1, _CONTROL_SHARE * len(sample)) or invalid > max(8, 0.3 * len(text))


def _image_kind(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WebP"
    kind = next((kind for magic, kind in _IMAGES if data.startswith(magic)), "")
    # "BM" may well begin a text; a bitmap has four reserved zero bytes.
    return "" if kind == "BMP" and data[6:10] != bytes(4) else kind


def _pixels(data: bytes, kind: str) -> str:
    """``640 × 480 pixels, `` where the header says so plainly."""
    if kind == "PNG" and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
    elif kind == "GIF" and len(data) >= 10:
        width, height = struct.unpack("<HH", data[6:10])
    elif kind == "BMP" and len(data) >= 26:
        width, height = struct.unpack("<ii", data[18:26])
    elif kind == "WebP" and data[12:16] == b"VP8X" and len(data) >= 30:
        width, height = (1 + int.from_bytes(data[at : at + 3], "little") for at in (24, 27))
    elif kind == "JPEG":
        width, height = _jpeg_size(data)
    else:
        return ""
    return f"{abs(width)} × {abs(height)} pixels, " if width and height else ""


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """From the header of the frame, behind the segments before it; zeros when there is none."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return 0, 0
