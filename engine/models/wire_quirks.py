"""How a server departs from the wire format it speaks: data set by the provider, read by the wires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Quirks:
    """Defaults are what the format's own maker serves; `LENIENT` suits other servers.

    supports_tools: False leaves tools out of the request.
    send_stream_options: ask a Chat Completions server for usage at the end of the stream.
    send_cache_key: send the session as ``prompt_cache_key``.
    send_allowed_tools: mask tools by ``tool_choice``; otherwise the runtime's refusal alone masks them.
    encrypted_reasoning: ask for reasoning items that can be sent back; None decides by the model's name.
    reasoning_fields: where a Chat Completions server streams its thinking; the first one found counts.
    send_reasoning: the field in which a Chat Completions server wants earlier thinking back; empty for none.
    extra_body: more fields of the request, such as ``{"thinking": {"type": "adaptive"}}``; the same all session.
    key_env: the environment variable a person would put the key in; empty for the format's usual one.
    """

    supports_tools: bool = True
    send_stream_options: bool = True
    send_cache_key: bool = True
    send_allowed_tools: bool = True
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_completion_tokens"
    encrypted_reasoning: bool | None = None
    reasoning_fields: tuple[str, ...] = ("reasoning_content", "reasoning")
    send_reasoning: str = ""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    key_env: str = ""


OFFICIAL = Quirks()
LENIENT = Quirks(send_cache_key=False, send_allowed_tools=False, max_tokens_field="max_tokens")


def default_quirks(base_url: str | None) -> Quirks:
    """`OFFICIAL` for the makers' own addresses (also None), `LENIENT` for every other server."""
    host = urlsplit(base_url).hostname if base_url else None
    if host is None or host.endswith((".openai.com", ".anthropic.com")):
        return OFFICIAL
    return LENIENT
