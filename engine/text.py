"""Text from outside, made safe to store, index and send: applied once at each boundary and nowhere else; and titles."""

from __future__ import annotations

_NUL_PICTURE = "\u2400"
_DELETE = 0x7F
TITLE_LENGTH = 60


def _pictures() -> dict[int, str]:
    """What a terminal would obey or be led astray by, each with what is shown instead."""
    controls = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"}
    controls[_DELETE] = "\u2421"
    hidden = [*range(0x80, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)]
    return controls | {code: f"⟨U+{code:04X}⟩" for code in hidden}


_VISIBLE = _pictures()


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


def visible(text: str) -> str:
    """``text`` fit for a terminal: controls other than newline and tab are shown as pictures (ESC as ␛), and so are
    C1 controls, line separators and marks that reorder the line, by their number. CRLF counts as a newline."""
    return clean(text).replace("\r\n", "\n").translate(_VISIBLE)


def title_of(text: str) -> str:
    """A title made of the first line of ``text``, at most 60 characters, cut at a word."""
    line = next((stripped for raw in text.splitlines() if (stripped := raw.strip())), "")
    if len(line) <= TITLE_LENGTH:
        return line
    return line[: TITLE_LENGTH - 1].rsplit(" ", 1)[0] + "…"
