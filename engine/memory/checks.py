"""Why a memory is not saved: secrets, what is known already, and what says otherwise than a memory there is."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from engine.logging_setup import redact, secrets_of

LONGEST = 500
SAME = 93.0
ALIKE = 62.0
_WORD = re.compile(r"[^\W_]+(?:[.\-/_][^\W_]+)*", re.UNICODE)
# Words that say nothing about what a sentence is about.
_EMPTY = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "has", "have", "in", "is", "it",
    "its", "of", "on", "or", "the", "this", "to", "use", "uses", "used", "we", "with", "run", "runs", "always",
    "never", "not", "no", "must", "should", "here",
})  # fmt: skip
_TOKEN = re.compile(r"[A-Za-z0-9+/=_\-]{20,}")
_PRIVATE = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(?:pass(?:word|phrase)|pin)\s+(?:is|ist|=|:)\s*\S+", re.I)
_RANDOM = 3.7


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why, and what to do instead. ``other``: the memory that stands in the way."""

    why: str
    advice: str
    other: str = ""


def refusal(text: str, known: Sequence[str], replaces: str = "") -> Refusal | None:
    """Why ``text`` is not saved beside ``known``; None when it can be. ``replaces``: a memory it takes the place of."""
    if not text.strip():
        return Refusal("a memory needs words", "say in one line what is worth remembering")
    if not text.strip().isprintable() or len(text) > LONGEST:
        why = f"a memory is one line of at most {LONGEST} characters, without control characters"
        return Refusal(why, "save the gist, or several memories one by one")
    if is_secret(text):
        return Refusal(
            "it looks like a secret", "never save keys, tokens or passwords; say where they are kept instead"
        )
    if replaces and replaces not in known:
        return Refusal("there is no memory with exactly those words to replace", "memory_search shows those there are")
    others = [line for line in known if line != replaces]
    if same := next((line for line in others if _likeness(text, line) >= SAME and not _differs(text, line)), ""):
        return Refusal(f"it is known already: {same!r}", "nothing needs to be done", same)
    if against := next((line for line in others if contradicts(text, line)), ""):
        return Refusal(
            f"it says otherwise than a memory there is: {against!r}",
            "if the new one is right, save it again with replaces set to exactly that text; else leave it",
            against,
        )
    return None


def is_secret(text: str) -> bool:
    """Whether ``text`` holds something that nobody should find in a file."""
    if redact(text, secrets_of(os.environ)) != text or _PRIVATE.search(text):
        return True
    return any(_looks_random(token) for token in _TOKEN.findall(text))


def contradicts(one: str, other: str) -> bool:
    """Whether two memories are about the same thing and say it differently: they share most of what they are about, and
    each has a word, a number or a "not" the other lacks."""
    a, b = _subject(one), _subject(other)
    if not a or not b:
        return False
    common = len(a & b) / min(len(a), len(b))
    alike = max(_likeness(one, other), 100 * common if len(a & b) >= 2 else 0)
    return alike >= ALIKE and _differs(one, other)


def _likeness(one: str, other: str) -> float:
    from rapidfuzz import fuzz

    return float(fuzz.token_sort_ratio(_plain(one), _plain(other)))


def _differs(one: str, other: str) -> bool:
    """Whether each says something the other does not, or one of them says not."""
    a, b = set(_words(one)), set(_words(other))
    denial = {"not", "never", "no", "don't", "without"}
    return bool((a - b - _EMPTY) and (b - a - _EMPTY)) or bool((a ^ b) & denial)


def _subject(text: str) -> set[str]:
    return {word for word in _words(text) if word not in _EMPTY}


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _plain(text: str) -> str:
    return " ".join(_words(text))


def _looks_random(token: str) -> bool:
    """Long, of several kinds of characters, and without the look of words: a key, not a path or a name."""
    if re.fullmatch("[0-9a-fA-F]+", token):
        return len(token) >= 32 and len(set(token)) >= 8
    kinds = sum(bool(re.search(kind, token)) for kind in ("[a-z]", "[A-Z]", "[0-9]"))
    parts = re.split(r"[-_/]", token)
    if kinds < 2 or token.count("/") > 1 or all(re.fullmatch("[A-Za-z]*[0-9]{0,4}", part) for part in parts):
        return False
    counts = Counter(token)
    return -sum(n / len(token) * math.log2(n / len(token)) for n in counts.values()) >= _RANDOM
