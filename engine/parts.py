"""What events are made of: blocks of an answer, usage, times, limits. Frozen data; no event types here."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Frozen(BaseModel):
    """Base of all event data: immutable; unknown fields of a newer version are ignored on reading.

    Infinity and NaN become strings in JSON, which reads them back: as null they would make the event unreadable.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_inf_nan="strings")


class Usage(Frozen):
    """Tokens of one request, one definition for all providers.

    ``input_uncached + cache_read + cache_write`` is the whole prompt; ``reasoning`` is part of ``output``.
    """

    input_uncached: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def input(self) -> int:
        """Tokens of the whole prompt, cached or not."""
        return self.input_uncached + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:
        return Usage(**{k: getattr(self, k) + getattr(other, k) for k in Usage.model_fields})


class Timing(Frozen):
    """Seconds from sending a request to the first token and to the end; ``track`` replays it at real speed:
    pairs (milliseconds since the first token, characters so far), at most 200."""

    first_token: float = 0.0
    total: float = 0.0
    track: tuple[tuple[int, int], ...] = ()


class TextBlock(Frozen):
    kind: Literal["text"] = "text"
    text: str


class ThinkingBlock(Frozen):
    """``opaque`` is what the provider needs back byte for byte (signature, encrypted item), never edited."""

    kind: Literal["thinking"] = "thinking"
    text: str = ""
    opaque: dict[str, Any] = Field(default_factory=dict)


class ToolCall(Frozen):
    """A call the model made. ``id`` is ours: unique within the session and valid for every provider.

    ``input`` is the parsed argument object; ``bad_input`` holds the raw text when it could not be read at all.
    """

    kind: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    input: dict[str, Any] = Field(default_factory=dict)
    bad_input: str = ""


Block = Annotated[TextBlock | ThinkingBlock | ToolCall, Field(discriminator="kind")]


class TodoItem(Frozen):
    text: str
    status: Literal["pending", "active", "done"] = "pending"


class External(Frozen):
    """Where a text came from that is not of this machine: what fetched it, its address, when (ISO date and time), and
    how far it is to be trusted."""

    source: str
    url: str = ""
    at: str = ""
    trust: Literal["untrusted", "known"] = "untrusted"


class Queued(Frozen):
    """A message that waits to be delivered."""

    id: str
    kind: Literal["steer", "follow_up"]
    text: str


class Stage(Frozen):
    """A stage of a task: it ends when the condition ``until`` holds (see `engine.conditions`). ``tools``: with what the
    names of the tools begin that may be called in it; empty: all."""

    name: str
    until: str
    tools: tuple[str, ...] = ()

    def allows(self, name: str) -> bool:
        """Whether the tool called ``name`` may be called in this stage."""
        return not self.tools or name.startswith(self.tools)


class Limits(Frozen):
    """Hard limits of a run; None is no limit. Money in USD, time in seconds of working, not of waiting for people."""

    turns: int | None = None
    tool_calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    repeats: int | None = 5


class ToolSpec(Frozen):
    """A tool as the model sees it; ``schema_`` is JSON Schema."""

    name: str
    description: str
    schema_: dict[str, Any]
