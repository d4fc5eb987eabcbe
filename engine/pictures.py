"""A picture as a screen can show it: read and decoded in the session's sandbox, never by this process."""

from __future__ import annotations

from engine.queries import PictureShown, ShowPicture
from engine.text import clean
from sandbox.broker import Broker
from sandbox.operations import Caller, DecodePicture

PIXELS_A_CELL = 2
"""One above the other: a cell is about twice as high as wide."""


async def show_picture(broker: Broker | None, query: ShowPicture) -> PictureShown:
    """``broker``: that of the session; None when it is not open."""
    if broker is None:
        return PictureShown(error="the session is not open, so its folder cannot be looked into")
    op = DecodePicture(query.path, query.columns, query.rows * PIXELS_A_CELL)
    done = await broker.run(op, Caller(query.session, tool="show_picture"))
    if done.picture is None:
        words = "; ".join(part for part in (done.error, done.feedback, done.suggestion) if part)
        return PictureShown(size=done.size, error=clean(words) or "there is nothing to show")
    found = done.picture
    return PictureShown(
        kind=found.kind,
        width=found.width,
        height=found.height,
        full_width=found.full_width,
        full_height=found.full_height,
        size=done.size,
        pixels=found.pixels,
    )
