"""How many tokens a text has, offline."""

from __future__ import annotations

from functools import cache
from typing import Any

CHARS_PER_TOKEN = 3.5
_SLICE = 50_000
"""Characters counted at a time. A token has a byte at least and a character has four at most, so that no slice has more
tokens than the encoding takes: it refuses texts of more than 200,000."""


@cache
def _encoding() -> Any:
    import bpe_openai

    return bpe_openai.get_encoding("o200k_base")


def count(text: str) -> int:
    """Tokens of ``text`` in the o200k vocabulary, of a long one to within a few: a token that lies across two slices
    counts as two. The first call loads the vocabulary, which takes about a second."""
    encoding = _encoding()
    return sum(len(encoding.encode_ordinary(text[at : at + _SLICE])) for at in range(0, len(text), _SLICE))


def rough(chars: int) -> int:
    """About how many tokens ``chars`` characters are: good enough to choose by."""
    return int(chars / CHARS_PER_TOKEN)
