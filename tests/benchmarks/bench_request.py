"""Building and hashing the next request of long sessions: from scratch, and carried on by one more turn.

The baseline is hashing the same text with hashlib, in the same run. Tokens are counted as four characters each.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Callable

from engine import events as ev
from engine.prompt import layers
from engine.prompt.build import build, digest
from engine.prompt.builder import Builder
from engine.state import TaskState
from engine.tools.registry import specs
from tests.benchmarks.harness import interleaved, medians, ratio, timed

NAME = "request"
TARGET = "100,000 tokens built and hashed in at most 30 ms; one more turn costs the same at any length of history"
SIZES = (10_000, 100_000, 400_000)
CHARS = 4
RESULT = "".join(f"{n:4} | some line of a file that was read, as long as lines are\n" for n in range(64))
ROUNDS = 9
STATE = TaskState(session="s")


def turn(number: int) -> list[ev.Event]:
    """A turn with one call and its result, about a thousand tokens in all."""
    call = ev.ToolCall(id=f"call{number}", name="fs_read", input={"path": f"src/module_{number}.py"})
    said = ev.TextBlock(text=f"I look at module {number}.")
    events: list[ev.Event] = [
        ev.TurnStarted(turn=number, model="m"),
        ev.AssistantMessage(turn=number, model="m", blocks=(said, call)),
        ev.ToolResult(call_id=call.id, turn=number, name=call.name, status="ok", text=f"{number}\n{RESULT}"),
    ]
    return [event.model_copy(update={"session": "s", "seq": 10 * number + n}) for n, event in enumerate(events)]


def session(tokens: int) -> list[ev.Event]:
    """A session whose talk has ``tokens``."""
    head: list[ev.Event] = [
        ev.SessionStarted(cwd="/w", model="m", app_version="1", session="s", seq=1),
        layers.render(specs(), "skills").model_copy(update={"session": "s", "seq": 2}),
        ev.UserMessage(text="Read everything.", session="s", seq=3),
    ]
    turns = tokens * CHARS // len(RESULT)
    return head + [event for number in range(1, turns + 1) for event in turn(number)]


def run() -> dict[str, float | str]:
    """Milliseconds, medians of the rounds, and ratios within each round."""
    work: dict[str, Callable[[], float]] = {}
    for size in SIZES:
        events = session(size)
        work[f"scratch_{size}"] = _scratch(events)
        work[f"one_more_turn_{size}"] = _one_more(events)
        work[f"sha256_{size}"] = _baseline(events)
    measured = interleaved(work, rounds=ROUNDS)
    found: dict[str, float | str] = {f"{name}_ms": 1000 * value for name, value in medians(measured).items()}
    for size in SIZES:
        found[f"scratch_to_sha256_{size}"] = ratio(measured, f"scratch_{size}", f"sha256_{size}")
    for size in SIZES[1:]:
        found[f"one_more_turn_{size}_to_{SIZES[0]}"] = ratio(
            measured, f"one_more_turn_{size}", f"one_more_turn_{SIZES[0]}"
        )
    return found


def _scratch(events: list[ev.Event]) -> Callable[[], float]:
    return lambda: timed(lambda: digest(build(events, STATE)))


def _one_more(events: list[ev.Event], turns: int = 5) -> Callable[[], float]:
    """Seconds for one more turn: the median of a few, added to a builder that knows all before them."""

    def measure() -> float:
        builder, grown = Builder(), list(events)
        taken: list[float] = []
        builder.request(grown, STATE)
        builder.digest()
        for number in range(100_000, 100_000 + turns):
            grown += turn(number)
            taken.append(_carried(builder, grown))
        return statistics.median(taken)

    return measure


def _carried(builder: Builder, events: list[ev.Event]) -> float:
    return timed(lambda: (builder.request(events, STATE), builder.digest()))


def _baseline(events: list[ev.Event]) -> Callable[[], float]:
    data = "".join(e.text for e in events if e.type == "tool_result").encode()
    return lambda: timed(lambda: hashlib.sha256(data).hexdigest())
