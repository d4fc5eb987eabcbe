"""What the benchmarks share: things are compared within one run, in turns, so that a busy machine is unfair to none."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping


def timed(work: Callable[[], object]) -> float:
    """Seconds ``work`` takes once."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def interleaved(
    candidates: Mapping[str, Callable[[], float]], *, rounds: int, warm_up: int = 1
) -> dict[str, list[float]]:
    """Run every candidate once a round, in turns, the order turned round each time; what each returned, by round.

    A candidate returns its own measure (seconds, bytes), usually through `timed`. The first ``warm_up`` rounds are not
    counted. The garbage collector rests while a candidate runs.
    """
    measured: dict[str, list[float]] = {name: [] for name in candidates}
    order = list(candidates)
    for number in range(warm_up + rounds):
        for name in order:
            gc.collect()
            gc.disable()
            try:
                value = candidates[name]()
            finally:
                gc.enable()
            if number >= warm_up:
                measured[name].append(value)
        order.reverse()
    return measured


def medians(measured: Mapping[str, list[float]]) -> dict[str, float]:
    """The median of each."""
    return {name: statistics.median(values) for name, values in measured.items()}


def ratio(measured: Mapping[str, list[float]], name: str, baseline: str) -> float:
    """How many times the baseline's cost ``name`` has: the median over the rounds of the ratio within a round."""
    return statistics.median(a / b for a, b in zip(measured[name], measured[baseline], strict=True))
