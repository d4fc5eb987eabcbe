"""The one streaming interface every model speaks, whatever its wire.

A `Model` turns a provider-neutral `ModelRequest` into a stream of parts that ends with exactly one `Done`. Failure is
an exception, `ModelError`, so that no caller can take half an answer for a whole one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal, Protocol

from engine.events import Block, Usage
from engine.prompt.request import ModelRequest


@dataclass(frozen=True, slots=True)
class Start:
    """The provider accepted the request. ``request_id`` is its own, for trouble."""

    model: str
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class BlockStart:
    """Block ``index`` begins. ``name`` and ``call_id`` for tool calls."""

    index: int
    kind: Literal["text", "thinking", "tool_call"]
    name: str = ""
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class BlockDelta:
    """More of block ``index``: text, thinking, or JSON of a call's arguments."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class BlockEnd:
    """Block ``index`` is whole and clean: sanitised text, repaired arguments, a valid unique id."""

    index: int
    block: Block


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Usage so far; later reports replace earlier ones."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Done:
    """The end: all blocks in order, nothing empty among them, the normalised stop and the provider's own word."""

    blocks: tuple[Block, ...]
    stop: Literal["end", "tool_calls", "length", "refusal", "error"]
    provider_stop: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Restart:
    """Everything of this turn so far is void: a retry begins it anew. Only `engine.models.retry` yields it."""


Part = Start | BlockStart | BlockDelta | BlockEnd | UsageReport | Done | Restart


class ModelError(Exception):
    """A request failed. ``kind`` is for code, the message for a person, ``suggestion`` what they can do.

    kinds: auth, rate_limit, overloaded, network, server, bad_request, context_overflow, no_model, script, aborted.
    retry_after: seconds the provider asked for, None when it named none.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        suggestion: str = "",
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.suggestion = suggestion
        self.retryable = retryable
        self.retry_after = retry_after


class Model(Protocol):
    """A model that can be asked. ``spec`` is ``provider/model`` as on the command line."""

    spec: str
    context_window: int

    def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Send ``request`` and yield its parts; raises ModelError. Closing the iterator aborts the request."""
        ...

    async def aclose(self) -> None: ...
