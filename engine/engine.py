"""The engine: open sessions by id, commands to the right one, answers to queries. Lives on one event loop.

Any number of sessions work side by side, in one folder too: each has its own log, sandbox and todo list. What they
share is made for many writers: the audit record, the memories and the files that are kept aside.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
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
from engine.pictures import show_picture
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
        self._closing: dict[str, asyncio.Task[None]] = {}
        self._answers = Answers(self._opener)
        self.interrupted = False

    async def open(self, command: cmd.OpenSession) -> Runner:
        """Open a session beside those that are open, or show an open one again. Raises OpenError."""
        id = command.id if command.id in self._runners else await self._opener.which(command)
        if id in self._closing:
            await asyncio.wait({self._closing[id]})
        runner = self._runners.get(id)
        if runner is not None:
            async with runner.session.whole():
                shown, state = tuple(runner.session.events), runner.session.state
            self._publish(ev.SessionOpened(session=id, events=shown, state=state))
        else:
            runner = await self._opener.open(id)
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
        self._begin_closing(old.session.id, after=old.idle())
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
        if runner is None:
            log.warning("%s for %r, which is not open", type(command).__name__, command.session)
        elif isinstance(command, cmd.CloseSession):
            self._begin_closing(command.session)
        elif isinstance(command, cmd.Rewind):
            if why := self._keeps_files(runner, command):
                runner.session.append(ev.Notice(level="warn", text=why))
            else:
                await runner.rewind(command)
        elif isinstance(command, cmd.UndoCompaction):
            await runner.undo_compaction()
        elif isinstance(command, cmd.ChangeMemory):
            await runner.change_memory(command)
        else:
            _deliver(runner, command)

    def _keeps_files(self, runner: Runner, command: cmd.Rewind) -> str:
        """Why files cannot be put back now: what another session is writing there would go with them."""
        folder = runner.session.state.cwd
        others = [r for r in self._runners.values() if r is not runner and r.running and r.session.state.cwd == folder]
        if not others or not (command.files or command.undoes):
            return ""
        name = others[0].session.state.title or others[0].session.id
        return f"not gone back: the agent works in the same folder in {name!r} too; interrupt it first"

    async def answer(self, query: queries.Query) -> Any:
        """Answer a query; its class says with what."""
        if isinstance(query, queries.ShowPicture):
            runner = self._runners.get(query.session)
            return await show_picture(runner.broker if runner else None, query)
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
            self._begin_closing(id)
        if ending := {*self._closing.values(), *([self._tidying] if self._tidying else [])}:
            await asyncio.wait(ending)

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

    def _begin_closing(self, id: str, after: Awaitable[None] | None = None) -> None:
        """Close a session beside the work of the others, at once or ``after`` something; it is not open any more."""
        runner = self._runners.pop(id)
        self._closing[id] = asyncio.create_task(self._close(runner, after))

    async def _close(self, runner: Runner, after: Awaitable[None] | None) -> None:
        try:
            if after is not None:
                await after
            await runner.close()
            if runner.untouched:
                self._store.remove(runner.session.id)
        except Exception:
            # The others go on, and so does leaving.
            log.exception("session %s was not closed cleanly", runner.session.id)
        finally:
            del self._closing[runner.session.id]


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
    elif isinstance(command, cmd.RefreshPrompt):
        runner.refresh()
