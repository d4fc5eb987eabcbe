"""The engine: open sessions by id, commands to the right one, answers to queries. Lives on one event loop."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine import commands as cmd
from engine import events as ev
from engine import queries
from engine.answers import Answers
from engine.handover import limits_left
from engine.log import LogStore
from engine.logging_setup import set_up_logging
from engine.opening import Opener, OpenError
from engine.options import EngineOptions
from engine.paths import Home
from engine.runner import Runner

__all__ = ["Engine", "OpenError"]

log = logging.getLogger(__name__)


class Engine:
    """One a process. ``publish`` is called with every event, on the engine's loop."""

    def __init__(self, options: EngineOptions, publish: Callable[[ev.AnyEvent], None], headless: bool = False) -> None:
        home = Home.here()
        set_up_logging(home, os.environ, debug=options.debug)
        self._publish = publish
        self._headless = headless
        self._store = LogStore(home)
        self._tidying: asyncio.Task[bool] | None = None
        self._opener = Opener(options, home, self._store, self._pass_on, headless, self._hand_over)
        self._runners: dict[str, Runner] = {}
        self._tidied: set[Path] = set()
        self._successors: dict[str, Runner] = {}
        self._answers = Answers(self._opener)
        self.interrupted = False

    async def open(self, command: cmd.OpenSession) -> Runner:
        """Open a session, or show an open one again. Raises OpenError."""
        known = self._runners.get(command.id)
        if known is not None:
            session = known.session
            self._publish(ev.SessionOpened(session=session.id, events=tuple(session.events), state=session.state))
            return known
        runner = await self._opener.open(command)
        await self._close_idle()
        self._runners[runner.session.id] = runner
        runner.watch()
        if command.task:
            runner.send(command.task, "steer")
        return runner

    def has(self, session: str) -> bool:
        """Whether a session is open."""
        return session in self._runners

    def successor(self, runner: Runner) -> Runner | None:
        """The runner of the session that goes on for this one's, if it was handed over."""
        return self._successors.get(runner.session.id)

    async def _hand_over(self, old: Runner, reason: str) -> str:
        """Open a fresh session that goes on for the old one; why that was not possible, or ''."""
        try:
            runner = await self._opener.hand_over(old, reason)
        except OpenError as error:
            return str(error)
        self._runners[runner.session.id] = self._successors[old.session.id] = runner
        runner.watch()
        runner.start(limits=limits_left(old.session.state))
        return ""

    async def handle(self, command: cmd.Command) -> None:
        """Carry out a command. One for a session that is not open is ignored: it came too late."""
        if isinstance(command, cmd.OpenSession):
            try:
                await self.open(command)
            except OpenError as error:
                self._publish(ev.OpenFailed(error=str(error)))
            return
        runner = self._runners.get(command.session)
        if isinstance(command, cmd.Rewind) and runner is not None:
            await runner.rewind(command)
            return
        if isinstance(command, cmd.ChangeMemory) and runner is not None:
            await runner.change_memory(command)
            return
        if runner is None:
            log.warning("%s for %r, which is not open", type(command).__name__, command.session)
        else:
            _deliver(runner, command)

    async def answer(self, query: queries.Query) -> Any:
        """Answer a query; its class says with what."""
        return await self._answers.answer(query)

    def interrupt_all(self) -> None:
        """Cut every run, as Ctrl-C does in a run without a screen."""
        self.interrupted = True
        for runner in self._runners.values():
            runner.interrupt()

    async def close(self) -> None:
        """End all runs and give the sessions back."""
        for shadow in self._opener.shadows.values():
            shadow.close()
        for id in list(self._runners):
            await self._close(id)
        if self._tidying:
            await asyncio.wait({self._tidying})

    def _pass_on(self, event: ev.AnyEvent) -> None:
        self._publish(event)
        if event.type == "run_finished" and not self._headless:
            self._tidy()

    def _tidy(self) -> None:
        """Between runs there is time to bring the session list and the search index up to date."""
        if self._tidying is None or self._tidying.done():
            self._tidying = asyncio.create_task(asyncio.to_thread(self._catch_up))

    def _catch_up(self) -> bool:
        """Off the loop: the index; and, once for each folder, kept files too old for anyone to go back to."""
        for folder, shadow in self._opener.shadows.items():
            if folder not in self._tidied:
                self._tidied.add(folder)
                shadow.tidy()
        return self._store.catch_up()

    async def _close_idle(self) -> None:
        """A session that is left while nothing runs in it is given back, so that others can open it."""
        for id, runner in list(self._runners.items()):
            if not runner.running:
                await self._close(id)

    async def _close(self, id: str) -> None:
        runner = self._runners.pop(id)
        await runner.close()
        if runner.untouched:
            self._store.remove(id)


def _deliver(runner: Runner, command: cmd.Command) -> None:
    if isinstance(command, cmd.SendMessage):
        runner.send(command.text, command.kind)
    elif isinstance(command, cmd.TakeBack):
        runner.take_back(command)
    elif isinstance(command, cmd.Interrupt):
        runner.interrupt(command.after_calls)
    elif isinstance(command, cmd.Pause):
        runner.pause()
    elif isinstance(command, cmd.GoOn):
        runner.go_on(command.turns)
    elif isinstance(command, cmd.ArrangeQueue):
        runner.arrange(command)
    elif isinstance(command, cmd.RunCommand):
        runner.run_command(command.command)
    elif isinstance(command, cmd.DecidePlan):
        runner.decide_plan(command)
    elif isinstance(command, cmd.Decide):
        runner.decide(command)
    elif isinstance(command, cmd.AnswerQuestion):
        runner.answer(command)
    elif isinstance(command, cmd.ChangeSetting):
        runner.change(command)
    elif isinstance(command, cmd.Compact):
        runner.compact(command)
    elif isinstance(command, cmd.EditTodo):
        runner.edit_todo(command.text)
    elif isinstance(command, cmd.UndoCompaction):
        runner.undo_compaction()
    elif isinstance(command, cmd.RefreshPrompt):
        runner.refresh()
