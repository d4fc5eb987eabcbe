"""Task state: a pure fold over the stored events.

``fold(events)`` is prefix-consistent: ``fold(a + b) == fold(b, start=fold(a))``. Nothing here looks at a clock, a file
or the network, so the state after a restart, in a replay and in a test is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, cast

from pydantic import ValidationError

from engine import events as ev
from engine.events import Event, Limits, Stage, TodoItem, Usage
from engine.facts import criteria, edited, evidence
from engine.hands import STEPS, Plan, Settled, settled, stands_still, step_taken
from engine.hands import Pending as Pending
from engine.text import title_of

KEPT_TURNS = 200


@dataclass(frozen=True, slots=True)
class TurnUsage:
    """Usage of one turn, for the cache pane. cost and saved in USD, first_token and seconds in seconds."""

    turn: int
    read: int
    write: int
    new: int
    output: int
    cost: float | None
    saved: float | None
    first_token: float
    seconds: float


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A tool call without a result yet. ``started`` False: generated but not begun. ``effects``: cut, it may leave
    something half done."""

    call_id: str
    name: str
    title: str = ""
    started: bool = False
    effects: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """An approval or a question nobody has answered: kind is approval or question."""

    id: str
    kind: str
    call_id: str
    title: str
    tool: str = ""
    risk: str = ""


@dataclass(frozen=True, slots=True)
class Retry:
    """A failed request that will be tried again, ``wait`` seconds after ``at_seq`` was stored."""

    attempt: int
    wait: float
    error: str
    at_seq: int


@dataclass(frozen=True, slots=True)
class TaskState:
    """Everything the loop and the status bar need to know, after ``seq``.

    stage: idle, thinking, running tools, waiting for you, retrying, paused; or, when a run has ended, its reason
    (finished, limit, interrupted, denied, failed, no_model). run_turns, run_calls, run_usage, run_cost, run_seconds
    count within the present run, which is what limits apply to; the others count the session. In USD and seconds.
    unpriced: answers whose price is not known, so that ``cost`` is a lower bound.
    task_stage: which of ``stages`` the task is in, empty when all are done. tests_pass: of the last test run since a
    file was written, None when there was none. sources: addresses outside that were read. commands: (call id, line) of
    shell calls without a result. failed_commands: command lines whose last run failed.
    context_tokens: prompt and answer of the last request, from which the next one starts. paused: no further turn
    begins; steps: turns until it is so again. answering: a request is under way. settled: the newest messages that
    waited once. plan: what a person has to decide about.
    """

    session: str = ""
    seq: int = 0
    title: str = ""
    cwd: str = ""
    model: str = ""
    base_url: str = ""
    approve: str = "ask"
    sandbox: str = ""
    context_window: int = 200_000
    goal: str = ""
    stage: str = "idle"
    stage_detail: str = ""
    running: bool = False
    turn: int = 0
    calls: int = 0
    approvals: int = 0
    usage: Usage = Usage()
    cost: float = 0.0
    unpriced: int = 0
    saved: float = 0.0
    seconds: float = 0.0
    run_turns: int = 0
    run_calls: int = 0
    run_usage: Usage = Usage()
    run_cost: float = 0.0
    run_seconds: float = 0.0
    limits: Limits = Limits()
    todo_text: str = ""
    todo: tuple[TodoItem, ...] = ()
    files_read: tuple[str, ...] = ()
    files_written: tuple[str, ...] = ()
    pending: tuple[Pending, ...] = ()
    open_calls: tuple[OpenCall, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    turns: tuple[TurnUsage, ...] = ()
    context_tokens: int = 0
    retry: Retry | None = None
    last_error: str = ""
    suggestion: str = ""
    compactions: int = 0
    compaction: str = "auto"
    done_when: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    task_stage: str = ""
    tests_pass: bool | None = None
    sources: tuple[str, ...] = ()
    commands: tuple[tuple[str, str], ...] = ()
    failed_commands: tuple[str, ...] = ()
    paused: bool = False
    steps: int = 0
    answering: bool = False
    settled: tuple[Settled, ...] = ()
    plan: Plan | None = None

    @property
    def hit_rate(self) -> float | None:
        """Share of all prompt tokens that were read from the provider's cache; None before the first answer."""
        return self.usage.cache_read / self.usage.input if self.usage.input else None

    @property
    def present_stage(self) -> Stage | None:
        """The stage the task is in; None without stages, and when all are done."""
        return next((stage for stage in self.stages if stage.name == self.task_stage), None)

    @property
    def in_effect(self) -> tuple[OpenCall, ...]:
        """The calls that run now, not those a person is asked about, and may change something."""
        asked = {waiting.call_id for waiting in self.waiting}
        return tuple(c for c in self.open_calls if c.started and c.effects and c.call_id not in asked)

    @property
    def todo_done(self) -> int:
        return sum(item.status == "done" for item in self.todo)


def fold(events: Iterable[Event], start: TaskState | None = None) -> TaskState:
    """The state after ``events``, from ``start`` or from nothing."""
    state = _Changing(start if start is not None else TaskState())
    for event in events:
        state.step(event)
    return TaskState(**vars(state))


def step(state: TaskState, event: Event) -> TaskState:
    """The state after one more event."""
    return fold((event,), state)


class _Changing:
    """A state while it is folded: a new one for every event would take most of the time there is for a long log."""

    def __init__(self, state: TaskState) -> None:
        self.__dict__ = {field.name: getattr(state, field.name) for field in fields(state)}

    def step(self, event: Event) -> None:
        now = cast(TaskState, self)
        change = _STEPS.get(event.type)
        known = change(now, event) if change else {}
        self.__dict__.update(known, session=event.session or now.session, seq=event.seq or now.seq)
        if stands_still(now):
            self.__dict__["stage"] = "paused"

    in_effect, present_stage = TaskState.in_effect, TaskState.present_stage


# --- one function an event type: what it changes ---------------------------------------------------------------------

Change = dict[str, Any]


def _session_started(state: TaskState, e: ev.SessionStarted) -> Change:
    return dict(
        cwd=e.cwd,
        model=e.model,
        base_url=e.base_url,
        approve=e.approve,
        sandbox=e.sandbox,
        context_window=e.context_window,
        goal=e.goal,
        done_when=e.done_when,
        stages=e.stages,
        task_stage=e.stages[0].name if e.stages else "",
    )


def _run_started(state: TaskState, e: ev.RunStarted) -> Change:
    return dict(
        running=True,
        stage="thinking",
        stage_detail="",
        limits=e.limits,
        run_turns=0,
        run_calls=0,
        run_usage=Usage(),
        run_cost=0.0,
        run_seconds=0.0,
        last_error="",
        suggestion="",
    )


def _run_finished(state: TaskState, e: ev.RunFinished) -> Change:
    ended = dict(running=False, stage=e.reason, stage_detail=e.detail, retry=None)
    return dict(ended, waiting=(), open_calls=(), answering=False)


def _user_message(state: TaskState, e: ev.UserMessage) -> Change:
    left = settled(state, e.id, state.turn + 1, e.at) if e.id else {}
    return dict(goal=state.goal or e.text, title=state.title or title_of(e.text), **left)


def _turn_started(state: TaskState, e: ev.TurnStarted) -> Change:
    begun = dict(stage="thinking", turn=e.turn, run_turns=state.run_turns + 1, retry=None, answering=True)
    return begun | step_taken(state)


def _model_retry(state: TaskState, e: ev.ModelRetry) -> Change:
    return dict(stage="retrying", retry=Retry(e.attempt, e.wait, e.error, e.seq))


def _assistant_message(state: TaskState, e: ev.AssistantMessage) -> Change:
    u = e.usage
    row = TurnUsage(
        e.turn, u.cache_read, u.cache_write, u.input_uncached, u.output, e.cost, e.saved, e.timing.first_token,
        e.timing.total,
    )  # fmt: skip
    calls = () if e.aborted else e.calls
    cost, saved = e.cost or 0.0, e.saved or 0.0
    return dict(
        usage=state.usage + u,
        cost=state.cost + cost,
        unpriced=state.unpriced + (e.cost is None and bool(u.input)),
        saved=state.saved + saved,
        seconds=state.seconds + e.timing.total,
        run_usage=state.run_usage + u,
        run_cost=state.run_cost + cost,
        run_seconds=state.run_seconds + e.timing.total,
        calls=state.calls + len(calls),
        run_calls=state.run_calls + len(calls),
        open_calls=tuple(OpenCall(c.id, c.name) for c in calls),
        commands=tuple((c.id, str(c.input.get("command", ""))) for c in calls if c.name == "shell_run"),
        turns=(*state.turns, row)[-KEPT_TURNS:] if u.input or u.output else state.turns,
        context_tokens=u.input + u.output if u.input else state.context_tokens,
        stage="running tools" if calls else state.stage,
        retry=None,
        answering=False,
    )


def _model_failed(state: TaskState, e: ev.ModelFailed) -> Change:
    return dict(last_error=e.error, suggestion=e.suggestion, retry=None, answering=False)


def _tool_started(state: TaskState, e: ev.ToolStarted) -> Change:
    started = OpenCall(e.call_id, e.name, e.title, True, e.effects)
    return dict(
        stage="running tools",
        open_calls=tuple(started if c.call_id == e.call_id else c for c in state.open_calls),
    )


def _tool_result(state: TaskState, e: ev.ToolResult) -> Change:
    return dict(
        open_calls=tuple(c for c in state.open_calls if c.call_id != e.call_id),
        waiting=tuple(w for w in state.waiting if w.call_id != e.call_id),
        files_read=_joined(state.files_read, e.files_read),
        files_written=_joined(state.files_written, e.files_written),
        seconds=state.seconds + e.seconds,
        run_seconds=state.run_seconds + e.seconds,
        **evidence(state, e),
    )


def _stage_changed(state: TaskState, e: ev.StageChanged) -> Change:
    return dict(task_stage=e.stage)


def _approval_requested(state: TaskState, e: ev.ApprovalRequested) -> Change:
    return dict(
        stage="waiting for you",
        approvals=state.approvals + 1,
        waiting=(*state.waiting, Waiting(e.id, "approval", e.call_id, e.subject, e.tool, e.risk)),
    )


def _question_asked(state: TaskState, e: ev.QuestionAsked) -> Change:
    return dict(
        stage="waiting for you",
        waiting=(*state.waiting, Waiting(e.id, "question", e.call_id, e.question)),
    )


def _answered(state: TaskState, e: ev.ApprovalDecided | ev.QuestionAnswered) -> Change:
    waiting = tuple(w for w in state.waiting if w.id != e.id)
    ran_instead = edited(state, e) if e.type == "approval_decided" else {}
    return dict(waiting=waiting, stage="waiting for you" if waiting else "running tools", **ran_instead)


def _todo_changed(state: TaskState, e: ev.TodoChanged) -> Change:
    return dict(todo_text=e.text, todo=e.items)


def _setting_changed(state: TaskState, e: ev.SettingChanged) -> Change:
    if e.name == "limits":
        try:
            return dict(limits=Limits.model_validate(e.value))
        except ValidationError:
            # Nonsense from an edited or foreign file changes nothing; the event itself stays to be seen.
            return {}
    if e.name in ("done_when", "stages"):
        return criteria(e.name, e.value)
    if e.name == "compaction":
        return dict(compaction=e.value) if e.value in ("auto", "off") else {}
    return {e.name: e.value} if e.name in ("model", "approve", "title", "context_window") else {}


def _compacted(state: TaskState, e: ev.Compacted) -> Change:
    return dict(
        compactions=state.compactions + 1,
        usage=state.usage + e.usage,
        cost=state.cost + (e.cost or 0.0),
        run_usage=state.run_usage + e.usage,
        run_cost=state.run_cost + (e.cost or 0.0),
        context_tokens=e.tokens_after or state.context_tokens,
    )


def _compaction_undone(state: TaskState, e: ev.CompactionUndone) -> Change:
    return dict(context_tokens=0)


def _rewound(state: TaskState, e: ev.Rewound) -> Change:
    change: Change = dict(tests_pass=None) if e.files else {}
    if e.conversation:
        change |= dict(open_calls=(), waiting=(), stage="idle", stage_detail="", context_tokens=0)
    return change


def _joined(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    fresh = [path for path in new if path not in old]
    return (*old, *dict.fromkeys(fresh)) if fresh else old


# The values are typed by their parameter, which is the very class whose tag is the key.
_STEPS = cast(
    "dict[str, Callable[[TaskState, Any], Change]]",
    {
        "session_started": _session_started,
        "run_started": _run_started,
        "run_finished": _run_finished,
        "user_message": _user_message,
        "turn_started": _turn_started,
        "model_retry": _model_retry,
        "assistant_message": _assistant_message,
        "model_failed": _model_failed,
        "tool_started": _tool_started,
        "tool_result": _tool_result,
        "approval_requested": _approval_requested,
        "approval_decided": _answered,
        "question_asked": _question_asked,
        "question_answered": _answered,
        "todo_changed": _todo_changed,
        "setting_changed": _setting_changed,
        "stage_changed": _stage_changed,
        "compacted": _compacted,
        "compaction_undone": _compaction_undone,
        "rewound": _rewound,
        **STEPS,
    },
)
