"""What terminals send while a person types, where Textual's parser would misread it.

Most terminals send Alt+Enter as ESC and a carriage return, which Textual takes for a late Enter; they send
Alt+1 as ESC and the digit; Textual takes that for a Mac's Option key and its ``¡``; and a bracketed paste that holds an
escape sequence (a coloured log) is taken apart into keys, an Enter among them: what is between the two marks of a paste
is text, whatever it looks like.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from textual import _ansi_sequences, events
from textual._xterm_parser import BRACKETED_PASTE_END as END
from textual._xterm_parser import BRACKETED_PASTE_START as START
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.message import Message


class _Keys(StrEnum):
    ALT_ENTER = "alt+enter"
    ALT_0 = "alt+0"
    ALT_1 = "alt+1"
    ALT_2 = "alt+2"
    ALT_3 = "alt+3"
    ALT_4 = "alt+4"
    ALT_5 = "alt+5"
    ALT_6 = "alt+6"


class PasteParser(XTermParser):
    """Takes a paste whole. One whose first mark is split between two reads is left to Textual."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._parts: list[str] | None = None
        self._tail = ""

    def feed(self, data: str) -> Iterable[Message]:
        if not data:
            yield from super().feed(data)
        while data:
            if self._parts is None:
                keys, mark, data = data.partition(START)
                if keys:
                    yield from super().feed(keys)
                if mark:
                    self._parts = []
            else:
                body, mark, rest = (self._tail + data).partition(END)
                if mark:
                    yield events.Paste("".join([*self._parts, body]))
                    self._parts, self._tail, data = None, "", rest
                else:
                    # The second mark may be split as well: as much as could belong to it is looked at again.
                    cut = max(0, len(body) - len(END) + 1)
                    self._parts.append(body[:cut])
                    self._tail, data = body[cut:], ""


def teach_textual() -> None:
    """Make Textual read them as they are meant. Before the app takes hold of the terminal; once is enough."""
    known: dict[str, object] = _ansi_sequences.ANSI_SEQUENCES_KEYS  # type: ignore[assignment]
    known["\x1b\r"] = known["\x1b\n"] = (_Keys.ALT_ENTER,)
    known.update({f"\x1b{key[-1]}": (key,) for key in _Keys if key[-1].isdigit()})
    linux_driver.XTermParser = PasteParser  # type: ignore[attr-defined]
