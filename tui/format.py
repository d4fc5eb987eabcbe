"""Numbers and times as people read them. Pure; every pane uses these and no other."""

from __future__ import annotations

from datetime import datetime


def count(n: int) -> str:
    """``950``, ``12.3k``, ``1.2M``: at most five characters."""
    if n < 1000:
        return str(n)
    for size, unit in ((1_000, "k"), (1_000_000, "M"), (1_000_000_000, "G")):
        value = n / size
        if value < 99.95:
            return f"{value:.1f}{unit}"
        if value < 999.5:
            return f"{value:.0f}{unit}"
    return f"{n / 1e9:.0f}G"


def money(usd: float | None) -> str:
    """``$0.21``, ``$0.0004`` for crumbs, ``?`` when the price is unknown."""
    if usd is None:
        return "?"
    if usd and abs(usd) < 0.01:
        return f"${usd:.4f}"
    return f"${usd:.2f}"


def cost(usd: float, unpriced: int) -> str:
    """As `money`; where ``unpriced`` answers have no known price it is a lower bound, or nothing is known."""
    if not unpriced:
        return money(usd)
    return f"{money(usd)} + ?" if usd else "?"


def duration(seconds: float) -> str:
    """``0.4 ms``, ``85 ms``, ``3.1 s``, ``4:52``, ``1:02:03``. Never negative."""
    seconds = min(max(0.0, seconds), 1e9)  # infinity, from somebody's file, is a long time too
    if seconds < 0.01:
        return f"{seconds * 1000:.1f} ms"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, secs = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{secs:02}" if hours else f"{minutes}:{secs:02}"


def size(octets: int) -> str:
    """``512 B``, ``12.0 kB``, ``3.4 MB``: decimal units."""
    if octets < 1000:
        return f"{octets} B"
    value = float(octets)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 999.95:
            return f"{value:.1f} {unit}"
    return f"{value / 1000:.1f} TB"


def clock(at: datetime) -> str:
    """Local time of day, ``10:02``."""
    return at.astimezone().strftime("%H:%M")


def day(at: datetime) -> str:
    """Local date and time, ``2026-11-30 10:02``."""
    return at.astimezone().strftime("%Y-%m-%d %H:%M")


def approve_mode(value: str) -> str:
    """An approve mode by the name people know it by: ``sandboxed`` is ``contained``."""
    return "contained" if value == "sandboxed" else value


def plural(n: int, word: str) -> str:
    """``1 line``, ``2 lines``."""
    return f"{n} {word}" if n == 1 else f"{n:,} {word}s"
