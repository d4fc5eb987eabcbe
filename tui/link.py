"""The screens' end of the engine: one handle, one bridge, the session that is shown, and what waits for it to open."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engine.commands import OpenSession
from tui.bridge import Bridge

if TYPE_CHECKING:
    from engine.commands import Command
    from engine.events import AnyEvent
    from engine.handle import EngineHandle
    from engine.options import EngineOptions
    from engine.queries import Query
    from engine.state import TaskState

Factory = Callable[["EngineOptions"], "EngineHandle"]
CLOSE_TIMEOUT = 5.0


class Link:
    """Nothing is created before `start`. What is said before a session is open is sent when it is, in order."""

    def __init__(self, factory: Factory, options: EngineOptions, wake: Callable[[], None]) -> None:
        self._factory = factory
        self._options = options
        self._handle: EngineHandle | None = None
        self._held: list[Callable[[str], Command]] = []
        self._closing = threading.Lock()
        self._closed = False
        self.bridge = Bridge(wake)
        self.session = ""
        self.coming = ""
        self.state: TaskState | None = None
        self.saving = True

    @property
    def started(self) -> bool:
        return self._handle is not None

    def start(self, opening: OpenSession | None) -> None:
        """Make the handle, listen, open a session (or none, to ask questions only)."""
        self._handle = self._factory(self._options)
        self._handle.subscribe(self.bridge.receive)
        self._handle.start()
        if opening is not None:
            self._handle.send(opening)

    def open(self, opening: OpenSession) -> None:
        """Open another session; it is shown once the engine says that it is open."""
        if self._handle is not None:
            self._handle.send(opening)

    def send(self, make: Callable[[str], Command]) -> None:
        """Send the command ``make(session)``, at once or when a session is open."""
        if self._handle is not None and self.session:
            self._handle.send(make(self.session))
        else:
            self._held.append(make)

    async def query(self, query: Query) -> Any:
        """The answer to ``query``. Raises RuntimeError before the engine was started."""
        if self._handle is None:
            raise RuntimeError("the engine is not running yet")
        return await asyncio.wrap_future(self._handle.query(query))

    def take(self) -> tuple[list[AnyEvent], bool]:
        """The next batch for the session that is shown, and whether more waits."""
        batch, more = self.bridge.take()
        return [event for event in batch if self._concerns(event)], more

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

    def _concerns(self, event: AnyEvent) -> bool:
        if event.type == "session_coming":
            # Its past is looked at already; what is said meanwhile waits until it can be heard.
            self.coming, self.session, self.state = event.session, "", None
            return True
        if event.type == "past_read":
            return event.session == self.coming
        if event.type == "session_opened" or (event.type == "state_changed" and not (self.session or self.coming)):
            self._shown(event.session)
        elif event.session and event.session != self.session:
            return False
        if event.type == "session_opened" or event.type == "state_changed":
            self.state = event.state or self.state
        elif event.type == "log_health":
            self.saving = event.saving
        return True

    def _shown(self, session: str) -> None:
        self.session, self.coming = session, ""
        held, self._held = self._held, []
        for make in held:
            self.send(make)

    def farewell(self) -> str:
        """What to say on the terminal after the app has gone: how to continue, or that nothing was kept."""
        if self.state is None or not self.state.goal:
            return ""
        if not self.saving:
            return "This session was not saved: the log could not be written.\n"
        return f"To go on with {self.state.title or 'this session'!r}: agent-tui --continue\n"
