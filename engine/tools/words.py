"""Small pieces of wording the tools share."""

from __future__ import annotations

from engine.text import clean

TITLE_LENGTH = 300


def plural(n: int, word: str) -> str:
    """``1 line``, ``2,000 lines``."""
    return f"{n} {word}" if n == 1 else f"{n:,} {word}s"


def octets(n: int) -> str:
    """``512 bytes``, ``12.0 kB``, ``3.4 MB``: decimal units."""
    if n < 1000:
        return plural(n, "byte")
    value = float(n)
    for unit in ("kB", "MB"):
        value /= 1000
        if value < 999.95:
            return f"{value:.1f} {unit}"
    return f"{value / 1000:.1f} GB"


def one_line(text: str, limit: int = TITLE_LENGTH) -> str:
    """``text`` on one line: its first line, with an ellipsis where something is left out."""
    lines = [line for line in clean(text).splitlines() if line.strip()]
    first = "".join(char if char.isprintable() else " " for char in lines[0]).strip() if lines else ""
    short = first[:limit]
    return f"{short} …" if len(lines) > 1 or len(first) > limit else short


def shown_path(path: str) -> str:
    """A path that stays on its line: control characters and line breaks become escapes."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in clean(path))
