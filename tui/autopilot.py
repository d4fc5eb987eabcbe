"""Hands that are not a person's: what a driver says to each event is sent like a person's commands, a little later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from engine.commands import Command
    from engine.events import AnyEvent


SOON = 0.02
"""Seconds between an event and the answer at least: a timer of no time at all never ends."""


class Driver(Protocol):
    """Says which commands follow an event. ``finished`` once there is nothing more to come."""

    finished: bool

    def react(self, event: AnyEvent) -> tuple[Command, ...]: ...


@dataclass(frozen=True, slots=True)
class Autopilot:
    """``pause``: seconds between an event and the answer, so that people can see what is answered. ``leaves``: the app
    is left when the driver has finished."""

    driver: Driver
    pause: float = 0.0
    leaves: bool = False

    def follow(
        self,
        event: AnyEvent,
        later: Callable[[float, Callable[[], None]], object],
        send: Callable[[Command], None],
        leave: Callable[[], None],
    ) -> None:
        """Take in one event; ``later(seconds, call)`` is how time passes in the app."""
        over = self.driver.finished
        for command in self.driver.react(event):
            later(self.pause + SOON, lambda command=command: send(command))  # type: ignore[misc]
        if self.leaves and self.driver.finished and not over:
            later(2 * (self.pause + SOON), leave)
