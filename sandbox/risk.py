"""What an operation risks: a level, the reasons for it and the effects it would have.

Pure data. `sandbox.classify` fills it for shell commands, `sandbox.assess` for file operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Risk(IntEnum):
    """Three levels; comparing them with ``<`` and ``max`` is meant.

    LOW only reads. MEDIUM changes something that the sandbox contains, or runs code we cannot read. HIGH destroys,
    persists, escalates, leaks or reaches out: a person or a stored rule decides, always.
    """

    LOW = 1
    MEDIUM = 2
    HIGH = 3

    @property
    def word(self) -> str:
        """``low``, ``medium`` or ``high``: the spelling in events, rules and on the command line."""
        return self.name.lower()

    @classmethod
    def parse(cls, word: str) -> Risk:
        """The level spelled ``word``; raises ``KeyError`` for any other text."""
        return cls[word.upper()]


@dataclass(frozen=True, slots=True)
class Assessment:
    """Why an operation has its risk.

    reasons: short clauses for a person ("cannot be taken back from here").
    effects: what it would do ("write src/a.py", "send to github.com").
    contained: True when the sandbox holds all of it (workspace only, no network), whatever the operation tries.
    spots: (start, end) character ranges of the command text that carry the risk, to underline on screen.
    """

    risk: Risk
    reasons: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    contained: bool = True
    spots: tuple[tuple[int, int], ...] = ()
