"""Takes the ledger from events: one walk over them, one method an event type."""

from __future__ import annotations

import re
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TypeVar, get_args

from engine.compaction import facts as lists
from engine.compaction.facts import Command as Command
from engine.compaction.facts import Ledger as Ledger
from engine.compaction.failing import errors, failing, tests_counted
from engine.compaction.ledger_text import bounded, parsed
from engine.compaction.symbols import named, symbols, touched
from engine.events import (
    ApprovalDecided,
    ApprovalRequested,
    Compacted,
    Event,
    PersonRan,
    PlanDecided,
    QuestionAnswered,
    TodoItem,
    ToolCall,
    ToolResult,
)
from engine.tools.runner import title_of_call

K = TypeVar("K")
V = TypeVar("V")
_COMMAND = re.compile(r"^(?P<ended>[^:\n]*?)(?:, (?P<times>\d+) times)?: (?P<text>.*)$", re.DOTALL)
_FAILURE = re.compile(r"^(?P<what>.*?): (?:error|cancelled|denied), ", re.DOTALL)
_DENIED = re.compile(r"^denied(?: by \w+)?: (?P<what>.*?)(?: \(“.*”\))?$", re.DOTALL)
_SOURCE = re.compile(r"^(?P<what>.*?)(?: \(\d{4}-\d\d-\d\d\))?$", re.DOTALL)
_TODO = re.compile(r"^\[(?P<status>\w+)\] (?P<text>.*)$", re.DOTALL)
_STATUSES = get_args(TodoItem.model_fields["status"].annotation)


def extract(events: Iterable[Event]) -> Ledger:
    """The ledger of ``events``, which are a session's from its start (or from any turn) in order. A session that goes
    on for another takes over what it began with."""
    gathered = Gathered()
    for event in events:
        gathered.take(event)
    return gathered.ledger()


@dataclass(slots=True)
class _Failing:
    """A command that fails: the first thing it complained of, and the files changed since."""

    error: str
    edited: dict[str, None]


class Gathered:
    """The facts of the events taken so far. Dicts keep the order in which things last happened."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._read: dict[str, None] = {}
        self._written: dict[str, str] = {}
        self._symbols: dict[tuple[str, str], str] = {}
        self._commands: dict[str, Command] = {}
        self._failing: dict[str, _Failing] = {}
        self._failures: dict[tuple[str, str], str] = {}
        self._fixed: dict[str, None] = {}
        self._decisions: dict[str, None] = {}
        self._rejected: dict[str, str] = {}
        self._open: dict[str, str] = {}
        self._sources: dict[str, str] = {}
        self._todo: tuple[TodoItem, ...] = ()
        self._earlier: dict[str, None] = {}
        self._calls: dict[str, ToolCall] = {}
        self._requests: dict[str, ApprovalRequested] = {}
        self._edited: dict[str, str] = {}

    def copy(self) -> Gathered:
        """The same facts, to go on with apart from these."""
        made = Gathered()
        for name, facts in vars(self).items():
            setattr(made, name, copy(facts))
        made._failing = {what: _Failing(one.error, dict(one.edited)) for what, one in self._failing.items()}
        return made

    def take(self, event: Event) -> None:
        if event.type == "user_message":
            self._said.append(event.text)
        elif event.type == "assistant_message" and not event.aborted:
            self._calls.update((call.id, call) for call in event.calls)
        elif event.type == "tool_result":
            self._result(event)
        elif event.type == "person_ran":
            self._person_ran(event)
        elif event.type == "approval_requested":
            self._requests[event.id] = event
        elif event.type == "approval_decided":
            self._decided(event)
        elif event.type == "question_asked":
            self._open[event.id] = event.question
        elif event.type == "question_answered":
            self._answered(event)
        elif event.type == "plan_proposed":
            self._open[event.id] = f"the plan: {event.text}"
        elif event.type == "plan_decided":
            self._plan_decided(event)
        elif event.type == "todo_changed":
            self._todo = event.items
        elif event.type == "compacted" and event.kind == "handoff":
            self._take_over(event)

    def ledger(self) -> Ledger:
        return Ledger(
            said=tuple(self._said),
            read=tuple(path for path in self._read if path not in self._written),
            written=tuple(path + hash for path, hash in self._written.items()),
            symbols=tuple(f"{path}: {signature}" for (path, _), signature in self._symbols.items()),
            commands=tuple(self._commands.values()),
            failures=tuple(self._failures.values()),
            fixed=tuple(self._fixed),
            decisions=tuple(self._decisions),
            rejected=tuple(self._rejected.values()),
            questions=tuple(self._open.values()),
            sources=tuple(url + date for url, date in self._sources.items()),
            todo=self._todo,
            earlier=tuple(self._earlier),
        )

    # --- what the tools did ---

    def _result(self, result: ToolResult) -> None:
        call = self._calls.pop(result.call_id, None)
        for path in result.files_read:
            _refresh(self._read, path, None)
        for path in result.files_written:
            self._wrote(path, result, call)
        if result.external is not None:
            date = f" ({result.external.at[:10]})" if result.external.at else ""
            _refresh(self._sources, result.external.url or result.external.source, date)
        if call is not None and result.name == "shell_run" and isinstance(call.input.get("command"), str):
            self._ran(self._edited.pop(call.id, call.input["command"]), result)
        subject = title_of_call(call) if call else ""
        key = (result.name, subject)
        self._failures.pop(key, None)
        if result.status in ("error", "cancelled", "denied") and result.exit_code is None:
            what = f"{result.name} {subject}".rstrip()
            self._failures[key] = f"{what}: {result.status}, {bounded(result.error or result.summary, 300)}"

    def _wrote(self, path: str, result: ToolResult, call: ToolCall | None) -> None:
        sha = next((str(row["sha256"]) for row in result.items if row.get("path") == path and row.get("sha256")), "")
        _refresh(self._written, path, f", sha256 {sha[:12]}" if sha else "")
        for broken in self._failing.values():
            _refresh(broken.edited, path, None)
        found = touched(path, result.diff)
        content = call.input.get("content") if call else None
        if call is not None and call.name == "fs_write" and isinstance(content, str):
            # The whole text says more than its diff, and says it with the language's own parser.
            whole = {one.name: one.signature.strip() for one in symbols(path, content)}
            found = whole if not found else {name: whole.get(name, signature) for name, signature in found.items()}
        for name, signature in found.items():
            _refresh(self._symbols, (path, name), signature.strip())

    def _ran(self, command: str, result: ToolResult) -> None:
        if not command.strip() or result.status in ("denied", "skipped"):
            return
        ended = f"exit {result.exit_code}" if result.exit_code is not None else result.summary or result.status
        self._note_run(Command(command, ended, 1, *_said_by(result.text, result.exit_code)))
        self._note_fix(command.strip(), result)

    def _note_run(self, now: Command) -> None:
        before = self._commands.pop(now.text.strip(), None)
        self._commands[now.text.strip()] = replace(now, times=before.times + 1) if before else now

    def _note_fix(self, command: str, result: ToolResult) -> None:
        """A command that failed and passes after files were changed: that is how it was fixed."""
        if result.exit_code:
            named = (*failing(result.text), *errors(result.text), result.error or f"exit {result.exit_code}")
            before = self._failing.get(command)
            self._failing[command] = _Failing(named[0], before.edited if before else {})
        elif result.exit_code == 0 and (broken := self._failing.pop(command, None)) and broken.edited:
            where = ", ".join(broken.edited)
            _refresh(self._fixed, f"{command} failed with {broken.error}; fixed after changing {where}", None)

    def _person_ran(self, ran: PersonRan) -> None:
        if ran.command.strip() and ran.status != "denied":
            ended = f"exit {ran.exit_code}" if ran.exit_code is not None else ran.status
            self._note_run(Command(ran.command, f"{ended}, run by the person", 1, *_said_by(ran.text, ran.exit_code)))

    # --- what the person decided ---

    def _decided(self, decision: ApprovalDecided) -> None:
        request = self._requests.get(decision.id)
        what = f"{request.tool} {request.subject}".strip() if request else decision.id
        because = f" (“{decision.reason}”)" if decision.reason else ""
        by = "" if decision.by == "person" else f" by {decision.by}"
        if decision.choice == "deny":
            _refresh(self._rejected, what, f"denied{by}: {what}{because}")
            return
        self._rejected.pop(what, None)
        if decision.choice == "edit":
            if request:
                self._edited[request.call_id] = decision.command
            self._decide(f"changed: {what} into {decision.command}{because}")
        elif decision.choice == "rule":
            self._decide(f"always allowed by a rule: {decision.rule or what}{because}")
        else:
            self._decide(f"allowed {'for the session' if decision.choice == 'session' else 'once'}: {what}{because}")

    def _answered(self, answer: QuestionAnswered) -> None:
        if answer.by != "person":
            return
        question = self._open.pop(answer.id, "something")
        self._decide(f"asked {question!r}, answered: {answer.text}")

    def _plan_decided(self, decided: PlanDecided) -> None:
        plan = self._open.pop(decided.id, "the plan").removeprefix("the plan: ")
        because = f" (“{decided.reason}”)" if decided.reason else ""
        if decided.choice == "reject":
            _refresh(self._rejected, decided.id, f"rejected plan{because}: {bounded(plan, 600)}")
        else:
            self._decide(f"approved plan{because}: {bounded(decided.text or plan, 800)}")

    def _decide(self, text: str) -> None:
        _refresh(self._decisions, text, None)

    # --- what the session before knew ---

    def _take_over(self, began: Compacted) -> None:
        """The ledger with which the session began, list by list, as if it had happened here."""
        known = parsed(began.ledger)
        self._said += [*known.get(lists.GOAL, ()), *known.get(lists.SAID, ())]
        self._read |= dict.fromkeys(known.get(lists.READ, ()))
        for entry in known.get(lists.WRITTEN, ()):
            path, comma, sha = entry.rpartition(", sha256 ")
            self._written[path if comma else entry] = comma + sha if comma else ""
        for entry in known.get(lists.SYMBOLS, ()):
            path, _, signature = entry.partition(": ")
            self._symbols[path, named(path, signature)] = signature
        for command in map(_command, known.get(lists.COMMANDS, ())):
            self._commands[command.text] = command
            if re.match(r"exit [1-9]", command.ended):
                self._failing[command.text] = _Failing(next(iter(command.failed), command.ended), {})
        self._failures |= {_failure_key(entry): entry for entry in known.get(lists.FAILURES, ())}
        self._fixed |= dict.fromkeys(known.get(lists.FIXED, ()))
        self._decisions |= dict.fromkeys(known.get(lists.DECISIONS, ()))
        self._rejected |= {_what(_DENIED, entry): entry for entry in known.get(lists.REJECTED, ())}
        self._open |= {entry: entry for entry in known.get(lists.QUESTIONS, ())}
        for entry in known.get(lists.SOURCES, ()):
            url = _what(_SOURCE, entry)
            self._sources[url] = entry[len(url) :]
        self._todo = self._todo or tuple(_item(entry) for entry in known.get(lists.TODO, ()))
        self._earlier |= dict.fromkeys(known.get(lists.EARLIER, ()))
        if began.artifact:
            all_of_it = f"All that was known when this session began: artifact:{began.artifact}, read it with fs_read"
            self._earlier[all_of_it] = None


def _said_by(output: str, exit_code: int | None) -> tuple[tuple[str, ...], str]:
    return failing(output) if exit_code else (), tests_counted(output)


def _command(entry: str) -> Command:
    """A command as `Command.line` wrote it, its output's lines as what failed: they are written again as they were."""
    first, *rest = entry.split("\n")
    more = list(takewhile(lambda line: line.startswith(lists.INDENT), rest))
    text = "\n".join((first, *(line.removeprefix(lists.INDENT) for line in more)))
    found = _COMMAND.match(text)
    if found is None:
        return Command(entry, "ended")
    return Command(found["text"], found["ended"], int(found["times"] or 1), tuple(rest[len(more) :]))


def _failure_key(entry: str) -> tuple[str, str]:
    """The call that failed, so that the same call knows it again."""
    name, _, subject = _what(_FAILURE, entry).partition(" ")
    return name, subject


def _what(pattern: re.Pattern[str], entry: str) -> str:
    """What an entry is about; all of it where it is of another kind."""
    found = pattern.match(entry)
    return found["what"] if found else entry


def _item(entry: str) -> TodoItem:
    found = _TODO.match(entry)
    if found is None or found["status"] not in _STATUSES:
        return TodoItem(text=entry)
    return TodoItem.model_validate(found.groupdict())


def _refresh(seen: dict[K, V], key: K, value: V) -> None:
    """``key`` as the newest."""
    seen.pop(key, None)
    seen[key] = value
