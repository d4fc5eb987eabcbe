"""What a command is found to do, and how findings become one assessment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sandbox.classify.words import Word
from sandbox.risk import Assessment, Risk

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that takes a command above low. ``span`` is where it stands in the line, once known."""

    risk: Risk
    reason: str
    effect: str = ""
    contained: bool = True
    span: Span | None = None


def medium(reason: str, effect: str = "", *, contained: bool = True, at: Word | None = None) -> Finding:
    """Changes something the sandbox holds, or cannot be read with certainty."""
    return Finding(Risk.MEDIUM, reason, effect, contained, (at.start, at.end) if at else None)


def high(reason: str, effect: str = "", *, contained: bool = True, at: Word | None = None) -> Finding:
    """Destroys, persists, escalates, leaks or reaches out."""
    return Finding(Risk.HIGH, reason, effect, contained, (at.start, at.end) if at else None)


def at_least_medium(found: Sequence[Finding], reason: str, effect: str = "") -> list[Finding]:
    """``found``, with ``reason`` put in front when nothing in it is above low yet."""
    return list(found) if found else [medium(reason, effect)]


def placed(found: Iterable[Finding], span: Span) -> list[Finding]:
    """The same findings; those that do not know where they stand yet stand at ``span``."""
    return [finding if finding.span else replace(finding, span=span) for finding in found]


def moved(found: Iterable[Finding], span: Span) -> list[Finding]:
    """The same findings, all standing at ``span``: for text inside a word, which has offsets of its own."""
    return [replace(finding, span=span) for finding in found]


def assessment(found: Sequence[Finding], length: int) -> Assessment:
    """One assessment of all findings, worst first. ``length`` is the line's, to keep spots inside it."""
    if not found:
        return Assessment(Risk.LOW, ("only reads",))
    ranked = sorted(found, key=lambda finding: -finding.risk)
    return Assessment(
        risk=ranked[0].risk,
        reasons=tuple(dict.fromkeys(finding.reason for finding in ranked))[:8],
        effects=tuple(dict.fromkeys(finding.effect for finding in found if finding.effect))[:12],
        contained=all(finding.contained for finding in found),
        spots=_spots((finding.span for finding in found if finding.span), length),
    )


def _spots(spans: Iterable[Span], length: int) -> tuple[Span, ...]:
    """Sorted, overlapping ones joined, empty ones dropped."""
    merged: list[Span] = []
    for start, end in sorted((max(0, start), min(end, length)) for start, end in spans):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def listed(words: Sequence[Word], limit: int = 3) -> str:
    """The first few of ``words`` as a person would say them: ``a, b, c and 4 more``."""
    texts = [word.text if len(word.text) <= 60 else word.text[:57] + "…" for word in words if not word.fed]
    if any(word.fed for word in words):
        texts.append("what it is given")
    more = len(texts) - limit
    return ", ".join(texts[:limit]) + (f" and {more} more" if more > 0 else "")
