"""The sessions that are open side by side, in the order of their tabs. Knows neither the engine nor the screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui.asking import waits_for_you

if TYPE_CHECKING:
    from engine.commands import Command
    from engine.state import TaskState

Make = Callable[[str], "Command"]
NO_TITLE = "new session"


@dataclass(eq=False)
class Tab:
    """A place for one session. ``session``: its id, '' until the engine has opened it; ``coming``: that of a long one
    while it is being read; ``opening``: how many openings for this tab the engine has not answered; ``held``: what was
    said meanwhile; ``saving``: whether it is stored."""

    session: str = ""
    coming: str = ""
    state: TaskState | None = None
    opening: int = 0
    held: list[Make] = field(default_factory=list)
    saving: bool = True
    opened_from: Tab | None = None
    """The tab that was shown before."""
    fresh: bool = True
    """Whether what is being opened, or was opened last, is a new session."""

    @property
    def title(self) -> str:
        return self.state.title if self.state and self.state.title else NO_TITLE

    @property
    def working(self) -> bool:
        return bool(self.state and self.state.running)

    @property
    def waiting(self) -> int:
        """How many requests wait for a person."""
        return waits_for_you(self.state) if self.state else 0

    @property
    def untouched(self) -> bool:
        """Whether another session may take this place: nobody has said anything here, or there is none that could be
        opened, and what was said waits for the next."""
        if not self.session and not self.opening:
            return True
        if self.opening and not self.fresh:
            return False
        state = self.state
        return not self.held and (state is None or not (state.goal or state.turn or state.running or state.pending))


class Tabs:
    """There is always one at least, and one of them is shown."""

    def __init__(self) -> None:
        self.all: list[Tab] = [Tab()]
        self.shown = self.all[0]

    @property
    def several(self) -> bool:
        return len(self.all) > 1

    def of(self, session: str) -> Tab | None:
        """The tab of an open session."""
        return next((tab for tab in self.all if session and tab.session == session), None)

    def number(self, tab: Tab) -> int:
        """As people count them, from 1."""
        return self.all.index(tab) + 1

    def add(self) -> Tab:
        """Another tab, at the end, and go to it."""
        self.shown = Tab(opened_from=self.shown)
        self.all.append(self.shown)
        return self.shown

    def beside(self, step: int) -> Tab:
        """The next (1) or previous (-1) tab, round and round."""
        return self.all[(self.all.index(self.shown) + step) % len(self.all)]

    def next_waiting(self) -> Tab | None:
        """The next tab, other than the one shown, in which something waits for a person."""
        at = self.all.index(self.shown)
        return next((tab for tab in (*self.all[at + 1 :], *self.all[:at]) if tab.waiting), None)

    def remove(self, tab: Tab) -> None:
        """Take a tab away; its neighbour is shown instead of it, and after the last a fresh one."""
        at = self.all.index(tab)
        self.all.remove(tab)
        if not self.all:
            self.all.append(Tab())
        if tab is self.shown:
            self.shown = self.all[min(at, len(self.all) - 1)]
