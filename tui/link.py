"""The screens' end of the engine: one handle, one bridge, the sessions that are open, what waits for one to open."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.commands import CloseSession, OpenSession
from tui.bridge import Bridge
from tui.session_tabs import Make, Tab, Tabs

if TYPE_CHECKING:
    from engine.commands import Command
    from engine.events import AnyEvent
    from engine.handle import EngineHandle
    from engine.options import EngineOptions
    from engine.queries import Query
    from engine.state import TaskState

Factory = Callable[["EngineOptions"], "EngineHandle"]
Told = tuple[Tab | None, "AnyEvent"]
"""An event, and the tab it concerns; None for what concerns them all."""
CLOSE_TIMEOUT = 5.0
MOST_NAMED = 5


class Link:
    """Nothing is created before `start`. What is said to a tab before its session is open is sent when it is, in order.

    ``tabs``: the sessions that are open here, and which of them is shown.
    """

    def __init__(self, factory: Factory, options: EngineOptions, wake: Callable[[], None]) -> None:
        self._factory = factory
        self._options = options
        self._handle: EngineHandle | None = None
        self._closing = threading.Lock()
        self._closed = False
        self._asked: deque[Tab] = deque()
        self._heirs: dict[str, Tab] = {}
        self.bridge = Bridge(wake)
        self.tabs = Tabs()

    @property
    def session(self) -> str:
        """The id of the session that is shown, '' while it is being opened."""
        return self.tabs.shown.session

    @property
    def state(self) -> TaskState | None:
        """The state of the session that is shown."""
        return self.tabs.shown.state

    @property
    def started(self) -> bool:
        return self._handle is not None

    def start(self, opening: OpenSession | None) -> None:
        """Make the handle, listen, open a session (or none, to ask questions only)."""
        self._handle = self._factory(self._options)
        self._handle.subscribe(self.bridge.receive)
        self._handle.start()
        if opening is not None:
            self.open(opening, self.tabs.shown)

    # --- sessions ----------------------------------------------------------------------------------------------------

    def open(self, opening: OpenSession, tab: Tab) -> None:
        """Open a session in ``tab``, instead of the one that may be there, which is closed once the engine says that
        the other is open."""
        if self._handle is not None:
            tab.opening += 1
            tab.fresh = opening == OpenSession()
            self._asked.append(tab)
            self._handle.send(opening)

    def close_tab(self, tab: Tab) -> None:
        """Close a session; what runs in it is interrupted and stored. After the last tab comes a fresh session."""
        last = not self.tabs.several
        self.tabs.remove(tab)
        self._end(tab.session)
        if last:
            self.open(OpenSession(), self.tabs.shown)

    def _end(self, session: str) -> None:
        if self._handle is not None and session:
            self._handle.send(CloseSession(session))

    # --- saying and asking -------------------------------------------------------------------------------------------

    def send(self, make: Make) -> None:
        """Send the command ``make(session)`` to the session that is shown, at once or when it is open."""
        self.send_to(self.tabs.shown, make)

    def send_to(self, tab: Tab, make: Make) -> None:
        """The same, to the session of ``tab``."""
        if self._handle is not None and tab.session and not tab.opening:
            self._handle.send(make(tab.session))
        else:
            tab.held.append(make)

    def send_command(self, command: Command) -> None:
        """Send a command that names its session."""
        if self._handle is not None:
            self._handle.send(command)

    def sender(self) -> Callable[[Make], None]:
        """`send` for a screen that stays with the session shown now, whichever is shown later."""
        return partial(self.send_to, self.tabs.shown)

    async def query(self, query: Query) -> Any:
        """The answer to ``query``. Raises RuntimeError before the engine was started."""
        if self._handle is None:
            raise RuntimeError("the engine is not running yet")
        return await asyncio.wrap_future(self._handle.query(query))

    # --- what the engine says ----------------------------------------------------------------------------------------

    def take(self) -> tuple[list[Told], bool]:
        """The next batch, each event with its tab, and whether more waits. What sessions say that are not open here
        (any more) is left out."""
        batch, more = self.bridge.take()
        return [told for event in batch if (told := self._heard(event)) is not None], more

    def _heard(self, event: AnyEvent) -> Told | None:
        if event.type == "session_opened":
            tab = self._opened(event)
            return None if tab is None else (tab, event)
        if event.type == "open_failed":
            return self._refused(), event
        if event.type in ("session_coming", "past_read"):
            coming = self._coming(event)
            return None if coming is None else (coming, event)
        tab = self.tabs.of(event.session)
        if tab is None:
            return None if event.session else (None, event)
        if event.type == "state_changed":
            tab.state = event.state or tab.state
        elif event.type == "log_health":
            tab.saving = event.saving
        elif event.type == "handed_off":
            self._heirs[event.to] = tab
        return tab, event

    def _coming(self, event: Any) -> Tab | None:
        """The tab that a long session is read for; None when it has been closed meanwhile. Openings are answered in the
        order in which they were asked for."""
        if event.type == "session_coming" and self._asked:
            self._asked[0].coming = event.session
        return next((tab for tab in self.tabs.all if tab.coming == event.session), None)

    def _opened(self, event: Any) -> Tab | None:
        """The tab of a session that was opened; None when its tab has been closed meanwhile."""
        known = self.tabs.of(event.session)
        if heir := self._heirs.pop(event.session, None):
            # The session before has said so, and the engine closes that by itself.
            heir.session, tab = "", heir
        elif self._asked:
            tab = self._asked.popleft()
            tab.opening -= 1
        else:
            tab = known or self._free()
        if tab not in self.tabs.all:
            if known is None:
                self._end(event.session)
            return known
        if known is not None and known is not tab:
            tab = self._gone_over(tab, known)
        elif tab.session not in ("", event.session):
            self._end(tab.session)
        tab.session, tab.coming, tab.state = event.session, "", event.state or tab.state
        self._send_held(tab)
        return tab

    def _free(self) -> Tab:
        """Where a session goes that nobody here asked for."""
        shown = self.tabs.shown
        return self.tabs.add() if shown.session or shown.opening else shown

    def _gone_over(self, tab: Tab, known: Tab) -> Tab:
        """The session asked for in ``tab`` has a tab already: what was said meanwhile is for that."""
        known.held += tab.held
        tab.held = []
        shown = self.tabs.shown is tab
        if not tab.session:
            self.tabs.remove(tab)
        else:
            self._send_held(tab)
        if shown:
            self.tabs.shown = known
        return known

    def _refused(self) -> Tab:
        """Where to say that a session could not be opened: its tab with what was there before; or, when there was
        nothing, the tab one came from, since an empty one is of no use."""
        if not self._asked:
            return self.tabs.shown
        tab = self._asked.popleft()
        tab.opening -= 1
        tab.coming = ""
        if tab.session:
            self._send_held(tab)
        elif self.tabs.several and tab in self.tabs.all and not (tab.held or tab.opening):
            shown = self.tabs.shown is tab
            self.tabs.remove(tab)
            if shown and tab.opened_from in self.tabs.all:
                self.tabs.shown = tab.opened_from
        return tab if tab in self.tabs.all else self.tabs.shown

    def _send_held(self, tab: Tab) -> None:
        held, tab.held = tab.held, []
        for make in held:
            self.send_to(tab, make)

    # --- the end -----------------------------------------------------------------------------------------------------

    def close(self, timeout: float = CLOSE_TIMEOUT) -> None:
        """Interrupt and store, once; blocks. What the engine says while closing is still heard."""
        with self._closing:
            if self._closed or self._handle is None:
                return
            self._handle.close(timeout)
            self._closed = True
        more = True
        while more:
            _, more = self.take()

    def farewell(self) -> str:
        """What to say on the terminal after the app has gone: how to continue, or that something was not kept."""
        used = [tab for tab in self.tabs.all if tab.state and tab.state.goal]
        lost = [tab for tab in used if not tab.saving]
        kept = [tab for tab in used if tab.saving]
        lines = []
        if lost:
            which = "This session" if len(used) == 1 else ", ".join(repr(tab.title) for tab in lost)
            lines.append(f"{which} was not saved: the log could not be written.")
        if len(kept) == 1:
            newest = len(used) == 1 and self._here(kept[0])
            how = "agent-tui --continue" if newest else f"agent-tui --resume {kept[0].session}"
            lines.append(f"To go on with {kept[0].title!r}: {how}")
        elif kept:
            lines.append(f"{len(kept)} sessions are saved. To go on with one:")
            lines += [f"  agent-tui --resume {tab.session}   {tab.title!r}" for tab in kept[:MOST_NAMED]]
            if len(kept) > MOST_NAMED:
                lines.append("  agent-tui sessions list   shows the others")
        return "".join(f"{line}\n" for line in lines)

    def _here(self, tab: Tab) -> bool:
        """Whether the session is one of the folder the shell is in, where ``--continue`` looks for it."""
        with contextlib.suppress(OSError):
            return tab.state is not None and Path(tab.state.cwd).resolve() == Path.cwd()
        return False
