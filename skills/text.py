"""Text of a SKILL.md as it really is: its encoding, its line ends, and characters a person does not see."""

from __future__ import annotations

import re
from collections import Counter

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))

# Invisible or reordering characters that can carry instructions nobody sees: zero-width space and joiners, word
# joiners, bidirectional controls, byte order marks inside a text, and the tag block.
_INVISIBLE = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
# Joiners have a plain use between letters and pictures outside ASCII.
_JOINERS = "\u200c\u200d"


def decode(data: bytes) -> tuple[str, tuple[str, ...]]:
    """The text without BOM and with LF line ends, and what is odd about its bytes."""
    messages = []
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "utf-8")
    if encoding == "utf-16":
        messages.append("it is UTF-16; UTF-8 is expected")
    else:
        data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        text = data.decode(encoding, "replace")
        messages.append(f"it is not valid {encoding.upper()} (byte {error.start}); bad bytes are shown as U+FFFD")
    return text.replace("\r\n", "\n").replace("\r", "\n"), tuple(messages)


def unseen(text: str) -> tuple[str, ...]:
    """A message for each kind of character in ``text`` that a person reading it does not see."""
    counts: Counter[str] = Counter()
    lines: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        for kind in _kinds(line):
            counts[kind] += 1
            lines.setdefault(kind, number)
    return tuple(f"{kind} in it ({n} times, first in line {lines[kind]})" for kind, n in sorted(counts.items()))


def visible(text: str) -> str:
    """``text`` on one line, without what `unseen` reports."""
    return " ".join(_CONTROLS.sub("", _INVISIBLE.sub(_keep_joiner, text)).split())


def yaml_safe(text: str) -> str:
    """``text`` without the control characters YAML refuses."""
    return _CONTROLS.sub("", text)


def _kinds(line: str) -> list[str]:
    if line.isascii() and line.isprintable():
        return []
    invisible = [m for m in _INVISIBLE.finditer(line) if not _plain_joiner(m)]
    return ["invisible characters"] * len(invisible) + ["control characters"] * len(_CONTROLS.findall(line))


def _plain_joiner(found: re.Match[str]) -> bool:
    text, at = found.string, found.start()
    around = text[max(0, at - 1) : at] + text[at + 1 : at + 2]
    return found[0] in _JOINERS and len(around) == 2 and not any(c.isascii() for c in around)


def _keep_joiner(found: re.Match[str]) -> str:
    return found[0] if _plain_joiner(found) else ""
