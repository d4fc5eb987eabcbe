"""Decoding one picture: its bytes on stdin, a few pixels on stdout. Runs alone, in a sandbox made for it.

The bytes are not to be trusted and decoders have had holes, so whoever reads the answer trusts that no more. Pillow is
the one thing here that is not of the standard library.
"""

from __future__ import annotations

import io
import sys
from typing import Any

from sandbox.helper import frames

MOST_PIXELS = 40_000_000
"""Of the picture as it is stored: what four bytes each of fit into the memory there is."""
KINDS = {"PNG": "PNG", "JPEG": "JPEG", "GIF": "GIF", "WEBP": "WebP", "BMP": "BMP"}
TOO_LARGE, NO_PICTURE, BROKEN, NO_PILLOW = "too large", "no picture", "broken", "no Pillow"

Answer = tuple[dict[str, Any], bytes]


def main() -> None:
    """One request (the most pixels wide and high), one answer: size and RGBA bytes, or a word for what is wrong."""
    request = frames.read(sys.stdin.buffer)
    if request is not None:
        header, data = request
        answer, pixels = decode(data, header["width"], header["height"])
        sys.stdout.buffer.write(frames.pack(answer, pixels))


def decode(data: bytes, width: int, height: int) -> Answer:
    """The picture scaled down, never up, to at most ``width`` × ``height``, its aspect kept; of several the first."""
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError:
        return {"error": NO_PILLOW}, b""
    Image.MAX_IMAGE_PIXELS = None  # we look ourselves, before anything is decoded
    try:
        image: Image.Image = Image.open(io.BytesIO(data), formats=tuple(KINDS))
        kind, (full_width, full_height) = image.format or "", image.size
        facts = {"kind": kind, "full_width": full_width, "full_height": full_height}
        if full_width * full_height > MOST_PIXELS:
            return facts | {"error": TOO_LARGE}, b""
        most = max(width, height)
        image.draft("RGB", (most, most))
        if image.mode == "I;16":
            image = image.convert("I").point(lambda level: level * (1 / 256)).convert("L")
        if image.mode not in ("RGB", "RGBA", "L") or "transparency" in image.info:
            image = image.convert("RGBA")
        image = ImageOps.exif_transpose(image)
        image.thumbnail((width, height), reducing_gap=2.0)
        small = image.convert("RGBA")
    except MemoryError:
        return {"error": TOO_LARGE}, b""
    except UnidentifiedImageError:
        return {"error": NO_PICTURE}, b""
    except Exception:
        return {"error": BROKEN}, b""  # decoders raise whatever they like on bytes that are no picture
    return facts | {"width": small.width, "height": small.height}, small.tobytes()
