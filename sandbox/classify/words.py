"""One shell word, with its quoting resolved exactly as bash resolves it.

Only plain words are understood: literal text, the three kinds of quoting, `$NAME`, globs and a leading tilde.
Everything else (substitution, arithmetic, `$'…'`, line continuation, extended globs) raises `NotPlain`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace


class NotPlain(Exception):
    """The text uses more of the shell than a plain line; read it by its syntax tree instead."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command, and where it stands in the line (``start`` .. ``end``, in characters).

    text: what the program would receive, as far as that is known; a leading ``~`` stands for the home folder.
    mask: the same length as ``text`` with every quoted character replaced, so operators and keywords can be told
    from quoted look-alikes; an unquoted ``$NAME`` is dollars throughout.
    glob: may become several file names. expands: holds a tilde or ``$HOME``, whose value is known.
    unknown: holds a value known only when it runs. fed: comes from another program's output (xargs, find -exec).
    """

    text: str
    start: int
    end: int
    mask: str = ""
    glob: bool = False
    expands: bool = False
    unknown: bool = False
    fed: bool = False

    @property
    def literal(self) -> bool:
        """Whether the program receives exactly ``text``."""
        return not (self.glob or self.expands or self.unknown or self.fed)

    @property
    def could_be_option(self) -> bool:
        """Whether what it becomes may begin with ``-`` although that cannot be read here."""
        if self.unknown:
            return "$" in self.mask or re.match(r"[A-Za-z0-9_./:=@+,~]", self.text) is None
        if self.fed:
            return self.text == ""
        # The names `--include=*.py` may become all begin with that same option.
        return self.glob and re.match(r"[*?\[]|-[^=*?\[]*[*?\[]", self.text) is not None

    def tail(self, start: int) -> Word:
        """The word from character ``start`` on, at the same place: the value in ``--name=value``."""
        return replace(self, text=self.text[start:], mask=self.mask[start:])


# Stands for one quoted character in a mask. It cannot occur in a line: control characters are refused before.
QUOTED = "\x01"

_RUN = re.compile(r"[A-Za-z0-9_./%+@:,=^~{}*?!\[\]#-]+|[^\x00-\x7f]+")
_SINGLE = re.compile(r"'([^']*)'")
_DOUBLE_RUN = re.compile(r'[^"\\$`]+')
_PARAMETER = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*|[0-9]+)\}|[0-9?#$!@*_-])")
_TILDE = re.compile(r"(?:^|[=:])~")
_ENDS = frozenset(" \t\n;&|<>")


class _Scan:
    """The state of reading one word: the text so far, its mask, and what it may expand to."""

    __slots__ = ("at", "expands", "line", "mask", "text", "unknown")

    def __init__(self, line: str, at: int) -> None:
        self.line = line
        self.at = at
        self.text: list[str] = []
        self.mask: list[str] = []
        self.expands = False
        self.unknown = False

    def add(self, text: str, quoted: bool) -> None:
        self.text.append(text)
        self.mask.append(QUOTED * len(text) if quoted else text)

    def double_quoted(self) -> None:
        """From the opening quote at ``at`` to just after the closing one."""
        line = self.line
        self.at += 1
        while True:
            if run := _DOUBLE_RUN.match(line, self.at):
                self.add(run[0], quoted=True)
                self.at = run.end()
            char = line[self.at : self.at + 1]
            if char == '"':
                self.at += 1
                return
            if char == "$":
                self.parameter(quoted=True)
            elif char == "\\":
                self.escaped_in_double_quotes()
            else:
                raise NotPlain("unclosed quote or substitution")

    def escaped_in_double_quotes(self) -> None:
        following = self.line[self.at + 1 : self.at + 2]
        if following in ("", "\n"):
            raise NotPlain("line continuation")
        self.add(following if following in '$`"\\' else "\\" + following, quoted=True)
        self.at += 2

    def parameter(self, quoted: bool) -> None:
        """A ``$`` at ``at``: a named value, a literal dollar, or more than a plain line holds."""
        found = _PARAMETER.match(self.line, self.at)
        if found:
            if (found[1] or found[2]) == "HOME" and not any(self.text):
                self.add("~", quoted=True)
                self.expands = True
            else:
                self.text.append(found[0])
                # An unquoted value may be split into several words; the dollars in the mask say so.
                self.mask.append((QUOTED if quoted else "$") * len(found[0]))
                self.unknown = True
            self.at = found.end()
            return
        following = self.line[self.at + 1 : self.at + 2]
        if following and following in ("({[" if quoted else "({['\""):
            raise NotPlain("substitution")
        self.add("$", quoted=True)
        self.at += 1


def scan_word(line: str, start: int, base: int = 0) -> tuple[Word, int]:
    """The word that begins at ``start``, and the offset just after it; ``base`` is where ``line`` itself stands.

    Raises `NotPlain`.
    """
    scan = _Scan(line, start)
    size = len(line)
    while scan.at < size:
        char = line[scan.at]
        if char in _ENDS:
            break
        if run := _RUN.match(line, scan.at):
            scan.add(run[0], quoted=False)
            scan.at = run.end()
        elif char == "'":
            single = _SINGLE.match(line, scan.at)
            if single is None:
                raise NotPlain("unclosed quote")
            scan.add(single[1], quoted=True)
            scan.at = single.end()
        elif char == '"':
            scan.double_quoted()
        elif char == "$":
            scan.parameter(quoted=False)
        elif char == "\\" and scan.at + 1 < size and line[scan.at + 1] != "\n":
            scan.add(line[scan.at + 1], quoted=True)
            scan.at += 2
        else:
            raise NotPlain(f"{char!r}")
    return _finish(scan, start, base), scan.at


def _finish(scan: _Scan, start: int, base: int) -> Word:
    text, mask = "".join(scan.text), "".join(scan.mask)
    brace = mask.find("{")
    if brace >= 0 and (mask.find(",", brace) > 0 or mask.find("..", brace) > 0):
        raise NotPlain("brace expansion")
    # A lone `[` is the test command; a pattern needs its closing bracket.
    glob = "*" in mask or "?" in mask or ("[" in mask and "]" in mask[mask.index("[") :])
    tilde = "~" in mask and _TILDE.search(mask) is not None
    return Word(text, base + start, base + scan.at, mask, glob, scan.expands or tilde, scan.unknown)


def read_word(text: str, start: int = 0) -> Word:
    """``text`` as one word standing at ``start``; unknown when it is more than a plain word. Never raises."""
    try:
        word, end = scan_word(text, 0, start)
    except NotPlain:
        return Word(text, start, start + len(text), unknown=True)
    if end != len(text):
        return Word(text, start, start + len(text), unknown=True)
    return word
