"""`EngineHandle`: the only object the screens hold. The engine runs on one worker thread behind it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from engine.commands import Command
from engine.options import EngineOptions
from engine.queries import Query

if TYPE_CHECKING:
    from engine.events import AnyEvent


class EngineHandle:
    """Starts the engine thread, hands it commands and queries, and passes its events on.

    Every method is thread-safe and returns at once. Callbacks run on the engine thread: they must only hand over.
    """

    def __init__(self, options: EngineOptions) -> None:
        self.options = options

    def start(self) -> None:
        """Start the worker thread; importing what it needs happens there."""
        raise NotImplementedError

    def send(self, command: Command) -> None:
        """Put a command into the engine's inbox."""
        raise NotImplementedError

    def query(self, query: Query) -> Future[Any]:
        """Ask; the answer's type is named by the query. `asyncio.wrap_future` makes it awaitable."""
        raise NotImplementedError

    def subscribe(self, callback: Callable[[AnyEvent], None]) -> Callable[[], None]:
        """Call ``callback`` with every event from now on; returns what ends it."""
        raise NotImplementedError

    def close(self, timeout: float = 5.0) -> None:
        """Interrupt what runs, store what is open, end the thread. Blocks up to ``timeout`` seconds."""
        raise NotImplementedError
