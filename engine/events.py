"""Every event there is, in one file, as a discriminated union of frozen models.

*Stored* events are the truth: appended to the log in order of ``seq`` and never changed; task state, the model request
and every pane are pure views of them. *Live* events are shown and forgotten. An event is made without ``session``,
``seq`` and ``at``; the log returns a copy that has them. ``at`` is for people, order is by ``seq`` alone.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from engine.live import EngineFailed as EngineFailed
from engine.live import Live as Live
from engine.live import LogHealth as LogHealth
from engine.live import OpenFailed as OpenFailed
from engine.live import PastRead as PastRead
from engine.live import SessionComing as SessionComing
from engine.live import SessionOpened as SessionOpened
from engine.live import StateChanged as StateChanged
from engine.live import StreamDelta as StreamDelta
from engine.live import StreamDropped as StreamDropped
from engine.live import ToolProgress as ToolProgress
from engine.parts import Block as Block
from engine.parts import External as External
from engine.parts import Frozen as Frozen
from engine.parts import Limits as Limits
from engine.parts import Queued as Queued
from engine.parts import Stage as Stage
from engine.parts import TextBlock as TextBlock
from engine.parts import ThinkingBlock as ThinkingBlock
from engine.parts import Timing as Timing
from engine.parts import TodoItem as TodoItem
from engine.parts import ToolCall as ToolCall
from engine.parts import ToolSpec as ToolSpec
from engine.parts import Usage as Usage

_EPOCH = datetime.fromtimestamp(0, UTC)


class Stored(Frozen):
    """Fields every stored event has. ``seq`` counts from 1 within a session; 0 means not appended yet."""

    session: str = ""
    seq: int = 0
    at: datetime = _EPOCH


class SessionStarted(Stored):
    """First event of a session. ``done_when``: conditions of being finished; ``stages``: the way there. ``goal`` of the
    session this one goes on for. ``parent`` and ``parent_seq`` name that one, or where a fork was cut off."""

    type: Literal["session_started"] = "session_started"
    cwd: str
    model: str
    app_version: str
    base_url: str = ""
    approve: str = "ask"
    sandbox: str = ""
    context_window: int = 200_000
    done_when: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    goal: str = ""
    parent: str = ""
    parent_seq: int = 0


class PromptRendered(Stored):
    """Layers A and B as rendered once for the session and replayed byte for byte on resume. ``reason``: why it was
    rendered again, empty the first time; a second one is a known cache break."""

    type: Literal["prompt_rendered"] = "prompt_rendered"
    identity: str
    catalogue: str
    tools: tuple[ToolSpec, ...]
    digest: str
    reason: str = ""


class RunStarted(Stored):
    """The engine begins (or goes on) working. ``resumed`` after a restart with work left over."""

    type: Literal["run_started"] = "run_started"
    limits: Limits = Limits()
    resumed: bool = False


class RunFinished(Stored):
    """The engine stops working. ``reason`` is for scripts, ``detail`` for people."""

    type: Literal["run_finished"] = "run_finished"
    reason: Literal["finished", "limit", "interrupted", "denied", "failed", "no_model", "handed_off"]
    detail: str = ""


class MessageQueued(Stored):
    """A person typed while the agent worked; waits to be delivered as steering or as a follow-up."""

    type: Literal["message_queued"] = "message_queued"
    id: str
    kind: Literal["steer", "follow_up"]
    text: str


class MessageWithdrawn(Stored):
    """A queued message is not delivered: a person took it back, or, where there is one, for another ``reason``."""

    type: Literal["message_withdrawn"] = "message_withdrawn"
    id: str
    reason: str = ""


class UserMessage(Stored):
    """Text of a person as it enters the conversation. ``id`` is that of its MessageQueued, if it was queued."""

    type: Literal["user_message"] = "user_message"
    kind: Literal["prompt", "steer", "follow_up"] = "prompt"
    text: str
    id: str = ""


class RuntimeUpdate(Stored):
    """Runtime context for the model (layer D): stage, budget, time, changed todo. Appended only when it changed."""

    type: Literal["runtime_update"] = "runtime_update"
    kind: str
    text: str


class TurnStarted(Stored):
    """A request is about to be sent: written before the wire is touched. ``digest`` is that of the request."""

    type: Literal["turn_started"] = "turn_started"
    turn: int
    model: str
    digest: str = ""
    tokens: int = 0


class ModelRetry(Stored):
    """The provider failed in a way worth another try, ``wait`` seconds from now."""

    type: Literal["model_retry"] = "model_retry"
    turn: int
    attempt: int
    wait: float
    error: str


class AssistantMessage(Stored):
    """What the model said in one turn. ``stop`` is normalised; ``aborted`` messages are shown and never sent.
    cost: USD, None when the price is unknown. provider_stop: the provider's own word, for trouble."""

    type: Literal["assistant_message"] = "assistant_message"
    turn: int
    model: str
    blocks: tuple[Block, ...] = ()
    stop: Literal["end", "tool_calls", "length", "refusal", "error", "aborted"] = "end"
    provider_stop: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    saved: float | None = None
    timing: Timing = Timing()
    aborted: bool = False
    error: str = ""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple(b for b in self.blocks if isinstance(b, ToolCall))


class ModelFailed(Stored):
    """A request ended without an answer. ``suggestion`` says what a person can do."""

    type: Literal["model_failed"] = "model_failed"
    turn: int
    error: str
    suggestion: str = ""
    retryable: bool = False


class ToolStarted(Stored):
    """A call is about to run: durable before it can have a side effect. ``title`` is one line for people. ``effects``:
    whether cutting it may leave something half done, as the gate judges it."""

    type: Literal["tool_started"] = "tool_started"
    call_id: str
    turn: int
    name: str
    title: str = ""
    effects: bool = False


class ToolResult(Stored):
    """What a call came to. ``text`` goes to the model; ``summary`` is one line for people ("212 lines", "1 failed").

    status: ok; error (it ran and failed, or could not run); denied; cancelled (interrupted, may have had side
    effects); skipped (never started). items: structured rows for panes. artifact: hash of the whole output when
    ``truncated``. external: where the text came from, if from outside. diff: unified diff of an edit. seconds: the
    tool's own time, waiting for people left out.
    """

    type: Literal["tool_result"] = "tool_result"
    call_id: str
    turn: int
    name: str
    status: Literal["ok", "error", "denied", "cancelled", "skipped"]
    text: str
    summary: str = ""
    items: tuple[dict[str, Any], ...] = ()
    artifact: str = ""
    truncated: bool = False
    error: str = ""
    suggestion: str = ""
    retryable: bool = False
    external: External | None = None
    diff: str = ""
    files_read: tuple[str, ...] = ()
    files_written: tuple[str, ...] = ()
    exit_code: int | None = None
    seconds: float = 0.0


class ApprovalRequested(Stored):
    """The gate asks a person. Fields as in `sandbox.approval.ApprovalRequest`; risk is low, medium or high."""

    type: Literal["approval_requested"] = "approval_requested"
    id: str
    digest: str
    call_id: str
    tool: str
    kind: str
    subject: str
    cwd: str
    policy: str
    risk: Literal["low", "medium", "high"]
    reasons: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    spots: tuple[tuple[int, int], ...] = ()
    contained: bool = True
    rule: str = ""
    executable: str = ""
    sha256: str = ""
    origin: str = ""
    env_names: tuple[str, ...] = ()
    diff: str = ""
    expires_in: float = 300.0


class ApprovalDecided(Stored):
    """A decision. ``by``: person, timeout, interrupt or close. ``command`` is what runs instead after an edit."""

    type: Literal["approval_decided"] = "approval_decided"
    id: str
    digest: str
    choice: Literal["once", "session", "rule", "deny", "edit"]
    by: str = "person"
    reason: str = ""
    rule: str = ""
    command: str = ""


class QuestionAsked(Stored):
    """The model asks a person (``user_ask``). ``options`` may be empty: free text."""

    type: Literal["question_asked"] = "question_asked"
    id: str
    call_id: str
    question: str
    options: tuple[str, ...] = ()


class QuestionAnswered(Stored):
    """The person's answer."""

    type: Literal["question_answered"] = "question_answered"
    id: str
    text: str
    by: str = "person"


class TodoChanged(Stored):
    """todo.md as it is now. ``by``: model or person."""

    type: Literal["todo_changed"] = "todo_changed"
    text: str
    items: tuple[TodoItem, ...]
    by: Literal["model", "person"] = "model"


class SettingChanged(Stored):
    """A person changed something mid-run: ``name`` is model, approve, limits, title, compaction (auto or off),
    done_when (a list of conditions) or stages (a list of {name, until}); ``value`` as JSON data."""

    type: Literal["setting_changed"] = "setting_changed"
    name: str
    value: Any


class Compacted(Stored):
    """One layer of a compaction; raw events stay. offload: results of the calls in ``offloaded`` are pointers from now
    on. drop and digest: ``texts`` (call id to text) stand for results that were superseded, or say what mattered of
    them. summary: history before ``keep_from`` (a seq) gives way to ``ledger`` and ``summary``. handoff: the first
    words of a session that goes on for another. artifact: all of a cut ledger."""

    type: Literal["compacted"] = "compacted"
    number: int
    kind: Literal["offload", "drop", "digest", "summary", "handoff"]
    reason: str
    keep_from: int = 0
    summary: str = ""
    ledger: str = ""
    artifact: str = ""
    offloaded: tuple[str, ...] = ()
    texts: dict[str, str] = Field(default_factory=dict)
    tokens_before: int = 0
    tokens_after: int = 0
    usage: Usage = Usage()
    cost: float | None = None


class CompactionUndone(Stored):
    """A person took compaction ``number`` back: the request is built as if it had never been."""

    type: Literal["compaction_undone"] = "compaction_undone"
    number: int


class HandedOff(Stored):
    """The work goes on in the fresh session ``to``, which starts from this one's ledger."""

    type: Literal["handed_off"] = "handed_off"
    to: str
    reason: str


class MemoryChanged(Stored):
    """A line of MEMORY.md was saved, edited or removed. ``before``: what it was, empty for a new one."""

    type: Literal["memory_changed"] = "memory_changed"
    action: Literal["saved", "edited", "removed"]
    scope: Literal["project", "user"]
    text: str = ""
    before: str = ""
    by: Literal["model", "person"] = "model"


class StageChanged(Stored):
    """The task entered ``stage``; empty when the last one is done. ``reason``: the condition that came true."""

    type: Literal["stage_changed"] = "stage_changed"
    stage: str
    reason: str = ""


class Paused(Stored):
    """The run stops before its next turn until a person lets it go on."""

    type: Literal["paused"] = "paused"


class Resumed(Stored):
    """A person lets a paused run go on, for so many ``turns``; 0: until it is paused again."""

    type: Literal["resumed"] = "resumed"
    turns: int = 0


class QueueArranged(Stored):
    """A person edited or reordered what waits: ``items`` is all of it, in the order of delivery."""

    type: Literal["queue_arranged"] = "queue_arranged"
    items: tuple[Queued, ...]


class PersonRan(Stored):
    """A command a person ran themselves in the sandbox (``!command``); the model reads it with its output."""

    type: Literal["person_ran"] = "person_ran"
    command: str
    status: Literal["ok", "error", "denied", "cancelled"]
    text: str
    exit_code: int | None = None
    artifact: str = ""
    truncated: bool = False
    seconds: float = 0.0


class PlanProposed(Stored):
    """The model's plan at the end of a run in the plan mode."""

    type: Literal["plan_proposed"] = "plan_proposed"
    id: str
    text: str


class PlanDecided(Stored):
    """A person approved the plan, perhaps as edited into ``text``, or rejected it and said why."""

    type: Literal["plan_decided"] = "plan_decided"
    id: str
    choice: Literal["approve", "reject"]
    text: str = ""
    reason: str = ""


class FilesKept(Stored):
    """The workspace's files before something changed them, kept aside as ``snapshot``."""

    type: Literal["files_kept"] = "files_kept"
    snapshot: str
    turn: int


class Rewound(Stored):
    """A person went back to before event ``to``. conversation: events from there to this one are out of the request;
    files: paths that were restored from ``snapshot``; before: the snapshot of what they were, for undoing. undoes: the
    seq of the Rewound this one takes back."""

    type: Literal["rewound"] = "rewound"
    to: int
    conversation: bool = True
    snapshot: str = ""
    files: tuple[str, ...] = ()
    before: str = ""
    undoes: int = 0


class Notice(Stored):
    """Something a person should know that belongs to no other event."""

    type: Literal["notice"] = "notice"
    level: Literal["info", "warn", "danger"]
    text: str
    hint: str = ""


# fmt: off
Event = Annotated[
    SessionStarted | PromptRendered | RunStarted | RunFinished | MessageQueued | MessageWithdrawn | UserMessage
    | RuntimeUpdate | TurnStarted | ModelRetry | AssistantMessage | ModelFailed | ToolStarted | ToolResult
    | ApprovalRequested | ApprovalDecided | QuestionAsked | QuestionAnswered | TodoChanged | SettingChanged
    | Compacted | CompactionUndone | HandedOff | MemoryChanged | StageChanged | Paused | Resumed | QueueArranged
    | PersonRan | PlanProposed | PlanDecided | FilesKept | Rewound | Notice,
    Field(discriminator="type"),
]
# fmt: on

EVENT: TypeAdapter[Event] = TypeAdapter(Event)


# fmt: off
LiveEvent = (
    StreamDelta
    | StreamDropped
    | ToolProgress
    | StateChanged
    | SessionComing
    | PastRead
    | SessionOpened
    | OpenFailed
    | LogHealth
    | EngineFailed
)
# fmt: on
AnyEvent = Event | LiveEvent
