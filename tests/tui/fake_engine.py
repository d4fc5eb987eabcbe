"""An engine handle that tests drive with events; it keeps what it was told."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from engine import events as ev
from engine.commands import Command, OpenSession
from engine.handle import EngineHandle
from engine.options import EngineOptions
from engine.queries import CompleteFiles, FoundModel, Query, RuleTrial, Survey, SurveyResult, TryRule
from engine.state import TaskState, fold, step

SURVEY = SurveyResult(
    models=(
        FoundModel("anthropic/claude-x", "key in ANTHROPIC_API_KEY", True),
        FoundModel("ollama", "127.0.0.1:11434", False, "no server answers", "start it with: ollama serve"),
    ),
    chosen="anthropic/claude-x",
    why="a key is in the environment",
    sandbox="bwrap",
    sandbox_works=True,
)


class FakeHandle(EngineHandle):
    """Opens session ``s1`` (then ``s2``, …) when told to. `tell` appends a stored event and publishes the new state,
    as the engine does; `show` publishes a live one. An answer that is a function is asked with the query. ``state`` is
    that of the session opened last."""

    def __init__(self, options: EngineOptions | None = None) -> None:
        super().__init__(options or EngineOptions(cwd=Path("/src/shop")))
        self.sent: list[Command] = []
        self.asked: list[Query] = []
        self.answers: dict[type, Any] = {Survey: SURVEY, CompleteFiles: ("a.py",), TryRule: RuleTrial(("git log",))}
        self.started = False
        self.closed = 0
        self.state = TaskState()
        self.past: tuple[ev.Event, ...] = ()
        self._callback: Callable[[ev.AnyEvent], None] | None = None
        self._sessions = itertools.count(1)
        self._states: dict[str, TaskState] = {}

    def start(self) -> None:
        self.started = True

    def subscribe(self, callback: Callable[[ev.AnyEvent], None]) -> Callable[[], None]:
        self._callback = callback
        return lambda: None

    def send(self, command: Command) -> None:
        self.sent.append(command)
        if isinstance(command, OpenSession):
            session = command.id or f"s{next(self._sessions)}"
            self.state = fold(self.past, TaskState(session=session))
            self._states[session] = self.state
            self.show(ev.SessionOpened(session=session, events=self.past, state=self.state))

    def query(self, query: Query) -> Future[Any]:
        self.asked.append(query)
        future: Future[Any] = Future()
        answer = self.answers.get(type(query))
        if callable(answer):
            try:
                answer = answer(query)
            except Exception as error:
                answer = error
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
        return future

    def close(self, timeout: float = 5.0) -> None:
        self.closed += 1

    def show(self, event: ev.AnyEvent) -> None:
        assert self._callback is not None
        self._callback(event)

    def tell(self, *events: ev.Event, session: str = "") -> None:
        """Store and publish, in ``session`` or the one opened last."""
        id = session or self.state.session
        for event in events:
            before = self._states.get(id, TaskState(session=id))
            stored = event.model_copy(update={"session": id, "seq": before.seq + 1})
            after = self._states[id] = step(before, stored)
            if id == self.state.session:
                self.state = after
            self.show(stored)
            self.show(ev.StateChanged(session=id, state=after))

    def commands(self, kind: type) -> list[Any]:
        """What it was told of one kind."""
        return [command for command in self.sent if isinstance(command, kind)]
