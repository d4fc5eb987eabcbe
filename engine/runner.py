"""One open session being worked on: takes a person's commands, owns the run, the sandbox broker and the model.

Everything runs on the engine's event loop. At most one run at a time; commands never wait for it.
"""

from __future__ import annotations

import asyncio
import logging
import platform
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal
from uuid import uuid4

from engine import commands as cmd
from engine import events as ev
from engine import planning
from engine import queries as q
from engine.asking import People
from engine.intervening import Intervening
from engine.limits import WorkClock
from engine.log import ArtifactDamaged, Artifacts, LogError
from engine.loop import Loop, Stop
from engine.memory import Memory
from engine.memory.door import MemoryDoor
from engine.models.base import Model, ModelError
from engine.pausing import Pausing
from engine.person import PersonCommands
from engine.prompt import layers
from engine.prompt.runtime import Surroundings
from engine.rewinding import Rewinder
from engine.session import Session
from engine.stages import check_criteria
from engine.text import clean
from engine.todo_file import TodoFile
from engine.tools.base import ToolContext
from engine.tools.todo import parse_todo
from engine.waiting import ended
from sandbox.broker import Broker
from sandbox.operations import Caller
from sandbox.shadow import Shadow
from skills import Catalogue

log = logging.getLogger(__name__)

_TOUCHES = frozenset({
    "user_message", "message_queued", "compacted", "assistant_message", "person_ran", "todo_changed", "memory_changed",
})  # fmt: skip

MakeModel = Callable[[str], Model]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a runner is given: made once a session by `engine.engine`."""

    broker: Broker
    artifacts: Artifacts
    make_model: MakeModel
    read_skill: Callable[[str], bytes | None]
    session_dir: Path
    limits: ev.Limits
    sandbox_words: str
    shadow: Shadow
    hand_over: Callable[[Runner, str], Awaitable[str]]
    render: Callable[[], ev.PromptRendered]
    skills: Catalogue
    memory: Memory
    find_sessions: Callable[[q.ListSessions], tuple[q.SessionRow, ...]]


class Runner(Intervening):
    """Drives one session. Its methods are called on the engine's loop and return at once, but for `close`."""

    def __init__(self, session: Session, people: People, parts: Parts) -> None:
        self.session = session
        self._people = people
        self._parts = parts
        self._run: asyncio.Task[None] | None = None
        self._model: Model | None = None
        self._retired: list[Model] = []
        self._stop: Stop | None = None
        self._todo = TodoFile(parts.session_dir / "todo.md", self._todo_edited)
        self._rewinder = Rewinder(session, parts.shadow)
        self._memory = MemoryDoor(session, parts.memory, parts.find_sessions)
        self._pausing = Pausing(session, lambda: people.clock)
        self._person = PersonCommands(session, self._context, parts.artifacts.put, self._rewinder)
        self._loop = Loop(
            session,
            self._get_model,
            self._context,
            parts.artifacts.put,
            self._after,
            self._surroundings,
            self._rewinder,
            self._pausing,
        )

    def watch(self) -> None:
        """Begin to watch todo.md."""
        self._todo.watch()

    @property
    def broker(self) -> Broker:
        """The sandbox of this session, with what was allowed in it."""
        return self._parts.broker

    @property
    def untouched(self) -> bool:
        """Whether nothing was said or done in this session, nor in one it goes on for."""
        return not any(e.type in _TOUCHES for e in self.session.events)

    # --- commands ---

    def send(self, text: str, kind: str) -> None:
        """A person's text: queued while a run goes on, else the start of one. Blank text is ignored."""
        if not text.strip():
            return
        if self.running:
            self.session.queue(kind, text, f"m-{uuid4().hex[:8]}")
            return
        self.session.say(text)
        self.start()

    def start(self, resumed: bool = False, limits: ev.Limits | None = None) -> None:
        """Begin a run with what the log holds, within ``limits`` (None: those of every run)."""
        self._stop = None
        self._people.stopping = ""
        self._people.clock = WorkClock()
        self.session.append(ev.RunStarted(limits=limits or self._parts.limits, resumed=resumed))
        self._run = asyncio.create_task(self._work())

    def take_back(self, command: cmd.TakeBack) -> None:
        pending = self.session.state.pending
        id = command.id or (pending[-1].id if pending else "")
        if any(p.id == id for p in pending):
            self.session.append(ev.MessageWithdrawn(id=id))

    def interrupt(self, after_calls: bool = False) -> None:
        """Cut what runs, a person's own command first, or stop ``after_calls``; nothing when idle."""
        if self._person.cut():
            return
        if after_calls and self.session.state.open_calls:
            self._loop.stop_after_calls()
        else:
            self._cut(Stop("interrupted", "by the person"), by="interrupt")

    def decide(self, command: cmd.Decide) -> None:
        self._people.decide(command)

    def answer(self, command: cmd.AnswerQuestion) -> None:
        self._people.answer(command)

    def change(self, command: cmd.ChangeSetting) -> None:
        """A setting mid-run. A model that cannot be used, or a value that makes no sense, is refused with a notice."""
        try:
            if command.name == "model":
                self._replace_model(self._parts.make_model(str(command.value)))
            elif command.name == "approve":
                self._parts.broker.set_mode(planning.broker_mode(str(command.value)))
            elif command.name == "compaction" and command.value not in ("auto", "off"):
                raise ValueError(f"it is auto or off, not {command.value!r}")
            elif command.name == "limits":
                ev.Limits.model_validate(command.value)
            elif command.name in ("done_when", "stages"):
                check_criteria(command.name, command.value)
        except (ModelError, ValueError) as error:
            hint = error.suggestion if isinstance(error, ModelError) else ""
            self.session.append(ev.Notice(level="warn", text=f"{command.name} not changed: {error}", hint=hint))
            return
        self.session.append(ev.SettingChanged(name=command.name, value=command.value))

    def compact(self, command: cmd.Compact) -> None:
        """Compact at a person's request: now, or before the next turn of the run."""
        if self.running:
            self._loop.compact_soon(command.focus)
        else:
            self._run = asyncio.create_task(self._compact_idle(command.focus))

    def keep(self, data: bytes) -> str:
        """Store what a fresh session may want to read; '' when the disk would not take it."""
        try:
            return self._parts.artifacts.put(data)
        except OSError as error:
            log.warning("a ledger could not be stored: %s", error)
            return ""

    async def undo_compaction(self) -> None:
        """Take the newest compaction in force back; never under a run, whose next request it would change."""
        why = "Interrupt the agent first."
        if not self.running:
            try:
                async with self.session.whole():
                    why = self._loop.undo_compaction()
            except (ModelError, LogError) as error:
                why = f"{error} {error.suggestion}".strip()
        if why:
            self.session.append(ev.Notice(level="warn", text=f"the compaction stays: {why}"))

    def refresh(self) -> None:
        """Render the layers A and B as they would be rendered today; never under a run."""
        if self.running:
            self.session.append(ev.Notice(level="warn", text="the prompt stays as it is: interrupt the agent first"))
            return
        now = self._parts.render()
        stored = next((e for e in reversed(self.session.events) if isinstance(e, ev.PromptRendered)), None)
        why = layers.outdated(stored, now) if stored else ""
        if not why:
            self.session.append(ev.Notice(level="info", text="the prompt is up to date: nothing to refresh"))
            return
        self.session.append(now.model_copy(update={"reason": f"refreshed by the person; it was {why}"}))

    async def change_memory(self, command: cmd.ChangeMemory) -> None:
        """A person saves, edits or removes a memory; the model hears of it with its next request."""
        if why := await self._memory.change(command.scope, command.text, command.before):
            self.session.append(ev.Notice(level="warn", text=f"the memory was not changed: {why}"))

    def edit_todo_file(self, text: str) -> None:
        """Write todo.md as the log has it already."""
        try:
            self._todo.write(text)
        except OSError as error:
            self.session.append(ev.Notice(level="warn", text=f"todo.md was not written: {error}"))

    def edit_todo(self, text: str) -> None:
        try:
            self._todo.write(clean(text))
        except OSError as error:
            self.session.append(ev.Notice(level="warn", text=f"todo.md was not written: {error}"))
            return
        self._todo_edited(text)

    async def close(self) -> None:
        """End the run, the sandbox and the watchers, then give the session back."""
        self._cut(Stop("interrupted", "the app was closed"), by="close")
        if self._run:
            await asyncio.wait({self._run})
        await self._person.close()
        await self._todo.close()
        await self._parts.broker.close()
        for model in (*self._retired, self._model):
            if model is not None:
                await model.aclose()
        self.session.close()

    # --- the run ---

    @property
    def running(self) -> bool:
        return self._run is not None and not self._run.done()

    async def idle(self) -> None:
        """Wait until no run goes on."""
        while self._run is not None and not self._run.done():
            await asyncio.wait({self._run})

    async def _work(self) -> None:
        stop = await self._watched(asyncio.create_task(self._loop.run()))
        self._rewinder.rest()
        if stop.reason == "handed_off":
            stop = await self._handed_over(stop)
        if stop.reason == "finished":
            planning.propose(self.session)
        self.session.append(ev.RunFinished(reason=stop.reason, detail=stop.detail))
        if (focus := self._loop.take_wanted()) is not None and not self._closing:
            await self._compact(focus)
        if stop.reason in ("finished", "denied", "interrupted") and self.session.state.pending and not self._closing:
            self._go_on_with_pending()

    async def _handed_over(self, stop: Stop) -> Stop:
        """Let a fresh session go on; where none can be opened, this one has failed."""
        problem = await self._parts.hand_over(self, stop.detail)
        return Stop("failed", f"{stop.detail}; a fresh session could not be opened: {problem}") if problem else stop

    async def _compact_idle(self, focus: str) -> None:
        """Compact between two runs; what was sent meanwhile starts the next one, also when this is interrupted."""
        try:
            await self._compact(focus)
        finally:
            if self.session.state.pending and not self._closing:
                self._go_on_with_pending()

    @property
    def _closing(self) -> bool:
        return self._people.stopping == "close"

    def _go_on_with_pending(self) -> None:
        """A message that came between the last look and the end of the run is not lost: it starts the next one."""
        asyncio.get_running_loop().call_soon(self.start)

    async def _watched(self, work: asyncio.Task[Stop]) -> Stop:
        """The work's own reason to stop, or why it was cut: by a person, by closing, by the clock."""
        try:
            while not work.done():
                await asyncio.wait({work}, timeout=self._patience())
                if not work.done() and self._overtime():
                    most = self.session.state.limits.seconds
                    self._note_stop(Stop("limit", f"the limit of {most:g} seconds of working is reached"), by="limit")
                    work.cancel()
                    await asyncio.wait({work})
        except asyncio.CancelledError:
            work.cancel()
            await ended({work})
        return self._outcome(work)

    def _outcome(self, work: asyncio.Task[Stop]) -> Stop:
        if work.cancelled():
            return self._stop or Stop("interrupted", "cancelled")
        error = work.exception()
        if error is None:
            return self._stop or work.result()
        log.error("the run failed", exc_info=error)
        return Stop("failed", f"internal error: {type(error).__name__}: {error} (details are in the log file)")

    def _patience(self) -> float | None:
        """Seconds until the clock should be looked at again; it may stand still meanwhile."""
        most = self.session.state.limits.seconds
        return None if most is None else max(0.2, most - self._people.clock.seconds)

    def _overtime(self) -> bool:
        most = self.session.state.limits.seconds
        return most is not None and self._people.clock.seconds >= most

    def _note_stop(self, stop: Stop, by: str) -> None:
        self._stop = stop
        self._people.stopping = by

    def _cut(self, stop: Stop, by: str) -> None:
        if self.running and self._run:
            self._note_stop(stop, by)
            # Not before it has begun: a task that is cancelled earlier does nothing at all, not even say that it ended.
            asyncio.get_running_loop().call_soon(self._run.cancel)

    async def _compact(self, focus: str) -> None:
        try:
            if not await self._loop.compact(focus):
                self.session.append(ev.Notice(level="info", text="there is nothing to compact yet"))
        except ModelError as error:
            self.session.append(ev.Notice(level="warn", text=f"compaction failed: {error}", hint=error.suggestion))

    # --- what the loop needs ---

    def _get_model(self) -> Model:
        if self._model is None:
            self._model = self._parts.make_model(self.session.state.model)
        return self._model

    def _replace_model(self, model: Model) -> None:
        """From the next turn on; a turn under way keeps the model it has, so that one is closed at the end only."""
        if self._model is not None:
            self._retired.append(self._model)
        self._model = model

    def _context(self, call: ev.ToolCall) -> ToolContext:
        def progress(text: str) -> None:
            self.session.show(ev.ToolProgress(session=self.session.id, call_id=call.id, text=text))

        async def ask_user(question: str, options: tuple[str, ...]) -> str:
            return await self._people.question(call.id, question, options)

        return ToolContext(
            broker=self._parts.broker,
            caller=Caller(session=self.session.id, tool=call.name, call_id=call.id),
            session_dir=self._parts.session_dir,
            ask_user=ask_user,
            read_artifact=self._read_artifact,
            memory=self._memory,
            read_skill=self._parts.read_skill,
            progress=progress,
        )

    def _read_artifact(self, digest: str) -> bytes | None:
        try:
            return self._parts.artifacts.get(digest)
        except ArtifactDamaged as error:
            log.warning("%s", error)
            return None

    def _surroundings(self) -> Surroundings:
        return Surroundings(
            today=datetime.now().date().isoformat(),
            folder=self.session.state.cwd,
            platform=f"{platform.system()} {platform.machine()}",
            sandbox=self._parts.sandbox_words,
        )

    def _todo_edited(self, text: str) -> None:
        self._todo_changed(text, "person")

    def _after(self, result: ev.ToolResult) -> None:
        """What a result changes beside itself: the model's own todo_write shows in the pane."""
        if result.name == "todo_write" and result.status == "ok":
            self._todo_changed(self._todo.known(), "model")

    def _todo_changed(self, text: str, by: Literal["model", "person"]) -> None:
        tidy = clean(text)
        self.session.append(ev.TodoChanged(text=tidy, items=parse_todo(tidy), by=by))
