"""What tools and people do with memories in one session: each change goes into its file first, then into the log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from engine import events as ev
from engine import queries as q
from engine.memory.checks import refusal
from engine.memory.files import SCOPES, Memory, Scope
from engine.session import Session
from engine.text import clean

Find = Callable[[q.ListSessions], tuple[q.SessionRow, ...]]


class MemoryDoor:
    """``find`` lists stored sessions, as the session list does."""

    def __init__(self, session: Session, memory: Memory, find: Find) -> None:
        self._session = session
        self._memory = memory
        self._find = find

    async def save(self, scope: str, text: str, replaces: str = "") -> tuple[str, str] | None:
        """Save for the model: (why not, what to do instead), or None when it was."""
        return await self._saved(_scope(scope), text, replaces.strip(), "model")

    async def change(self, scope: str, text: str, before: str) -> str:
        """A person saves, edits or removes; why not, or ''."""
        where = _scope(scope)
        if text or not before:
            refused = await self._saved(where, text, before, "person")
            return f"{refused[0]}; {refused[1]}" if refused else ""
        try:
            gone = await asyncio.to_thread(self._memory.replace, where, before, "")
        except OSError as error:
            return f"MEMORY.md cannot be written: {error.strerror or error}"
        if not gone:
            return "it is not there any more"
        self._session.append(ev.MemoryChanged(action="removed", scope=where, before=before, by="person"))
        return ""

    async def search(self, query: str, limit: int) -> tuple[list[str], list[str]]:
        """Memories with every word of ``query``, and lines about the other sessions of the folder that have them."""
        words = [word.casefold() for word in query.replace('"', " ").split()]
        lines = [line for scope in SCOPES for line in self._memory.lines(scope)]
        known = [line for line in lines if all(word in line.casefold() for word in words)]
        wanted = q.ListSessions(text=query, folder=self._session.state.cwd, limit=limit + 1)
        rows = [row for row in await asyncio.to_thread(self._find, wanted) if row.id != self._session.id]
        return known, [_line(row) for row in rows[:limit]]

    async def _saved(self, scope: Scope, text: str, replaces: str, by: str) -> tuple[str, str] | None:
        text = clean(text).strip()
        writing = asyncio.ensure_future(asyncio.to_thread(self._save, scope, text, replaces))
        try:
            refused = await asyncio.shield(writing)
        except asyncio.CancelledError:
            # An interrupt is heard a moment later: what is in the file is in the log.
            await asyncio.wait({writing})
            self._note(writing.result(), scope, text, replaces, by)
            raise
        self._note(refused, scope, text, replaces, by)
        return refused

    def _note(self, refused: tuple[str, str] | None, scope: Scope, text: str, before: str, by: str) -> None:
        if refused is None:
            action = "edited" if before else "saved"
            about = {"action": action, "scope": scope, "text": text, "before": before, "by": by}
            self._session.append(ev.MemoryChanged.model_validate(about))

    def _save(self, scope: Scope, text: str, replaces: str) -> tuple[str, str] | None:
        known = [line for one in SCOPES for line in self._memory.lines(one)]
        if refused := refusal(text, known, replaces):
            return refused.why, refused.advice
        try:
            where = self._memory.scope_of(replaces) if replaces else None
            # The new line first: nothing is lost when the second step fails.
            if where != scope:
                self._memory.add(scope, text)
            if where is not None:
                self._memory.replace(where, replaces, text if where == scope else "")
        except OSError as error:
            return f"MEMORY.md cannot be written: {error.strerror or error}", "go on without it"
        return None


def _scope(scope: str) -> Scope:
    return "user" if scope == "user" else "project"


def _line(row: q.SessionRow) -> str:
    """When, what, and where the words occur; the id is what a person opens it by."""
    about = f" … {row.snippet}" if row.snippet else ""
    return f"{row.started.astimezone():%Y-%m-%d %H:%M} {row.title or 'untitled'} ({row.id}){about}"
