"""Session ids: short, safe as a file name, sorted by time of birth."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime
from pathlib import Path

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def is_safe(session: str) -> bool:
    """Whether ``session`` may name a folder: nothing that could leave it or hide."""
    return _SAFE.fullmatch(session) is not None


def new_id(now: datetime | None = None) -> str:
    """Like ``20261130-102233-x7k2``: UTC to the second, two characters of milliseconds, two of chance."""
    now = now or datetime.now(UTC)
    high, low = divmod(now.microsecond // 1000, 36)
    chance = "".join(secrets.choice(_DIGITS) for _ in range(2))
    return f"{now:%Y%m%d-%H%M%S}-{_DIGITS[high]}{_DIGITS[low]}{chance}"


def claim(sessions: Path) -> str:
    """A new id nobody else has: making its folder under ``sessions`` is what claims it, across processes.

    Raises OSError when no folder can be made there.
    """
    sessions.mkdir(parents=True, exist_ok=True, mode=0o700)
    while True:
        session = new_id()
        try:
            (sessions / session).mkdir(mode=0o700)
        except FileExistsError:
            continue
        return session
