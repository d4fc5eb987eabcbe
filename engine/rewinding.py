"""Going back: the workspace's files kept before each turn that may change them, and put back when a person asks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from engine import commands as cmd
from engine import events as ev
from engine import queries as q
from engine.rewound import in_force, talk
from engine.session import Session
from engine.text import clean
from engine.tools.runner import OWN
from sandbox.shadow import Kept, Shadow

log = logging.getLogger(__name__)

MOST_TOLD = 30


def may_change_files(name: str, read_only: bool) -> bool:
    """Whether a call of this tool can leave the workspace other than it was."""
    return not read_only and not name.startswith(OWN)


class Rewinder:
    """Keeps files and goes back, for one session."""

    def __init__(self, session: Session, shadow: Shadow) -> None:
        self._session = session
        self._shadow = shadow
        self._keeping: asyncio.Task[Kept] | None = None
        self._kept_in = -1
        self._resting: asyncio.Task[Kept] | None = None
        self._warned = False

    def begin(self) -> None:
        """Look at the files while the model thinks, so that no call has to wait for it."""
        if self._keeping is None or self._keeping.done():
            self._keeping = self._look()

    def rest(self) -> None:
        """The run is over: what the files are now is what the model knows of them."""
        self._resting = self._look()

    async def tell_of_changes(self) -> None:
        """At the start of a run: files that others changed since the last one ended become a runtime update."""
        resting, self._resting = self._resting, None
        if resting is None:
            return
        try:
            kept = await asyncio.shield(resting)
            changes = await asyncio.to_thread(self._shadow.changes, kept.snapshot)
        except OSError as error:
            log.warning("changes of files cannot be told: %s", error)
            return
        if changes:
            listed = "\n".join(f"- {clean(change.path)}: {change.what}" for change in changes[:MOST_TOLD])
            more = f"\nand {len(changes) - MOST_TOLD} more" if len(changes) > MOST_TOLD else ""
            text = f"Since your last answer these files were changed, not by you:\n{listed}{more}"
            self._session.append(ev.RuntimeUpdate(kind="files", text=text))

    def _look(self) -> asyncio.Task[Kept]:
        task = asyncio.create_task(asyncio.to_thread(self._shadow.keep))
        # Nobody may ever ask for it, and that it failed is no news then.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task

    async def keep(self) -> None:
        """Before a call that may change files, once a turn: what they are is kept, and an event says so when it is
        news."""
        turn = self._session.state.turn
        if turn == self._kept_in:
            return
        if self._keeping is None:
            self.begin()
        assert self._keeping is not None
        try:
            kept = await asyncio.shield(self._keeping)
        except OSError as error:
            self._warn(f"the files could not be kept, so going back will not restore them: {error}")
            return
        self._keeping, self._kept_in = None, turn
        if kept.left_out:
            self._warn("some files are not kept and cannot be restored by going back: " + "; ".join(kept.left_out[:5]))
        if kept.snapshot != next((e.snapshot for e in reversed(self._session.events) if e.type == "files_kept"), ""):
            self._session.append(ev.FilesKept(snapshot=kept.snapshot, turn=turn))

    async def go_back(self, command: cmd.Rewind) -> str:
        """Carry it out; why not, in words, or ''."""
        if command.undoes:
            return await self._undo(command.undoes)
        events = self._session.talk
        if not any(event.seq == command.to and event.type in POINTS for event in events):
            return "there is no such place to go back to"
        snapshot = snapshot_at(self._session.events, command.to) if command.files else ""
        if command.files and not snapshot and not command.conversation:
            return "nothing has changed files since then"
        await self._go(ev.Rewound(to=command.to, conversation=command.conversation, snapshot=snapshot))
        return ""

    async def _undo(self, seq: int) -> str:
        events = self._session.events
        last = next((e for e in reversed(events) if e.type == "rewound"), None)
        if last is None or last.seq != seq or last.undoes:
            return "only the newest going back can be taken back"
        if any(e.seq > seq and e.type in ("user_message", "turn_started") for e in events):
            return "the conversation has gone on since; go back to a place in it instead"
        back = ev.Rewound(to=last.to, conversation=last.conversation, snapshot=last.before, undoes=seq)
        await self._go(back)
        return ""

    async def _go(self, where: ev.Rewound) -> None:
        """Put the files of ``where.snapshot`` back, if it names one, and store what came of it."""
        restored, before, problems = await self._put_back(where.snapshot)
        self._session.append(where.model_copy(update={"files": restored, "before": before}))
        if not where.conversation:
            self._tell_model(restored)
        self._say(problems)

    async def _put_back(self, snapshot: str) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
        """(paths put back, the snapshot of what they were, problems)."""
        if not snapshot:
            return (), "", ()
        try:
            restored = await asyncio.to_thread(self._shadow.restore, snapshot)
        except OSError as error:
            return (), "", (str(error),)
        return restored.paths, restored.before, restored.problems

    def _tell_model(self, paths: Sequence[str]) -> None:
        """It still remembers what it wrote into these files."""
        if paths:
            listed = "\n".join(f"- {path}" for path in paths[:50])
            text = f"The person put {len(paths)} files back to what they were earlier. Read them again:\n{listed}"
            self._session.append(ev.RuntimeUpdate(kind="files", text=text))

    def _say(self, problems: Sequence[str]) -> None:
        for problem in problems[:5]:
            self._session.append(ev.Notice(level="warn", text=f"not put back: {problem}"))

    def _warn(self, text: str) -> None:
        log.warning("%s", text)
        if not self._warned:
            self._warned = True
            self._session.append(ev.Notice(level="warn", text=text))


POINTS = frozenset({"user_message", "turn_started"})


def snapshot_at(events: Sequence[ev.Event], seq: int) -> str:
    """The files as they were before event ``seq``: kept before the first change after it; '' when nothing changed."""
    return next((e.snapshot for e in events if e.type == "files_kept" and e.seq >= seq), "")


def points(events: Sequence[ev.Event]) -> tuple[q.RewindPoint, ...]:
    """Where a person can go back to, newest first: before each of their messages, and before each turn."""
    answers = {e.turn: e for e in events if e.type == "assistant_message"}
    kept = [e.seq for e in events if e.type == "files_kept"]
    found = []
    for event in talk(events):
        if event.type == "user_message":
            who, text = "you", event.text
        elif event.type == "turn_started":
            who, text = f"turn {event.turn}", _words(answers.get(event.turn))
        else:
            continue
        changes = any(seq >= event.seq for seq in kept)
        found.append(q.RewindPoint(event.seq, who, " ".join(text.split())[:200], event.at, changes))
    return tuple(reversed(found))


def undoable(events: Sequence[ev.Event]) -> int:
    """The seq of the going back that can be taken back now; 0 when there is none."""
    last = next((e for e in reversed(events) if e.type in ("rewound", "user_message", "turn_started")), None)
    if last is None or last.type != "rewound" or last.undoes:
        return 0
    return last.seq if not last.conversation or last in in_force(events) else 0


def _words(answer: ev.AssistantMessage | None) -> str:
    if answer is None:
        return "(no answer)"
    said = " ".join(block.text for block in answer.blocks if block.kind == "text")
    calls = ", ".join(call.name for call in answer.calls)
    return f"{said} → {calls}" if calls else said
