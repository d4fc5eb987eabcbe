"""What can be said of a line before reading it: its length, and characters that hide what it says."""

from __future__ import annotations

import re
import unicodedata

from sandbox.classify.findings import Finding, high, medium

# Nobody reads more than this before saying yes.
LONGEST = 64 * 1024

_SUSPECT = re.compile(r"[^\t\n\x20-\x7e]")
_TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def screen(text: str) -> list[Finding]:
    """Findings about the bare text. Any of them that is high means: do not parse."""
    if len(text) > LONGEST:
        return [high(f"longer than {LONGEST // 1024} KB, so it is not read", contained=False)]
    if text.isascii() and text.isprintable():
        return []
    found: dict[str, Finding] = {}
    for match in _SUSPECT.finditer(text):
        finding = _suspect(match[0])
        if finding is not None and finding.reason not in found:
            span = match.span()
            found[finding.reason] = Finding(finding.risk, finding.reason, finding.effect, finding.contained, span)
    return list(found.values())


def _suspect(char: str) -> Finding | None:
    category = unicodedata.category(char)
    if category == "Cs":
        return high("holds text that is not valid Unicode", contained=False)
    if category == "Cc":
        return high("holds control characters, so what is shown is not what runs", contained=False)
    if char in _TURNS:
        return high("holds characters that change the order of what is shown", contained=False)
    if category in ("Cf", "Cn", "Co", "Zs", "Zl", "Zp") or char in "\u115f\u1160\u3164\uffa0\u2800":
        return medium("holds invisible or unusual characters")
    return None
