"""The table of ``agent-tui sessions cost``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.log import LogError

if TYPE_CHECKING:
    from engine.events import Event
    from engine.queries import SimulatedCost

HEAD = ("MODEL", "CACHED", "UNCACHED", "PAID", "HIT", "READ", "WRITTEN", "NEW", "OUTPUT")


def costs(events: Sequence[Event], models: Sequence[str]) -> tuple[SimulatedCost, ...]:
    """See `engine.prompt.simulate`. Raises LogError for what is no ``provider/model``."""
    from engine.prompt.simulate import simulate

    for spec in models:
        provider, _, model = spec.partition("/")
        if not provider or not model:
            raise LogError(f"{spec!r} is no model.", "Write provider/model, for example openai/gpt-6-sol.")
    return simulate(events, models)


def cells(line: SimulatedCost) -> tuple[str, ...]:
    """A row under `HEAD`; a price nobody knows is a question mark."""
    used = (f"{n:,}" for n in (line.read, line.write, line.new, line.output))
    paid = "" if line.real is None else _usd(line.real)
    return line.model, _usd(line.cached), _usd(line.uncached), paid, f"{line.hit:.0%}", *used


def _usd(amount: float | None) -> str:
    return "?" if amount is None else f"${amount:.4f}" if 0 < amount < 0.01 else f"${amount:.2f}"
