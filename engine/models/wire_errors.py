"""Failures of a provider as `ModelError`: what happened, in words for a person, and whether another try can help."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from engine.models.base import ModelError
from engine.models.wire_usage import look
from engine.text import clean

_OVERFLOW = re.compile(
    r"context.?(length|window|size|limit)|maximum context|prompt is too long|too many (input )?tokens|exceed_context"
    r"|request.?too.?large|exceeds the maximum (allowed )?(size|number of (bytes|tokens))|reduce the length",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|credit balance", re.IGNORECASE)
_SECRET = re.compile(r"\b(?:sk|pk|rk|gsk|xai|key|token)[-_][\w*.-]{4,}|Bearer\s+\S+", re.IGNORECASE)
_MESSAGE_LIMIT = 400

# Words providers use where there is no status code: in the middle of a stream.
_STATUS_OF_WORD = {
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "invalid_prompt": 400,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "overloaded_error": 529,
    "server_is_overloaded": 529,
    "timeout_error": 504,
}


@dataclass(frozen=True, slots=True)
class Origin:
    """Whom a request went to. ``secret`` is the key, kept only to keep it out of messages."""

    spec: str
    base_url: str | None
    key_env: str
    secret: str | None = None

    @property
    def host(self) -> str:
        """Where it went, without credentials an address may hold."""
        parts = urlsplit(self.base_url or "")
        return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or self.spec.partition("/")[0]


class ProviderError(Exception):
    """An error the provider put into the stream itself; ``body`` has its ``code``, ``type``, ``message``."""

    def __init__(self, body: Any) -> None:
        super().__init__(str(look(body, "message") or "the provider reported an error"))
        self.body = body


def cut_off(origin: Origin) -> ModelError:
    """The connection ended before the answer did."""
    return ModelError(
        "network",
        f"The connection to {origin.host} was cut before the answer was complete.",
        suggestion="Try again; if it keeps happening, look at the network or the server's log.",
        retryable=True,
    )


@contextmanager
def as_model_errors(origin: Origin, sdk: Any) -> Iterator[None]:
    """Turn what ``sdk`` (the module), its HTTP library and unreadable answers raise into `ModelError`."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        known = model_error(error, origin, sdk)
        if known is None:
            raise
        raise known from error


def model_error(error: Exception, origin: Origin, sdk: Any) -> ModelError | None:
    """The `ModelError` for ``error``; None when it is none of the provider's doing."""
    import httpx2

    if isinstance(error, sdk.APITimeoutError | httpx2.TimeoutException):
        return _network(origin, "did not answer in time")
    if isinstance(error, sdk.APIConnectionError):
        return _network(origin, f"cannot be reached ({_root(error)})")
    if isinstance(error, httpx2.TransportError | httpx2.StreamError):
        return cut_off(origin)
    if isinstance(error, sdk.APIStatusError):
        return _from_answer(error.status_code, error.body, error.response.headers, str(error), origin)
    if isinstance(error, sdk.APIError | ProviderError):
        return _from_answer(200, error.body, {}, str(error), origin)
    if "authentication" in str(error) or "credentials" in str(error):
        return _auth(origin, "no key is set")
    if isinstance(error, ValueError | TypeError | LookupError | AttributeError):
        # JSON that is none, text that is not UTF-8, fields of another type.
        return ModelError(
            "server",
            f"{origin.host} sent an answer that cannot be read ({type(error).__name__}).",
            suggestion="Try again; if it keeps happening, the server does not speak this wire format.",
            retryable=True,
        )
    return None


def _from_answer(status: int, body: Any, headers: Mapping[str, str], text: str, origin: Origin) -> ModelError:
    """Classify by status; in a stream that began well, by the word in the body."""
    detail = look(body, "error") or body
    words = " ".join(str(look(detail, name) or "") for name in ("code", "type"))
    said = _presentable(str(look(detail, "message") or text), origin)
    if status < 400:
        status = next((_STATUS_OF_WORD[word] for word in words.split() if word in _STATUS_OF_WORD), 500)
    # Also 429: more tokens in one request than a minute allows can only be helped by a shorter request.
    if status in (400, 413, 422, 429, 500) and _OVERFLOW.search(f"{words} {said}"):
        return ModelError(
            "context_overflow",
            f"The conversation is longer than {origin.spec} can read: {said}",
            suggestion="Compact the conversation, or use a model with a larger context window.",
        )
    if status == 402 or (status in (400, 403, 429) and _QUOTA.search(f"{words} {said}")):
        return ModelError(
            "rate_limit",
            f"The account at {origin.host} has no credit left: {said}",
            suggestion="Check the plan and billing of the account, or use another model.",
        )
    return _by_status(status, said, _retry_after(headers), origin)


def _by_status(status: int, said: str, retry_after: float | None, origin: Origin) -> ModelError:
    if status in (401, 403):
        return _auth(origin, said)
    if status == 404:
        return ModelError(
            "no_model",
            f"{origin.host} does not have {origin.spec}: {said}",
            suggestion="Check the model's name and the base URL; `agent-tui models` lists what can be used.",
        )
    if status == 429:
        return ModelError(
            "rate_limit",
            f"{origin.host} asks to slow down: {said}",
            suggestion="Wait a little, or use another model.",
            retryable=True,
            retry_after=retry_after,
        )
    if status in (408, 409, 425) or status >= 500:
        busy = status in (502, 503, 529)
        return ModelError(
            "overloaded" if busy else "server",
            f"{origin.host} is {'overloaded' if busy else 'in trouble'}: {said}",
            suggestion="Try again later, or use another model.",
            retryable=True,
            retry_after=retry_after,
        )
    return ModelError(
        "bad_request",
        f"{origin.host} refused the request: {said}",
        suggestion="Another model may accept it; if none does, please report it with the log.",
    )


def _auth(origin: Origin, said: str) -> ModelError:
    return ModelError(
        "auth",
        f"{origin.host} did not accept the key: {said}",
        suggestion=f"Set {origin.key_env} to a valid key for {origin.spec}.",
    )


def _network(origin: Origin, what: str) -> ModelError:
    return ModelError(
        "network",
        f"{origin.host} {what}.",
        suggestion="Check the network and the base URL, and that the server is running.",
        retryable=True,
    )


def _root(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return clean(str(error))[:_MESSAGE_LIMIT] or type(error).__name__


def _presentable(said: str, origin: Origin) -> str:
    """The provider's words on one line, short, with nothing in them that looks like a key."""
    said = " ".join(clean(said).split())
    if origin.secret:
        said = said.replace(origin.secret, "[key]")
    return _SECRET.sub("[key]", said)[:_MESSAGE_LIMIT]


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the provider asks to wait: milliseconds, seconds or a date."""
    try:
        if wait := headers.get("retry-after-ms"):
            return max(0.0, float(wait) / 1000)
        if wait := headers.get("retry-after"):
            if wait.replace(".", "", 1).isdigit():
                return float(wait)
            return max(0.0, (parsedate_to_datetime(wait) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
    return None
