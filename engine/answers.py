"""Answers to the screens' questions. What may take long runs beside the engine's loop, never on it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engine import queries as q
from engine import settings_view
from engine.compaction import report
from engine.events import Event
from engine.file_names import FileNames
from engine.log import Artifacts
from engine.log.exported import load_file
from engine.memory.files import SCOPES, Memory
from engine.opening import Opener
from engine.prompt.inspect import Inspector
from engine.prompt.simulate import simulate
from engine.rewinding import points, snapshot_at, undoable
from engine.settings_write import write_setting
from engine.state import fold
from engine.trust import trust

RECENT_SESSIONS = 5
MOST_COMMANDS = 500


class Answers:
    """Answers queries over what one engine can see."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._store = opener.store
        self._artifacts = Artifacts(opener.home.artifacts)
        self._files = FileNames(opener.options.cwd)
        self._inspector = Inspector()

    async def answer(self, query: q.Query) -> Any:
        """The answer named by the query's class. Raises LogError for a session that cannot be read."""
        if isinstance(query, q.Survey):
            return await self._survey()
        return await asyncio.to_thread(self._blocking, query)

    def _blocking(self, query: q.Query) -> Any:
        if isinstance(query, q.ListSessions):
            return self._store.list(query)
        if isinstance(query, q.LoadSession):
            return self._store.load(self._store.find(query.id))
        if isinstance(query, q.LoadFile):
            return load_file(Path(query.path))
        if isinstance(query, q.ReadArtifact):
            return self._artifacts.page(query.digest, query.offset, query.limit)
        if isinstance(query, q.CompleteFiles):
            return self._files.like(query.text, query.limit)
        if isinstance(query, q.ProveSandbox):
            return self._proof()
        if isinstance(query, q.TryRule):
            return self._try_rule(query)
        if isinstance(query, q.TrustFolder):
            return trust(self._opener.home, self._opener.options.cwd, query.trusted)
        if isinstance(query, q.InspectRequests):
            return self._inspector.requests(query.session, self._events(query.session))
        if isinstance(query, q.InspectRequest):
            return self._inspector.request(self._events(query.session), query.turn)
        if isinstance(query, q.InspectCompactions):
            return report.compactions(self._events(query.session))
        if isinstance(query, q.InspectCompaction):
            return report.compaction(self._events(query.session), query.number)
        if isinstance(query, q.Simulate):
            return simulate(self._events(query.session), query.models)
        if isinstance(query, q.ListMemories):
            return self._memories(Path(query.folder))
        if isinstance(query, q.RewindPoints):
            events = self._events(query.session)
            return q.RewindChoices(points(events), undoable(events))
        if isinstance(query, q.RewindPreview):
            return self._files_since(query)
        if isinstance(query, q.ShowSettings):
            return settings_view.shown(self._opener.home, Path(query.folder), os.environ, self._opener.options)
        if isinstance(query, q.WriteSetting):
            return write_setting(self._opener.home, query.name, query.value)
        if isinstance(query, q.SettingsFile):
            return settings_view.ready_file(self._opener.home)
        raise TypeError(f"no answer to {type(query).__name__}")

    def _events(self, session: str) -> tuple[Event, ...]:
        """Of a stored session, or of an exported one when ``session`` is a path."""
        loaded = load_file(Path(session)) if os.sep in session else self._store.load(self._store.find(session))
        return loaded.events

    def _memories(self, folder: Path) -> q.Memories:
        memory = Memory(self._opener.home.data, folder)
        lines = tuple(q.MemoryLine(scope, line) for scope in SCOPES for line in memory.lines(scope))
        return q.Memories(lines, {scope: str(path) for scope, path in memory.paths.items()})

    def _files_since(self, query: q.RewindPreview) -> q.RewindFiles:
        events = self._events(query.session)
        snapshot = snapshot_at(events, query.seq)
        if not snapshot:
            return q.RewindFiles(())
        try:
            changes = self._opener.shadow(Path(fold(events).cwd)).changes(snapshot)
        except OSError as error:
            return q.RewindFiles((), str(error))
        return q.RewindFiles(tuple((change.path, change.what) for change in changes))

    async def _survey(self) -> q.SurveyResult:
        from engine.survey import survey
        from sandbox.backends import pick_backend

        settings = self._opener.settings(self._opener.options.cwd)
        backend = await asyncio.to_thread(pick_backend, settings.sandbox)
        return await survey(settings, os.environ, backend.capabilities(), home=self._opener.home)

    def _proof(self) -> q.SandboxProof:
        from sandbox.backends import pick_backend
        from sandbox.proof.apart import proved_apart

        settings = self._opener.settings(self._opener.options.cwd)
        return q.SandboxProof(proved_apart(pick_backend(settings.sandbox).name))

    def _try_rule(self, query: q.TryRule) -> q.RuleTrial:
        from sandbox.rules import RuleError, try_rule

        commands = list(dict.fromkeys(self._recent_commands(query.session)))[:MOST_COMMANDS]
        try:
            return q.RuleTrial(tuple(try_rule(query.rule, commands, self._opener.options.cwd)))
        except RuleError as error:
            return q.RuleTrial((), str(error))

    def _recent_commands(self, session: str) -> Iterable[str]:
        """Command lines of ``session`` and of the newest few of its folder, newest first."""
        rows = self._store.list(q.ListSessions(folder=str(self._opener.options.cwd), limit=RECENT_SESSIONS))
        for id in dict.fromkeys((session, *(row.id for row in rows))):
            yield from _commands(self._store.load(id).events)


def _commands(events: Iterable[Event]) -> Iterable[str]:
    for event in reversed(tuple(events)):
        if event.type == "assistant_message":
            for call in event.calls:
                if call.name == "shell_run" and isinstance(command := call.input.get("command"), str):
                    yield command
