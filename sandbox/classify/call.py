"""One program call, as the judges see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sandbox.classify.findings import Finding, high, listed
from sandbox.classify.place import Place
from sandbox.classify.words import Word


@dataclass(frozen=True, slots=True)
class Call:
    """A program, its arguments, where it runs, and ways to judge what it runs in turn.

    upstream, downstream: names of the programs before and after it in its pipeline.
    fed_by: standard input is a ``pipe``, a ``file``, ``text`` in the line, or empty when inherited.
    run: judges an inner command line given as words. script: judges text that a shell would read.
    """

    name: str
    head: Word
    args: tuple[Word, ...]
    place: Place
    upstream: tuple[str, ...]
    downstream: tuple[str, ...]
    fed_by: str
    run: Callable[[Sequence[Word]], list[Finding]]
    script: Callable[[str], list[Finding]]

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.args]

    @property
    def plain(self) -> bool:
        """Whether every argument is known exactly."""
        return all(word.literal for word in self.args)

    def operands(self) -> list[Word]:
        """The arguments that do not look like options: a first guess, for effects and for paths."""
        return [word for word in self.args if not word.text.startswith("-")]

    def secrets(self, words: Sequence[Word], content: bool = True) -> list[Finding]:
        """A finding for each of ``words`` that names something private."""
        return [private(word) for word in words if self.place.secret(path_in(word), content)]


Judge = Callable[[Call], list[Finding]]


def private(word: Word) -> Finding:
    """Reading keys, credentials or raw devices."""
    return high("reads private data such as keys or credentials", f"reads {listed([word])}", contained=False, at=word)


def path_in(word: Word) -> Word:
    """The path inside a word such as ``--file=/x``, ``-f/x``, ``if=/x``, ``@/x`` or ``HEAD:x``; else the word."""
    text = word.text
    if text.startswith(("/", "~", "./", "../")):
        return word
    for mark in ("=", "@", ":"):
        before, found, after = text.partition(mark)
        if found and after and "/" not in before:
            return word.tail(len(before) + 1)
    if text.startswith("-") and not text.startswith("--"):
        slash = min((text.index(char) for char in "/~" if char in text), default=0)
        return word.tail(slash or min(2, len(text)))
    return word
