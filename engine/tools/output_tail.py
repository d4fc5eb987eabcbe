"""The last that a running call has said: all there is of its output when it is cut."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from engine.tools.base import ToolContext
from engine.tools.terminal import plain

MOST = 8_000
_LEFT_OUT = "[What it said before that is lost.]\n"


@dataclass
class OutputTail:
    """Keeps the end of what a call reports as its progress, about ``MOST`` characters of it."""

    _pieces: list[str] = field(default_factory=list)
    _size: int = 0
    _cut: bool = False

    def hearing(self, context: ToolContext) -> ToolContext:
        """``context``, whose progress is heard here too."""

        def progress(text: str) -> None:
            self._hear(text)
            context.progress(text)

        return replace(context, progress=progress)

    def _hear(self, text: str) -> None:
        self._pieces.append(text)
        self._size += len(text)
        if self._size > 2 * MOST:
            tail = "".join(self._pieces)[-MOST:]
            self._pieces, self._size, self._cut = [tail], len(tail), True

    @property
    def text(self) -> str:
        """It, as it would stand in a terminal; from the beginning of a line where the first of it is lost."""
        text = "".join(self._pieces)
        if self._cut or len(text) > MOST:
            text = _LEFT_OUT + (text[-MOST:].partition("\n")[2] or text[-MOST:])
        return plain(text.encode("utf-8", "surrogatepass"))
