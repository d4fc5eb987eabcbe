"""Large pastes as chips: one line stands in the draft for what goes out in full. Pure."""

from __future__ import annotations

import re

from engine.text import visible
from tui.format import plural, size

MOST_CHARACTERS = 2_000
MOST_LINES = 20

_SPACE = "\u00a0"  # nobody types it, so that no typed text is taken for a chip
_CHIP = re.compile(rf"\[pasted{_SPACE}[^\]\n]*\]")


def tidy(text: str) -> str:
    """Line ends as newlines; terminals send a carriage return for each."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


class Pastes:
    """What was pasted, by the chip that stands for it."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def wants(self, text: str) -> bool:
        """Whether ``text`` is better shown as a chip: it is long, or holds what a terminal would obey."""
        return len(text) > MOST_CHARACTERS or text.count("\n") >= MOST_LINES or visible(text) != text

    def chip(self, text: str) -> str:
        """The chip for ``text``; the same text gets the same chip."""
        label = _label(text)
        number = 1
        while (chip := _bracketed(label, number)) in self._texts and self._texts[chip] != text:
            number += 1
        self._texts[chip] = text
        return chip

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Where chips are in a line of the draft."""
        if not self._texts or _SPACE not in line:
            return []
        return [match.span() for match in _CHIP.finditer(line) if match.group() in self._texts]

    def expand(self, draft: str) -> str:
        """The draft with every chip replaced by what it stands for."""
        return _CHIP.sub(lambda match: self._texts.get(match.group(), match.group()), draft)

    def fold(self, text: str) -> str:
        """The way back: text that was sent, with chips again where it holds what was pasted."""
        for chip, pasted in self._texts.items():
            text = text.replace(pasted, chip)
        return self.chip(text) if self.wants(text) else text


def _label(text: str) -> str:
    lines = text.count("\n") + (not text.endswith("\n"))
    words = [
        plural(lines, "line") if lines > 1 else plural(len(text), "character"),
        size(len(text.encode(errors="replace"))),
    ]
    hidden = sum(visible(char) != char for char in text) if visible(text) != text else 0
    if hidden:
        words.append(plural(hidden, "control character"))
    return ", ".join(words)


def _bracketed(label: str, number: int) -> str:
    words = f"[pasted {label}]" if number == 1 else f"[pasted {label}, no. {number}]"
    return words.replace(" ", _SPACE)
