"""How many tokens a text has, offline."""

from __future__ import annotations

from functools import cache
from typing import Any

CHARS_PER_TOKEN = 3.5


@cache
def _encoding() -> Any:
    import bpe_openai

    return bpe_openai.get_encoding("o200k_base")


def count(text: str) -> int:
    """Tokens of ``text`` in the o200k vocabulary. The first call loads it, which takes about a second."""
    return len(_encoding().encode_ordinary(text))


def rough(chars: int) -> int:
    """About how many tokens ``chars`` characters are: good enough to choose by."""
    return int(chars / CHARS_PER_TOKEN)
