"""Reads a plain shell line without help: pipelines of simple commands joined by ``&& || ; | &`` and newlines.

This is the only reading from which a line may be called low, so it refuses (`NotPlain`) whatever it is not sure of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sandbox.classify.words import NotPlain, Word, scan_word


@dataclass(frozen=True, slots=True)
class Redirect:
    """``op`` as written without its descriptor number; ``target`` is a file, a descriptor, or text for ``<<<``."""

    op: str
    target: Word
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command. ``upstream`` and ``downstream`` name the programs before and after it in its pipeline."""

    words: tuple[Word, ...]
    assigns: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    start: int
    end: int
    upstream: tuple[str, ...] = ()
    downstream: tuple[str, ...] = ()
    fed_by: str = ""

    @property
    def argv(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.words)

    @property
    def name(self) -> str:
        """Base name of the program as written, empty for assignments and redirections alone."""
        return self.words[0].text.rpartition("/")[2] if self.words else ""


@dataclass(frozen=True, slots=True)
class Line:
    """A whole plain line. ``joined`` holds every operator between its commands, in order."""

    commands: tuple[Command, ...]
    joined: tuple[str, ...]


# Words that bash reads as grammar where a command may begin. `time` and `!` are handled, the others refused.
KEYWORDS = frozenset(
    "if then elif else fi for while until do done case esac select function coproc in { } [[ ]] time !".split()
)

# More than this in one line is left to the tree, which gives up in time.
_MOST_COMMANDS = 500
_MOST_WORDS = 4_000

_BLANK = re.compile(r"[ \t]*")
_OPERATOR = re.compile(r"&&|\|\||;|\|&|\||&(?!>)|\n")
_REDIRECT = re.compile(r"([0-9]*)(<<<|<<|<>|<&|>>|>\||>&|<|>|&>>|&>)")
_ASSIGN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_SUBSCRIPT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[[^\]]*\]?\+?=?")


def read_line(text: str) -> Line:
    """The plain reading of ``text``. Raises `NotPlain` when there is none."""
    return _Reader(text).line()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def line(self) -> Line:
        commands: list[Command] = []
        joined: list[str] = []
        pipeline: list[Command] = []
        self.skip_newlines()
        while self.at < len(self.text):
            pipeline.append(self.command(first=not pipeline))
            if len(commands) + len(pipeline) > _MOST_COMMANDS:
                raise NotPlain("too many commands")
            operator = self.operator()
            if operator in ("|", "|&"):
                self.skip_newlines()
            else:
                commands += _linked(pipeline)
                pipeline = []
                if operator:
                    self.skip_newlines()
                if operator in ("&&", "||") and self.at >= len(self.text):
                    raise NotPlain("nothing after the operator")
            joined.append(operator)
        if pipeline:
            raise NotPlain("nothing after the pipe")
        return Line(tuple(commands), tuple(joined))

    def command(self, first: bool) -> Command:
        """One simple command from ``at`` to the operator that ends it."""
        words: list[Word] = []
        assigns: list[Word] = []
        redirects: list[Redirect] = []
        start = end = self.at
        while self.at < len(self.text) and not self.ended():
            redirect = self.redirect()
            if redirect is not None:
                redirects.append(redirect)
                end = redirect.end
                if len(redirects) > _MOST_COMMANDS:
                    raise NotPlain("too many redirections")
                continue
            word = self.word()
            end = word.end
            if len(words) + len(assigns) + len(redirects) > _MOST_WORDS:
                raise NotPlain("too many words")
            if not words and _ASSIGN.match(word.mask):
                assigns.append(word)
            elif not words and _SUBSCRIPT.match(word.mask):
                raise NotPlain("array element")
            elif word.mask == "!" and first and not (words or assigns or redirects):
                first = False
            elif not words and word.mask in KEYWORDS and (word.mask != "time" or assigns or redirects):
                raise NotPlain(f"keyword {word.mask}")
            else:
                words.append(word)
        if not (words or assigns or redirects):
            raise NotPlain("empty command")
        return Command(tuple(words), tuple(assigns), tuple(redirects), start, end)

    def word(self) -> Word:
        word, self.at = scan_word(self.text, self.at)
        if self.text[self.at : self.at + 1] in ("<", ">") and word.mask[:1] == "{":
            raise NotPlain("named descriptor")
        self.skip_blank()
        return word

    def redirect(self) -> Redirect | None:
        found = _REDIRECT.match(self.text, self.at)
        if found is None:
            return None
        start = self.at
        if found[2] == "<<" or (found[1] and found[2][0] == "&"):
            raise NotPlain("here-document")
        self.at = found.end()
        self.skip_blank()
        if self.at >= len(self.text) or self.ended() or self.text[self.at] in "<>#":
            raise NotPlain("redirection without a target")
        target, self.at = scan_word(self.text, self.at)
        end = self.at
        self.skip_blank()
        return Redirect(found[2], target, start, end)

    def operator(self) -> str:
        """The operator at ``at``, taken; empty at the end of the text."""
        self.skip_comment()
        if self.at >= len(self.text):
            return ""
        found = _OPERATOR.match(self.text, self.at)
        if found is None:
            raise NotPlain("operator")
        self.at = found.end()
        return found[0]

    def ended(self) -> bool:
        return self.text[self.at] == "#" or _OPERATOR.match(self.text, self.at) is not None

    def skip_blank(self) -> None:
        found = _BLANK.match(self.text, self.at)
        if found is not None:
            self.at = found.end()

    def skip_comment(self) -> None:
        if self.text[self.at : self.at + 1] == "#":
            newline = self.text.find("\n", self.at)
            self.at = len(self.text) if newline < 0 else newline

    def skip_newlines(self) -> None:
        """Past blanks, comments and newlines, to where a command may begin."""
        while True:
            self.skip_blank()
            self.skip_comment()
            if self.text[self.at : self.at + 1] != "\n":
                return
            self.at += 1


def _linked(pipeline: list[Command]) -> list[Command]:
    """The commands of one pipeline, each knowing its neighbours and what its standard input is."""
    if len(pipeline) == 1 and not pipeline[0].redirects:
        return pipeline
    names = [command.name for command in pipeline]
    return [
        replace(
            command,
            upstream=tuple(names[max(0, i - 30) : i]),
            downstream=tuple(names[i + 1 : i + 31]),
            fed_by=_fed_by(command, i > 0),
        )
        for i, command in enumerate(pipeline)
    ]


def _fed_by(command: Command, piped: bool) -> str:
    """Where standard input comes from: ``file``, ``text``, ``pipe``, or empty when it is inherited."""
    for redirect in reversed(command.redirects):
        if redirect.op == "<<<":
            return "text"
        if redirect.op[0] == "<":
            return "file"
    return "pipe" if piped else ""


def is_literal(command: Command) -> bool:
    """Whether the command is nothing but words that bash passes on unchanged."""
    return not command.assigns and not command.redirects and all(word.literal for word in command.words)
