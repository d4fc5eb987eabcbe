"""Live events: shown and forgotten, never stored. `engine.events` hands them out beside the stored ones."""

from __future__ import annotations

from typing import Any, Literal

from engine.parts import Frozen


class Live(Frozen):
    """Base of live events: shown, never stored."""

    session: str = ""


class StreamDelta(Live):
    """A piece of the answer being written. ``index`` is the block's place in the message.
    kind: text, thinking or tool_call (``name`` set, ``text`` a piece of its JSON arguments).
    """

    type: Literal["stream_delta"] = "stream_delta"
    turn: int
    index: int
    kind: Literal["text", "thinking", "tool_call"]
    text: str = ""
    name: str = ""
    call_id: str = ""


class StreamDropped(Live):
    """What was streamed of this turn is void: a retry starts it anew."""

    type: Literal["stream_dropped"] = "stream_dropped"
    turn: int


class ToolProgress(Live):
    """Live tail of a running call."""

    type: Literal["tool_progress"] = "tool_progress"
    call_id: str
    text: str
    title: str = ""


class StateChanged(Live):
    """The task state after the newest stored event. ``state`` is an `engine.state.TaskState`."""

    type: Literal["state_changed"] = "state_changed"
    state: Any


class SessionComing(Live):
    """A long session is being opened: its newest ``events`` to look at meanwhile, how many ``rows`` it has in all, and
    its ``title`` as it began. `PastRead` follows with all of its past, those included, then `SessionOpened` or
    `OpenFailed`."""

    type: Literal["session_coming"] = "session_coming"
    events: tuple[Any, ...] = ()
    rows: int = 0
    title: str = ""


class PastRead(Live):
    """The next ``events`` of a session that is coming, from its beginning on."""

    type: Literal["past_read"] = "past_read"
    events: tuple[Any, ...] = ()


class SessionOpened(Live):
    """A session is open and shown from now on: its past ``events``, in order, without those of `PastRead`, and how many
    rows were ``skipped``."""

    type: Literal["session_opened"] = "session_opened"
    events: tuple[Any, ...] = ()
    skipped: int = 0
    state: Any = None


class OpenFailed(Live):
    """A session could not be opened; ``error`` says why and what to do."""

    type: Literal["open_failed"] = "open_failed"
    error: str


class LogHealth(Live):
    """Whether the log can be written. ``saving`` False: nothing is being saved, ``error`` says why."""

    type: Literal["log_health"] = "log_health"
    saving: bool
    error: str = ""
    skipped: int = 0


class EngineFailed(Live):
    """The engine thread itself met something it cannot go on from; ``error`` is for a person."""

    type: Literal["engine_failed"] = "engine_failed"
    error: str
