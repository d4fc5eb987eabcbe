"""Calling a person back to the terminal: its title, its bell, a notification of the desktop. Said once for each thing.

The title always tells how things stand; bell and notification are only for who is looking elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui.asking import waits_for_you
from tui.look import one_line

if TYPE_CHECKING:
    from engine.settings import UiSettings
    from engine.state import TaskState

# Consoles that would print what they do not understand.
PLAIN_TERMINALS = frozenset({"", "dumb", "linux", "vt100", "unknown"})
SAVE_TITLE, RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"
_LONGEST = 80


@dataclass
class Attention:
    """Writes to the terminal by ``write``. One for all sessions that are open."""

    write: Callable[[str], None]
    settings: UiSettings
    term: str
    _states: dict[str, TaskState] = field(default_factory=dict)
    _called: set[str] = field(default_factory=set)
    _title: str = ""

    @property
    def able(self) -> bool:
        """Whether this terminal takes a title and notifications."""
        return self.term not in PLAIN_TERMINALS

    def begin(self) -> None:
        """Keep the title the terminal has, to give it back."""
        if self.able and self.settings.title:
            self.write(SAVE_TITLE)

    def change(self, settings: UiSettings) -> None:
        """A person changed what they want: a title that is no longer wanted is given back."""
        before, self.settings = self.settings, settings
        if self.able and before.title != settings.title:
            self.write(SAVE_TITLE if settings.title else RESTORE_TITLE)
            self._title = ""

    def follow(self, states: Mapping[str, TaskState], shown: str, looking: bool) -> None:
        """``states`` of the open sessions that changed, the one that is ``shown``; ``looking``: whether the terminal
        has the person's eyes, as far as it says so."""
        words = [text for id, state in states.items() for text in self._news(id, state)]
        self._states.update(states)
        self._set_title(shown)
        if words and not looking:
            self._call(words[-1])

    def forget(self, session: str) -> None:
        """The session was closed."""
        self._states.pop(session, None)

    def show(self, session: str) -> None:
        """A person went to another session."""
        self._set_title(session)

    def end(self) -> None:
        """Give the title back."""
        if self.able and self.settings.title:
            self.write(RESTORE_TITLE)

    def _news(self, id: str, state: TaskState) -> list[str]:
        """What a person would want to be called for, each once."""
        said = []
        where = f" in {state.title}" if len(self._states.keys() | {id}) > 1 and state.title else ""
        for waiting in state.waiting:
            if f"{id} {waiting.id}" not in self._called:
                self._called.add(f"{id} {waiting.id}")
                said.append(f"{waiting.tool or 'a question'} waits for you{where}: {waiting.title}")
        if state.plan is not None and f"{id} {state.plan.id}" not in self._called:
            self._called.add(f"{id} {state.plan.id}")
            said.append(f"a plan waits for you{where}")
        before = self._states.get(id)
        if before is not None and before.running and not state.running:
            said.append(f"{state.stage}: {state.title}")
        return said

    def _set_title(self, shown: str) -> None:
        """``! 2 waiting · fix-login``: what waits anywhere comes first, then what is shown. Where only a session out of
        sight waits, that one is named: ``! 2 waiting in port-importer · fix-login``."""
        state = self._states.get(shown)
        waiting = sum(waits_for_you(one) for one in self._states.values())
        asking = [one.title for id, one in self._states.items() if waits_for_you(one) and id != shown]
        where = f" in {asking[0]}" if asking and not (state and waits_for_you(state)) else ""
        how = (
            f"! {waiting} waiting{where}" if waiting else state.stage if state and (state.running or state.goal) else ""
        )
        name = state.title if state and state.title else "agent-tui"
        title = _plain(f"{how} · {name}" if how else name)
        if title != self._title and self.able and self.settings.title:
            self._title = title
            self.write(f"\x1b]2;{title}\x07")

    def _call(self, words: str) -> None:
        if self.settings.bell:
            self.write("\x07")
        if self.settings.notify and self.able:
            # iTerm2, kitty, WezTerm, Windows Terminal and foot know the first, urxvt and others the second.
            self.write(f"\x1b]9;{_plain(words)}\x07\x1b]777;notify;agent-tui;{_plain(words)}\x07")


def _plain(text: str) -> str:
    """One short line without anything a terminal could take for the end of it, or for a field of it."""
    line = "".join(char for char in one_line(text) if char.isprintable()).replace(";", ",")
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
