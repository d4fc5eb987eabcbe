"""The task pane: goal, stage, what is left of the budget, how full the window is."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.text import Text

from tui import format
from tui.look import Look, bar, clip, spread, wrapped
from tui.widgets.pane import Pane

if TYPE_CHECKING:
    from engine.state import TaskState

LABEL = 8
NUMBERS = 14
GOAL_LINES = 2
Format = Callable[[float], str]


class TaskPane(Pane):
    TITLE = "TASK"

    def head(self, width: int) -> Text:
        if not self.state:
            return Text()
        return Text(format.cost(self.state.cost, self.state.unpriced), style=self.look.roles.muted)

    def body(self, width: int) -> list[Text]:
        return task_lines(self.state, width, self.look)


def task_lines(state: TaskState | None, width: int, look: Look) -> list[Text]:
    """Goal, stage and gauges, each line at most ``width`` cells."""
    if state is None:
        return [Text(" starting", style=look.roles.muted)]
    return [*_goal(state, width, look), _stage(state, width, look), *_gauges(state, width, look)]


def _goal(state: TaskState, width: int, look: Look) -> list[Text]:
    if not state.goal:
        return [clip(Text(" say below what is to be done", style=look.roles.muted), width)]
    lines = wrapped(state.goal, max(8, width - 2), GOAL_LINES, look.signs.ellipsis)
    return [clip(Text(f" {line}"), width) for line in lines]


def _stage(state: TaskState, width: int, look: Look) -> Text:
    said, style = look.stage(state.stage)
    left = Text.assemble((f" {'stage':<{LABEL}}", look.roles.muted), (said, style))
    right = Text(f"todo {state.todo_done} / {len(state.todo)}" if state.todo else "", style=look.roles.muted)
    return spread(left, right, width)


def _gauges(state: TaskState, width: int, look: Look) -> list[Text]:
    limits, tokens = state.limits, state.run_usage.input + state.run_usage.output

    def money(usd: float) -> str:
        return format.cost(usd, state.unpriced)

    lines = [
        _gauge("turns", state.run_turns, limits.turns, _whole, width, look),
        _gauge("calls", state.run_calls, limits.tool_calls, _whole, width, look),
        _gauge("tokens", tokens, limits.tokens, _count, width, look),
        _gauge("money", state.run_cost, limits.cost, money, width, look),
        _gauge("time", state.run_seconds, limits.seconds, _time, width, look),
    ]
    window = f"{format.count(state.context_tokens)} / {format.count(state.context_window)}"
    share = state.context_tokens / state.context_window if state.context_window > 0 else 0.0
    return [*lines, _row("window", share, window, width, look, mark=_compacts_at(state.context_window))]


@lru_cache
def _compacts_at(window: int) -> float:
    """The share of the window at which the conversation is summarised."""
    from engine.compaction.plan import thresholds

    return thresholds(window).summary / window if window > 0 else 0.0


def _gauge(label: str, value: float, limit: float | None, say: Format, width: int, look: Look) -> Text:
    """A bar towards the limit; without a limit only the number, since there is nothing to fill."""
    if limit is None:
        return spread(Text(f" {label}", style=look.roles.muted), Text(say(value)), width)
    share = value / limit if limit > 0 else 1.0
    return _row(label, share, f"{say(value)} / {say(limit)}", width, look)


def _row(label: str, share: float, numbers: str, width: int, look: Look, mark: float | None = None) -> Text:
    room = max(0, width - LABEL - 1 - NUMBERS - 1)
    left = Text.assemble((f" {label:<{LABEL}}", look.roles.muted), bar(share, room, look, mark))
    return spread(left, Text(numbers), width)


def _whole(n: float) -> str:
    return str(int(n))


def _count(n: float) -> str:
    return format.count(int(n))


def _time(seconds: float) -> str:
    return format.duration(seconds) if seconds else "0 s"
