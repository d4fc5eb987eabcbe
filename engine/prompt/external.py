"""Text from outside as the model reads it: in a wrapper that says where it is from and that it cannot leave."""

from __future__ import annotations

import html
import re

from engine.events import External

_TAG = re.compile(r"<(?=[\s/\\]*external)", re.IGNORECASE)


def enclosed(text: str, external: External | None) -> str:
    """``text`` within <external> tags; unchanged when it is from this machine."""
    if external is None:
        return text
    given = (
        ("source", external.source),
        ("url", external.url),
        ("time", external.at),
        ("trust", external.trust),
    )
    said = "".join(f' {name}="{_attribute(value)}"' for name, value in given if value)
    return f"<external{said}>\n{_TAG.sub('&lt;', text)}\n</external>"


def _attribute(value: str) -> str:
    """On one line, and without what would end the attribute or the tag."""
    return html.escape(" ".join(value.split()))
