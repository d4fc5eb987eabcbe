"""What stays for as long as the app does: looking for garbage among it would only hold up the screen, for several
frames, now and whenever the collector came by again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache


@contextmanager
def made_to_last() -> Iterator[None]:
    """What is made within stays; nothing is collected meanwhile."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


@cache
def settled(what: str) -> None:
    """``what`` has made all that it needs: that stays. Only the first time counts."""
    gc.freeze()
