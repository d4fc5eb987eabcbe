"""Small headers on results that repeat one tool: a row of texts that all look the same draws a model into a rut.

Which header a result gets depends on its own call and on what came before it in the log, never on what comes later nor
on what a compaction cut off, so that what was sent once is sent the same ever after.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from engine.events import Event

PLAIN = 2
"""Results in a row of one tool that go without a header."""
_HEADERS: tuple[Callable[[str], str], ...] = (
    lambda name: f"[{name} returned:]",
    lambda name: f"[result of {name}]",
    lambda name: f"--- {name} ---",
    lambda name: f"[{name}, what it gave:]",
    lambda name: f"Output of {name}:",
)


@dataclass
class Rows:
    """How many results in a row one tool has given, counted along the log."""

    name: str = ""
    length: int = 0

    def count(self, event: Event) -> int:
        """The place of ``event`` in its row, from 1; 0 when it is no result. Every event of the log has to pass."""
        if event.type != "tool_result":
            return 0
        self.length = self.length + 1 if event.name == self.name else 1
        self.name = event.name
        return self.length


def wrapped(text: str, name: str, call_id: str, place: int) -> str:
    """``text`` as the result of ``call_id`` at ``place`` of its row; one that says nothing stays as it is."""
    if place <= PLAIN or not text.strip():
        return text
    chosen = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).digest()[0] % len(_HEADERS)
    return f"{_HEADERS[chosen](name)}\n{text}"
