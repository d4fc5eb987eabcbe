"""Text from outside, made safe to store, index and send: applied once at each boundary and nowhere else."""

from __future__ import annotations

_NUL_PICTURE = "\u2400"


def clean(text: str) -> str:
    """``text`` without what databases and JSON refuse: lone surrogates become U+FFFD, NUL becomes its picture."""
    if "\0" in text:
        text = text.replace("\0", _NUL_PICTURE)
    try:
        text.encode()
    except UnicodeEncodeError:
        # Valid surrogate pairs (two escapes of one JSON string) join into their character; lone ones are replaced.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
