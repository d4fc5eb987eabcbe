"""Output of a program as text: bytes in pieces become characters, and what only a terminal understands goes."""

from __future__ import annotations

import codecs
import re

from engine.text import clean

# Control sequences (CSI), strings (OSC, DCS, APC, PM, SOS) with or without their end, and other escapes. No part may
# run over an ESC, so that a cut sequence swallows nothing behind it and matching stays linear.
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"
    r"|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"
    r"|[ -/]*[0-~])"
)
_CONTROLS = re.compile(r"[\x01-\x06\x07\x0b\x0e-\x1a\x1c-\x1f\x7f\x80-\x9f]")
_BACKSPACE = re.compile(r"[^\x08\n]\x08")


class Decoder:
    """Bytes that arrive in pieces, as text: a character split between two pieces is whole in the second."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes, final: bool = False) -> str:
        """The characters that are complete now."""
        return clean(self._decoder.decode(data, final))


def plain(data: bytes) -> str:
    """What a person would have seen at the end, line by line: no colours, no cursor moves, progress bars in their
    last state. Bytes that are not UTF-8 become U+FFFD; the number of lines stays."""
    text = _ESCAPES.sub("", clean(data.decode("utf-8", "replace"))).replace("\r\n", "\n")
    if "\x08" in text:
        text = _BACKSPACE.sub("", text)
    if "\r" in text:
        text = "\n".join(_last_state(line) for line in text.split("\n"))
    return _CONTROLS.sub("", text)


def complete_length(data: bytes) -> int:
    """How many bytes of ``data`` remain when an unfinished character at its end is left for the next reading."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        needed = 2 if byte & 0xE0 == 0xC0 else 3 if byte & 0xF0 == 0xE0 else 4 if byte & 0xF8 == 0xF0 else 1
        return len(data) - back if needed > back else len(data)
    return len(data)


def _last_state(line: str) -> str:
    """After a carriage return a line is written over from its start."""
    return next((part for part in reversed(line.split("\r")) if part.strip()), "")
