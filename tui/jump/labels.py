"""Letters for a number of things: each its own, none the beginning of another, the nearest keys first. Pure."""

from __future__ import annotations

LETTERS = "asdfghjklqwertyuiopzxcvbnm"
MOST = len(LETTERS) ** 2


def labels(count: int) -> list[str]:
    """A label for each of ``count`` things, at most `MOST`: one letter while there are letters enough, else some of
    two letters, which then come last."""
    count = min(count, MOST)
    many = len(LETTERS)
    firsts = 0
    while (many - firsts) + firsts * many < count:
        firsts += 1
    single, begin = LETTERS[: many - firsts], LETTERS[many - firsts :]
    made = [*single, *(first + second for first in begin for second in LETTERS)]
    return made[:count]
