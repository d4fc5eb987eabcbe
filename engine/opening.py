"""Opening a session: settings, model, sandbox, skills and layers come together here and nowhere else."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path

import skills
from engine import events as ev
from engine import handover, planning
from engine import settings as settings_of
from engine.asking import People
from engine.commands import OpenSession
from engine.log import Artifacts, LogError, LogStore
from engine.memory import Memory
from engine.models.base import Model, ModelError
from engine.models.discovery import OFFLINE, DefaultModel, choose_default, find_servers, keys_found
from engine.models.providers import resolve
from engine.options import EngineOptions
from engine.paths import Home
from engine.prompt import layers, modes
from engine.prompt.instructions import read_instructions
from engine.queries import ListSessions
from engine.resuming import Past, read_past
from engine.runner import Parts, Runner
from engine.session import Session
from engine.settings import Settings
from engine.state import TaskState
from engine.text import clean
from engine.tools.registry import specs
from engine.trust import is_trusted
from sandbox import open_broker
from sandbox.audit import Alert
from sandbox.backends.base import Capabilities
from sandbox.policies import session_policy
from sandbox.shadow import Shadow


class OpenError(Exception):
    """A session cannot be opened. ``exit_code`` is what ``run`` ends with."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True)
class Opener:
    """Opens sessions for one engine. ``headless``: nobody can be asked."""

    options: EngineOptions
    home: Home
    store: LogStore
    publish: Callable[[ev.AnyEvent], None]
    headless: bool
    hand_over_by: Callable[[Runner, str], Awaitable[str]]
    shadows: dict[Path, Shadow] = field(default_factory=dict)

    async def which(self, command: OpenSession) -> str:
        """The id of the stored session that is meant, '' for a new one. Raises OpenError."""
        with _opening():
            return await asyncio.to_thread(self._which, command)

    async def open(self, id: str) -> Runner:
        """The stored session ``id``, or a new one when that is empty, ready to work. Raises OpenError."""
        with _opening():
            return await (self._resume(id) if id else self._begin())

    async def hand_over(self, old: Runner, reason: str) -> Runner:
        """A fresh session that goes on for ``old``, ready to start; the old one has said so. Raises OpenError."""
        with _opening():
            state = old.session.state
            folder = Path(state.cwd)
            writer = self.store.create(self.publish)
            try:
                session = Session(writer, self.publish)
                people = People(session, present=not self.headless)
                settings = self.settings(folder)
                parts = await self._parts(session, people, settings, folder, state.base_url)
                parts.broker.set_mode(planning.broker_mode(state.approve))
                parts.broker.inherit(old.broker)
                handover.begin(old, session, parts.sandbox_words)
                session.append(parts.render())
                handover.go_on(old, session, reason)
            except BaseException:
                writer.close()
                raise
            handover.end(old.session, session.id, reason)
            runner = self._ready(session, people, parts)
            if state.todo_text:
                runner.edit_todo_file(state.todo_text)
            return runner

    def settings(self, folder: Path) -> Settings:
        return settings_of.load(self.home, folder, os.environ, self.options)

    def shadow(self, folder: Path) -> Shadow:
        """Where the files of ``folder`` are kept aside: one for all sessions in it."""
        where = folder.resolve()
        name = f"{where.name}-{hashlib.sha256(os.fsencode(where)).hexdigest()[:16]}"
        return self.shadows.setdefault(where, Shadow(where, self.home.data / "kept" / name))

    def _which(self, command: OpenSession) -> str:
        if command.id:
            return self.store.find(command.id)
        if command.newest:
            found = self.store.newest(str(self.options.cwd))
            if not found:
                raise OpenError(f"there is no session of {self.options.cwd} to go on with", exit_code=2)
            return self._with_the_work(found)
        return ""

    def _with_the_work(self, newest: str) -> str:
        """The newest session, or the one it was only about to go on for when the app died."""
        rows = self.store.list(ListSessions(folder=str(self.options.cwd), limit=1))
        if not rows or rows[0].events > HANDOVER_EVENTS:
            return newest
        old = handover.unfinished(self.store.load(newest).events)
        if not old or any(e.type == "handed_off" and e.to == newest for e in self.store.load(old).events):
            return newest
        return old

    async def _begin(self) -> Runner:
        folder = self.options.cwd
        settings = self.settings(folder)
        chosen = await _choose(settings, self.options)
        window = self._model(folder, chosen.base_url, chosen.spec).context_window
        writer = self.store.create(self.publish)
        try:
            session = Session(writer, self.publish)
            people = People(session, present=not self.headless)
            parts = await self._parts(session, people, settings, folder, chosen.base_url)
            wanted = [(name, _skill_text(parts, name)) for name in self.options.skills]
        except BaseException:
            writer.close()
            raise
        session.append(
            ev.SessionStarted(
                cwd=str(folder),
                model=chosen.spec,
                base_url=chosen.base_url,
                app_version=version("agent-tui"),
                approve=self._mode(settings),
                sandbox=parts.sandbox_words,
                context_window=window,
                done_when=self.options.done_when or settings.task.done_when or (),
                stages=settings.task.stages or (),
            )
        )
        if settings.values["compaction"] == "off":
            session.append(ev.SettingChanged(name="compaction", value="off"))
        session.append(parts.render())
        self._say_what_to_know(session, settings, chosen, parts.skills)
        for name, text in wanted:
            session.append(ev.RuntimeUpdate(kind=f"skill {name}", text=text))
        return self._ready(session, people, parts)

    async def _resume(self, id: str) -> Runner:
        writer = self.store.open(id, self.publish)
        try:
            past = await read_past(self.store, id, writer.seq, _has_folder, self.publish)
            session = Session(writer, self.publish, past)
            folder = Path(session.state.cwd)
            settings = self.settings(folder)
            people = People(session, present=not self.headless)
            url = self.options.base_url or session.state.base_url
            parts = await self._parts(session, people, settings, folder, url)
        except BaseException:
            writer.close()
            raise
        session.mend()
        if not any(event.type == "prompt_rendered" for event in session.events):
            session.append(parts.render())
        self._apply_options(session, settings)
        parts.broker.set_mode(planning.broker_mode(session.state.approve))
        _offer_refresh(session, parts.render())
        return self._ready(session, people, parts, past)

    def _ready(self, session: Session, people: People, parts: Parts, past: Past | None = None) -> Runner:
        runner = Runner(session, people, parts)
        shown = past.shown if past else 0
        events = tuple(event for event in session.events if event.seq > shown)
        skipped = past.skipped if past else 0
        self.publish(ev.SessionOpened(session=session.id, events=events, skipped=skipped, state=session.state))
        return runner

    def _apply_options(self, session: Session, settings: Settings) -> None:
        """What the command line asks for that the stored session does otherwise: each is an event."""
        planned = session.state.approve == modes.PLAN and not self.options.approve
        wanted = {"model": self.options.model, "approve": "" if planned else self._mode(settings)}
        for name, value in wanted.items():
            if value and value != getattr(session.state, name):
                session.append(ev.SettingChanged(name=name, value=value))

    async def _parts(self, session: Session, people: People, settings: Settings, folder: Path, base_url: str) -> Parts:
        trusted = is_trusted(self.home, folder)
        found = await asyncio.to_thread(skills.find_skills, folder, skills.user_folders(self.home.config), trusted)
        broker = await open_broker(
            session_policy(folder, trusted=trusted),
            mode=self._mode(settings),
            asker=None if self.headless else people,
            rules_path=self.home.rules,
            audit_dir=self.home.audit,
            state_dir=self.home.data / "sandbox",
            backend=settings.sandbox,
            on_alert=_alarm(session),
        )
        memory = Memory(self.home.data, folder)
        return Parts(
            broker=broker,
            artifacts=Artifacts(self.home.artifacts),
            make_model=partial(self._model, folder, base_url),
            read_skill=skills.reader(found.skills),
            session_dir=self.home.session_dir(session.id),
            limits=settings.limits,
            sandbox_words=_sandbox_words(broker.capabilities),
            shadow=self.shadow(folder),
            hand_over=self.hand_over_by,
            render=partial(_layers, found, folder, memory),
            skills=found,
            memory=memory,
            find_sessions=self.store.list,
        )

    def _model(self, folder: Path, base_url: str, spec: str) -> Model:
        return resolve(
            spec,
            settings=self.settings(folder),
            env=os.environ,
            home=self.home,
            folder=folder,
            base_url=base_url,
            context_window=self.options.context_window,
        )

    def _mode(self, settings: Settings) -> str:
        return settings.approve or ("rules" if self.headless else "ask")

    def _say_what_to_know(
        self, session: Session, settings: Settings, chosen: DefaultModel, found: skills.Catalogue
    ) -> None:
        if chosen.spec == OFFLINE and not settings.model:
            session.append(
                ev.Notice(
                    level="warn",
                    text=f"No model is connected: {chosen.why}.",
                    hint="Set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server, or try `agent-tui demo`.",
                )
            )
        for warning in settings.warnings:
            session.append(ev.Notice(level="warn", text=clean(str(warning))))
        broken = [problem for problem in found.problems if problem.level == "broken"]
        if broken:
            names = ", ".join(str(problem.path) for problem in broken[:3])
            session.append(
                ev.Notice(
                    level="warn",
                    text=clean(f"{len(broken)} skills cannot be read: {names}"),
                    hint="agent-tui skills list says why",
                )
            )


@contextmanager
def _opening() -> Iterator[None]:
    """Whatever keeps a session from being opened becomes an OpenError that says what to do."""
    try:
        yield
    except LogError as error:
        raise OpenError(f"{error} {error.suggestion}".strip()) from error
    except ModelError as error:
        raise OpenError(f"{error} {error.suggestion}".strip(), exit_code=5) from error
    except ValueError as error:
        # A policy, a workspace or a backend that cannot be used: the sandbox says why and what to do.
        raise OpenError(str(error), exit_code=2) from error
    except OSError as error:
        raise OpenError(f"the sandbox's records cannot be kept: {error}") from error


def _has_folder(state: TaskState) -> None:
    """Raises OpenError when a session's folder is not there any more."""
    if not Path(state.cwd).is_dir():
        raise OpenError(f"the folder of session {state.session} is gone: {state.cwd}")


def _skill_text(parts: Parts, name: str) -> str:
    """What a skill named on the command line says; it enters the conversation before the task. Raises OpenError."""
    data = parts.read_skill(name)
    if data is None:
        raise OpenError(f"there is no skill {name!r}; `agent-tui skills list` shows those there are", exit_code=2)
    return clean(data.decode("utf-8", "replace"))


def _layers(found: skills.Catalogue, folder: Path, memory: Memory) -> ev.PromptRendered:
    """Layers A and B as they would be rendered now. A session renders them once, and reads them from its log after."""
    catalogue = clean(skills.catalogue_text(found.skills))
    return layers.render(specs(), catalogue, read_instructions(folder), memory=memory.prompt())


# A session that has more events than this is no beginning of one.
HANDOVER_EVENTS = 100
# What is remembered changes by working; a session that goes on knows its own memories anyway.
ONLY_MEMORY = "written with other memory"


def _offer_refresh(session: Session, now: ev.PromptRendered) -> None:
    """Say once what the stored prompt was written with that is otherwise today; it goes on as it is until a person
    asks for the new one."""
    stored = next(e for e in reversed(session.events) if isinstance(e, ev.PromptRendered))
    difference = layers.outdated(stored, now)
    if difference and difference != ONLY_MEMORY:
        text = f"The prompt of this session was {difference}."
        said = (e for e in session.events if e.type == "notice" and e.seq > stored.seq)
        if all(e.text != text for e in said):
            hint = "/refresh renders it anew; what the provider has cached of this session is lost then."
            session.append(ev.Notice(level="info", text=text, hint=hint))


async def _choose(settings: Settings, options: EngineOptions) -> DefaultModel:
    """The model of a new session. Servers are looked for only when neither settings nor a key names one."""
    if options.base_url and not settings.model:
        raise OpenError("--base-url needs a --model, for example --model openai-chat/NAME", exit_code=2)
    named = settings.model or keys_found(os.environ, settings)
    return choose_default(settings, os.environ, () if named else await find_servers())


def _alarm(session: Session) -> Callable[[Alert], None]:
    """Escape attempts that were stopped become notices; what a person was asked about has been seen already.

    Called from any thread: the notice is stored on the engine's loop.
    """
    loop = asyncio.get_running_loop()

    def note(alert: Alert) -> None:
        if alert.kind == "escape" and not loop.is_closed():
            what = clean(f"{alert.subject}: {alert.reason}" if alert.reason else alert.subject)
            loop.call_soon_threadsafe(_store_alert, session, what)

    return note


def _store_alert(session: Session, what: str) -> None:
    if session.open:
        hint = "agent-tui audit query --risk high shows all of them"
        session.append(ev.Notice(level="danger", text=f"the sandbox stopped {what}", hint=hint))


def _sandbox_words(found: Capabilities) -> str:
    """The sandbox in one line, for the model and the person."""
    if found.works and found.contained:
        return f"{found.name}: commands see only this folder and system files, without network"
    return f"{found.name}: nothing is contained here; {found.why}".strip()
