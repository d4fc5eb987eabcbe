"""`EngineHandle`: the only object the screens hold. The engine runs on one worker thread behind it.

Importing this module is cheap: what the engine needs is imported on its own thread, after the first frame.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from engine.commands import Command, OpenSession
from engine.options import EngineOptions
from engine.queries import Query

if TYPE_CHECKING:
    from engine.engine import Engine
    from engine.events import AnyEvent

log = logging.getLogger(__name__)


class EngineHandle:
    """Starts the engine thread, hands it commands and queries, and passes its events on.

    Every method is thread-safe and returns at once, but for `close`. Callbacks run on the engine thread: they must
    only hand over. What is sent before the engine is up waits for it.
    """

    def __init__(self, options: EngineOptions) -> None:
        self.options = options
        self._callbacks: tuple[Callable[[AnyEvent], None], ...] = ()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._inbox: asyncio.Queue[tuple[Command | Query, Future[Any]] | None] | None = None
        self._early: list[tuple[Command | Query, Future[Any]]] = []
        self._closed = False

    def start(self) -> None:
        """Start the worker thread; importing what it needs happens there. A second call does nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._main, name="engine", daemon=True)
            self._thread.start()

    def send(self, command: Command) -> None:
        """Put a command into the engine's inbox. Commands are taken in order."""
        self._put(command, Future())

    def query(self, query: Query) -> Future[Any]:
        """Ask; the answer's type is named by the query. `asyncio.wrap_future` makes it awaitable.

        The future is cancelled when the engine is closed before it answered.
        """
        future: Future[Any] = Future()
        self._put(query, future)
        return future

    def subscribe(self, callback: Callable[[AnyEvent], None]) -> Callable[[], None]:
        """Call ``callback`` with every event from now on; returns what ends it."""
        with self._lock:
            self._callbacks = (*self._callbacks, callback)

        def unsubscribe() -> None:
            with self._lock:
                self._callbacks = tuple(c for c in self._callbacks if c is not callback)

        return unsubscribe

    def close(self, timeout: float = 5.0) -> None:
        """Interrupt what runs, store what is open, end the thread. Blocks up to ``timeout`` seconds."""
        with self._lock:
            self._closed = True
            loop, inbox = self._loop, self._inbox
            for _, future in self._early:
                future.cancel()
            self._early.clear()
        if loop is not None and inbox is not None and not loop.is_closed():
            loop.call_soon_threadsafe(inbox.put_nowait, None)
        if self._thread is not None:
            self._thread.join(timeout)

    # --- on whichever thread calls ---

    def _put(self, item: Command | Query, future: Future[Any]) -> None:
        with self._lock:
            if self._closed:
                future.cancel()
            elif self._loop is None or self._inbox is None:
                self._early.append((item, future))
            else:
                self._loop.call_soon_threadsafe(self._inbox.put_nowait, (item, future))

    # --- on the engine thread ---

    def _main(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception as error:
            log.exception("the engine stopped")
            self._failed(error)

    async def _serve(self) -> None:
        from engine.engine import Engine

        engine = Engine(self.options, self._publish)
        inbox: asyncio.Queue[tuple[Command | Query, Future[Any]] | None] = asyncio.Queue()
        with self._lock:
            self._loop, self._inbox = asyncio.get_running_loop(), inbox
            for early in self._early:
                inbox.put_nowait(early)
            self._early.clear()
            if self._closed:
                inbox.put_nowait(None)
        try:
            await self._take_all(engine, inbox)
        finally:
            await engine.close()

    async def _take_all(self, engine: Engine, inbox: asyncio.Queue[tuple[Command | Query, Future[Any]] | None]) -> None:
        """Commands to a session in order, one opening after the other; queries side by side: a slow one delays none."""
        answering: set[asyncio.Task[None]] = set()
        opening: asyncio.Task[None] | None = None
        while (taken := await inbox.get()) is not None:
            item, future = taken
            if isinstance(item, Query):
                task = asyncio.create_task(_answer(engine, item, future))
                answering.add(task)
                task.add_done_callback(answering.discard)
            elif isinstance(item, OpenSession):
                opening = asyncio.create_task(self._carry_out(engine, item, opening))
            else:
                late = opening if not engine.has(item.session) else None
                await self._carry_out(engine, item, late)
        if opening is not None:
            opening.cancel()
            await asyncio.wait({opening})
        for task in answering:
            task.cancel()

    async def _carry_out(self, engine: Engine, command: Command, after: asyncio.Task[None] | None) -> None:
        """One command, ``after`` what may open the session it is for. A session of many events takes a while to open:
        what is said to others does not wait for it."""
        if after is not None:
            await asyncio.wait({after})
        try:
            await engine.handle(command)
        except Exception as error:
            log.exception("a command failed: %s", type(command).__name__)
            self._failed(error)

    def _failed(self, error: BaseException) -> None:
        from engine.events import EngineFailed

        self._publish(EngineFailed(error=f"{type(error).__name__}: {error}"))

    def _publish(self, event: AnyEvent) -> None:
        for callback in self._callbacks:
            callback(event)


async def _answer(engine: Engine, query: Query, future: Future[Any]) -> None:
    try:
        answer = await engine.answer(query)
    except asyncio.CancelledError:
        future.cancel()
        raise
    except Exception as error:
        if not future.cancelled():
            future.set_exception(error)
    else:
        if not future.cancelled():
            future.set_result(answer)
