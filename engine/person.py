"""A person's own commands: run in the sandbox as the agent's are, at their word, and shown to the model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

from engine import events as ev
from engine.rewinding import Rewinder
from engine.session import Session
from engine.text import clean
from engine.tools.base import ToolContext
from engine.tools.runner import run_call
from engine.tools.shell_run import MOST_SECONDS

PREFIX = "you-"
"""What the call ids of a person's commands begin with."""


class PersonCommands:
    """One command at a time, beside whatever the agent does."""

    def __init__(
        self,
        session: Session,
        context: Callable[[ev.ToolCall], ToolContext],
        put: Callable[[bytes], str],
        rewinder: Rewinder,
    ) -> None:
        self._session = session
        self._context = context
        self._put = put
        self._rewinder = rewinder
        self._task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    def run(self, command: str) -> None:
        """Begin; its end is a stored PersonRan. A second one beside the first is refused with a notice."""
        command = clean(command).strip()
        if not command:
            return
        if self.running:
            hint = "Esc ends it."
            text = f"not run: {command}: another command of yours is still running"
            self._session.append(ev.Notice(level="warn", text=text, hint=hint))
            return
        self._task = asyncio.create_task(self._run(command))

    def cut(self) -> bool:
        """End the running command; False when there is none."""
        if not self.running or self._task is None:
            return False
        self._task.cancel()
        return True

    async def close(self) -> None:
        """End it and wait until it is stored."""
        self.cut()
        if self._task is not None:
            await asyncio.wait({self._task})

    async def _run(self, command: str) -> None:
        call = ev.ToolCall(
            id=f"{PREFIX}{uuid4().hex[:8]}", name="shell_run", input={"command": command, "timeout": MOST_SECONDS}
        )
        asked = self._context(call)
        context = replace(asked, caller=replace(asked.caller, tool="person", person=True))
        self._session.show(ev.ToolProgress(session=self._session.id, call_id=call.id, text="", title=command))
        work = asyncio.create_task(self._kept_and_run(call, context))
        cancelled = False
        while not work.done():
            try:
                await asyncio.wait({work})
            except asyncio.CancelledError:
                cancelled = True
                work.cancel()
        self._session.append(_stored(command, work, cancelled))

    async def _kept_and_run(self, call: ev.ToolCall, context: ToolContext) -> ev.ToolResult:
        await self._rewinder.keep()
        return await run_call(call, self._session.state.turn, context, self._put)


def _stored(command: str, work: asyncio.Task[ev.ToolResult], cancelled: bool) -> ev.PersonRan:
    if work.cancelled():
        text = "[The person ended it before it was done. It may have had effects.]"
        return ev.PersonRan(command=command, status="cancelled", text=text)
    if (error := work.exception()) is not None:
        return ev.PersonRan(command=command, status="error", text=f"It could not be run: {clean(str(error))}")
    result = work.result()
    status = "denied" if result.status == "skipped" else result.status
    return ev.PersonRan(
        command=command,
        status="cancelled" if cancelled and status == "error" else status,
        text=result.text,
        exit_code=result.exit_code,
        artifact=result.artifact,
        truncated=result.truncated,
        seconds=result.seconds,
    )
