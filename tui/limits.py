"""Limits as a person writes them: ``turns=20 cost=1.50 seconds=none``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NAMES: dict[str, type[int] | type[float]] = {
    "turns": int,
    "calls": int,
    "tokens": int,
    "cost": float,
    "seconds": float,
    "repeats": int,
}
FIELDS = {"calls": "tool_calls"}


def parse(text: str, present: Mapping[str, Any]) -> dict[str, Any]:
    """``present`` with what ``text`` says changed; ``none`` lifts a limit. Raises ValueError in a person's words."""
    limits = dict(present)
    for word in text.split():
        name, equals, value = word.partition("=")
        if name not in NAMES or not equals:
            raise ValueError(f"{word!r} is no limit. Write for example: turns=20 cost=1.50 seconds=none")
        limits[FIELDS.get(name, name)] = _value(name, value)
    return limits


def _value(name: str, value: str) -> int | float | None:
    if value.lower() in ("none", "no", "off", ""):
        return None
    try:
        number = NAMES[name](value.lstrip("$"))
    except ValueError:
        raise ValueError(f"{name}={value!r} is not a number. Use a number, or none to lift the limit.") from None
    if not 0 < number < float("inf"):
        raise ValueError(f"{name} must be more than 0. Use none to lift the limit.")
    return number


def write(limits: Mapping[str, Any]) -> str:
    """The limits as `parse` reads them."""
    words = []
    for name in NAMES:
        value = limits.get(FIELDS.get(name, name))
        words.append(f"{name}={'none' if value is None else value}")
    return " ".join(words)
