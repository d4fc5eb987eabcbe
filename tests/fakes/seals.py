"""Signatures on thinking, so that a validator knows without memory whether it gets back exactly what was issued."""

from __future__ import annotations

import base64
import hashlib
import hmac

_KEY = b"the strict servers' own key"


def seal(text: str) -> str:
    """The signature of thinking text (or of a reasoning id)."""
    return base64.b64encode(hmac.new(_KEY, text.encode(errors="surrogatepass"), hashlib.sha256).digest()).decode()


def encrypt(text: str) -> str:
    """Opaque data that `is_genuine` recognises: redacted thinking, encrypted reasoning."""
    return base64.b64encode(text.encode(errors="surrogatepass")).decode() + "." + seal(text)


def is_genuine(data: object) -> bool:
    """Whether ``data`` came out of `encrypt`, unchanged."""
    if not isinstance(data, str) or "." not in data:
        return False
    body, _, signature = data.partition(".")
    try:
        text = base64.b64decode(body, validate=True).decode(errors="surrogatepass")
    except ValueError:
        return False
    return signature == seal(text)
