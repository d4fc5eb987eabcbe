"""The task pane: goal, stage, what is left of the budget, how full the window is."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.text import Text

from tui import format
from tui.look import Look, bar, clip, one_line, spread, wrapped
from tui.widgets.pane import Pane

if TYPE_CHECKING:
    from engine.stages import Judged
    from engine.state import TaskState

LABEL = 8
NUMBERS = 14
GOAL_LINES = 2
MOST_CONDITIONS = 4
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
    criteria = _criteria(state, width, look) if state.done_when or state.stages else []
    return [*_goal(state, width, look), _stage(state, width, look), *criteria, *_gauges(state, width, look)]


def _goal(state: TaskState, width: int, look: Look) -> list[Text]:
    if not state.goal:
        return [clip(Text(" say below what is to be done", style=look.roles.muted), width)]
    lines = wrapped(state.goal, max(8, width - 2), GOAL_LINES, look.signs.ellipsis)
    return [clip(Text(f" {line}"), width) for line in lines]


def _stage(state: TaskState, width: int, look: Look) -> Text:
    said, style = look.standing(state)
    left = Text.assemble((f" {'stage':<{LABEL}}", look.roles.muted), (said, style))
    right = Text(f"todo {state.todo_done} / {len(state.todo)}" if state.todo else "", style=look.roles.muted)
    return spread(left, right, width)


def _criteria(state: TaskState, width: int, look: Look) -> list[Text]:
    """The stage of the task with what ends it, then each condition of being finished, as they stand now."""
    from engine.stages import judged

    lines = []
    stage = state.present_stage
    if state.stages:
        place = [s.name for s in state.stages].index(stage.name) + 1 if stage else len(state.stages)
        name = one_line(stage.name) if stage else "all done"
        left = Text.assemble((f" {'step':<{LABEL}}", look.roles.muted), name)
        lines.append(spread(left, Text(f"{place} / {len(state.stages)}", style=look.roles.muted), width))
    shown = [("until", stage.until)] if stage else []
    shown += [("done" if n == 0 else "", text) for n, text in enumerate(state.done_when[:MOST_CONDITIONS])]
    for label, text in shown:
        lines += _condition(label, judged(text, state), width, look)
    if more := len(state.done_when) - MOST_CONDITIONS:
        lines += [clip(Text(f" {'':<{LABEL}}and {more} more", style=look.roles.muted), width)] if more > 0 else []
    return lines


def _condition(label: str, found: Judged, width: int, look: Look) -> list[Text]:
    """Sign, condition and, while it does not hold, the present values: to its right, or below where that is narrow."""
    sign, role = (look.signs.done, look.roles.ok) if found.holds else (look.signs.todo, look.roles.warn)
    room, before = max(8, width - LABEL - 3), " " * (LABEL + 3)
    first, *more = wrapped(found.text, room, 2, look.signs.ellipsis)
    left = Text.assemble((f" {label:<{LABEL}}", look.roles.muted), (f"{sign} ", role), first)
    now = Text("" if found.holds else f"now {one_line(found.now)}", style=look.roles.muted)
    if not more and left.cell_len + 2 + now.cell_len <= width:
        return [spread(left, now, width)]
    lines = [left, *(Text(before + line) for line in more)]
    if now.plain:
        lines += [Text(before + line, look.roles.muted) for line in wrapped(now.plain, room, 2, look.signs.ellipsis)]
    return [clip(line, width) for line in lines]


def _gauges(state: TaskState, width: int, look: Look) -> list[Text]:
    limits, tokens = state.limits, state.run_usage.input + state.run_usage.output

    def money(usd: float) -> str:
        return format.cost(usd, state.unpriced)

    def turns(count: float) -> str:
        # The header counts the session's: where there are others too it is said which these are.
        return f"{_whole(count)} in this run" if limits.turns is None and state.turn > count else _whole(count)

    lines = [
        _gauge("turns", state.run_turns, limits.turns, turns, width, look),
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
