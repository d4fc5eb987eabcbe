"""What must stay exact through a compaction, taken from events by code: no model writes any of it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace

from engine.compaction.failing import failing
from engine.compaction.ledger_text import Section, bounded, written
from engine.events import ApprovalDecided, ApprovalRequested, Event, TodoItem, ToolCall, ToolResult
from engine.tools.runner import title_of_call


@dataclass(frozen=True, slots=True)
class Command:
    """A command line and how its last run ended: an exit code, or a word when there is none. failed: the lines of its
    output that name what failed."""

    text: str
    ended: str
    times: int = 1
    failed: tuple[str, ...] = ()

    def line(self) -> str:
        """The command for the model."""
        times = f", {self.times} times" if self.times > 1 else ""
        return "\n".join((f"{self.ended}{times}: {self.text.strip()}", *self.failed))


@dataclass(frozen=True, slots=True)
class Ledger:
    """Exact facts of a part of the log, each in the order in which it happened.

    said: what the person wrote, verbatim, the goal first. failures: calls whose last try did
    not succeed, commands with an exit code aside.
    """

    said: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()
    failures: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    todo: tuple[TodoItem, ...] = ()

    def text(self, budget: int = 35_000, elsewhere: str = "") -> str:
        """The ledger for the model, in at most about ``budget`` characters. Where something has to go it is the older
        entries of the less important lists first, and the text says how many went and that they stand ``elsewhere``."""
        return written(self._sections(), budget, elsewhere)

    def whole(self) -> str:
        """All of it, nothing shortened."""
        everything = tuple(replace(section, longest=sys.maxsize) for section in self._sections())
        return written(everything, sys.maxsize)

    def missing_in(self, text: str) -> tuple[str, ...]:
        """What has to be in ``text`` and is not: the goal and the todo list."""
        missing = []
        if self.said and _opening(self.said[0]) not in text:
            missing.append("the goal is missing")
        if any(_opening(item.text) not in text for item in self._todo_in_order()[-1:]):
            missing.append("the todo list is missing")
        return tuple(missing)

    def _sections(self) -> tuple[Section, ...]:
        todo = tuple(f"[{item.status}] {item.text}" for item in self._todo_in_order())
        commands = tuple(command.line() for command in self.commands)
        return (
            Section("Goal, as the person put it", self.said[:1], 8),
            Section("What the person said later", self.said[1:], 7, lasting=True),
            Section("Decisions of the person", self.decisions, 6, 1000),
            Section("Todo", todo, 5, 1000),
            Section("Files written", self.written, 4, 1000),
            Section("Files read", self.read, 1, 1000),
            Section("Commands, the last run of each", commands, 2, 1500),
            Section("Failed or not done, and not repeated with success", self.failures, 3, 1000),
        )

    def _todo_in_order(self) -> list[TodoItem]:
        """What is done first, so that it is what goes when the list is too long."""
        return sorted(self.todo, key=lambda item: item.status != "done")


def extract(events: Iterable[Event]) -> Ledger:
    """The ledger of ``events``, which are a session's from its start (or from any turn) in order."""
    gatherer = _Gatherer()
    for event in events:
        gatherer.take(event)
    return gatherer.ledger()


class _Gatherer:
    """Walks over the events once. Dicts keep the order in which things last happened."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._read: dict[str, None] = {}
        self._written: dict[str, None] = {}
        self._commands: dict[str, Command] = {}
        self._failures: dict[tuple[str, str], str] = {}
        self._decisions: dict[str, None] = {}
        self._todo: tuple[TodoItem, ...] = ()
        self._calls: dict[str, ToolCall] = {}
        self._requests: dict[str, ApprovalRequested] = {}
        self._edited: dict[str, str] = {}
        self._questions: dict[str, str] = {}

    def take(self, event: Event) -> None:
        if event.type == "user_message":
            self._said.append(event.text)
        elif event.type == "assistant_message" and not event.aborted:
            self._calls.update((call.id, call) for call in event.calls)
        elif event.type == "tool_result":
            self._result(event)
        elif event.type == "approval_requested":
            self._requests[event.id] = event
        elif event.type == "approval_decided":
            self._decided(event)
        elif event.type == "question_asked":
            self._questions[event.id] = event.question
        elif event.type == "question_answered":
            self._decide(f"asked {self._questions.get(event.id, 'something')!r}, answered: {event.text}")
        elif event.type == "todo_changed":
            self._todo = event.items

    def ledger(self) -> Ledger:
        return Ledger(
            said=tuple(self._said),
            read=tuple(path for path in self._read if path not in self._written),
            written=tuple(self._written),
            commands=tuple(self._commands.values()),
            failures=tuple(self._failures.values()),
            decisions=tuple(self._decisions),
            todo=self._todo,
        )

    def _result(self, result: ToolResult) -> None:
        for path in result.files_read:
            _refresh(self._read, path)
        for path in result.files_written:
            _refresh(self._written, path)
        call = self._calls.get(result.call_id)
        if call is not None and result.name == "shell_run" and isinstance(call.input.get("command"), str):
            self._ran(self._edited.get(call.id, call.input["command"]), result)
        subject = title_of_call(call) if call else ""
        key = (result.name, subject)
        self._failures.pop(key, None)
        if result.status in ("error", "cancelled", "denied") and result.exit_code is None:
            what = f"{result.name} {subject}".rstrip()
            self._failures[key] = f"{what}: {result.status}, {bounded(result.error or result.summary, 300)}"

    def _ran(self, command: str, result: ToolResult) -> None:
        if not command.strip() or result.status in ("denied", "skipped"):
            return
        ended = f"exit {result.exit_code}" if result.exit_code is not None else result.summary or result.status
        before = self._commands.pop(command, None)
        failed = failing(result.text) if result.exit_code else ()
        now = Command(command, ended, failed=failed)
        self._commands[command] = replace(now, times=before.times + 1) if before else now

    def _decided(self, decision: ApprovalDecided) -> None:
        request = self._requests.get(decision.id)
        what = f"{request.tool} {request.subject}".strip() if request else decision.id
        because = f" (“{decision.reason}”)" if decision.reason else ""
        by = "" if decision.by == "person" else f" by {decision.by}"
        if decision.choice == "deny":
            self._decide(f"denied{by}: {what}{because}")
        elif decision.choice == "edit":
            if request:
                self._edited[request.call_id] = decision.command
            self._decide(f"changed: {what} into {decision.command}{because}")
        elif decision.choice == "rule":
            self._decide(f"always allowed by a rule: {decision.rule or what}{because}")
        else:
            self._decide(f"allowed {'for the session' if decision.choice == 'session' else 'once'}: {what}{because}")

    def _decide(self, text: str) -> None:
        _refresh(self._decisions, text)


def _refresh(seen: dict[str, None], key: str) -> None:
    """``key`` as the newest."""
    seen.pop(key, None)
    seen[key] = None


def _opening(text: str) -> str:
    """Enough of the beginning of a text to know it again, whatever is cut from its middle."""
    return text.strip().split("\n", 1)[0][:40].strip()
