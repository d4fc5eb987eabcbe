"""Options as GNU programs read them, against a closed list: whatever is not on it makes the reading fail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from sandbox.classify.words import Word


@dataclass(frozen=True, slots=True)
class Parsed:
    """``options``: (name without dashes, value or None) in order. ``operands``: the other words."""

    options: tuple[tuple[str, Word | None], ...]
    operands: tuple[Word, ...]

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.options)

    def values(self, *names: str) -> list[Word]:
        return [value for name, value in self.options if name in names and value is not None]


@dataclass(frozen=True, slots=True)
class Grammar:
    """What a program accepts. Made by `grammar`."""

    flags: frozenset[str]
    values: frozenset[str]
    attached: frozenset[str]
    permute: bool = True


@cache
def grammar(text: str, permute: bool = True) -> Grammar:
    """A grammar from ``"-n -k: --count --key= --color=? "``: ``:`` and ``=`` take a value, ``?`` only an attached one.

    permute False: options end at the first operand, as for programs that run another program.
    """
    flags, values, attached = set(), set(), set()
    for item in text.split():
        name = item.rstrip(":=?").lstrip("-")
        if item.endswith("?"):
            attached.add(name)
        elif item.endswith((":", "=")):
            values.add(name)
        else:
            flags.add(name)
    return Grammar(frozenset(flags), frozenset(values), frozenset(attached), permute)


def parse(words: Sequence[Word], known: Grammar) -> Parsed | None:
    """``words`` read against ``known``; None when an option is not on the list or a word may turn into one."""
    options: list[tuple[str, Word | None]] = []
    operands: list[Word] = []
    rest = iter(words)
    for word in rest:
        if word.could_be_option:
            return None
        if word.text == "--":
            operands += rest
        elif word.text.startswith("--"):
            if not _long(word, rest, known, options):
                return None
        elif word.text.startswith("-") and len(word.text) > 1:
            if not _cluster(word, rest, known, options):
                return None
        else:
            operands.append(word)
            if not known.permute:
                operands += rest
    return Parsed(tuple(options), tuple(operands))


def _long(word: Word, rest: Iterable[Word], known: Grammar, options: list[tuple[str, Word | None]]) -> bool:
    name, equals, _ = word.text[2:].partition("=")
    if equals:
        options.append((name, word.tail(len(name) + 3)))
        return name in known.values or name in known.attached
    return _separate(name, rest, known, options)


def _separate(name: str, rest: Iterable[Word], known: Grammar, options: list[tuple[str, Word | None]]) -> bool:
    """An option whose value, if it needs one, is the next word."""
    if name in known.values:
        value = next(iter(rest), None)
        options.append((name, value))
        return value is not None and not value.could_be_option
    options.append((name, None))
    return name in known.flags or name in known.attached


def _cluster(word: Word, rest: Iterable[Word], known: Grammar, options: list[tuple[str, Word | None]]) -> bool:
    """``-abc``, ``-k2`` or ``-k 2``."""
    letters = word.text[1:]
    for i, letter in enumerate(letters):
        remaining = letters[i + 1 :]
        if letter in known.attached or (letter in known.values and remaining):
            options.append((letter, word.tail(i + 2)))
            return True
        if not _separate(letter, rest, known, options):
            return False
    return True
