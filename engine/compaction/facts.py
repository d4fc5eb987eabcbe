"""What must stay exact through a compaction: the facts `engine.compaction.ledger` takes from events, and how they are
written and read again. No model writes any of it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

from engine.compaction.ledger_text import Section, written
from engine.events import TodoItem

GOAL = "Goal, as the person put it"
SAID = "What the person said later"
DECISIONS = "Decisions of the person"
REJECTED = "Rejected by the person: it stays rejected"
QUESTIONS = "Asked and not answered yet"
TODO = "Todo"
WRITTEN = "Files written"
SYMBOLS = "Symbols touched"
READ = "Files read"
COMMANDS = "Commands, the last run of each"
FAILURES = "Failed or not done, and not repeated with success"
FIXED = "Failed before, and what fixed it"
SOURCES = "Sources"
EARLIER = "From the session before"
INDENT = "    "


@dataclass(frozen=True, slots=True)
class Command:
    """A command line and how its last run ended: an exit code, or a word when there is none. failed: the lines of its
    output that name what failed. counted: the line that counts its tests."""

    text: str
    ended: str
    times: int = 1
    failed: tuple[str, ...] = ()
    counted: str = ""

    def line(self) -> str:
        """The command for the model. Further lines of it are indented, which those of its output never are: so it is
        known again in a session that goes on."""
        times = f", {self.times} times" if self.times > 1 else ""
        counted = (self.counted,) if self.counted else ()
        command = self.text.strip().replace("\n", "\n" + INDENT)
        return "\n".join((f"{self.ended}{times}: {command}", *self.failed, *counted))


@dataclass(frozen=True, slots=True)
class Ledger:
    """Exact facts of a part of the log, each in the order in which it happened.

    said: what the person wrote, verbatim, the goal first. written: paths, with the hash of what was written where it
    is known. symbols: signatures touched, each with its path. failures: calls whose last try did not succeed, commands
    with an exit code aside. fixed: failures that went away, and what was changed before. rejected: what the person
    refused. questions: asked and not answered. sources: addresses from outside, with the date. earlier: where facts
    of the session before this one stand that were too many to be taken over.
    """

    said: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()
    failures: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    todo: tuple[TodoItem, ...] = ()
    earlier: tuple[str, ...] = ()

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
        if self.said and opening(self.said[0]) not in text:
            missing.append("the goal is missing")
        if any(opening(item.text) not in text for item in self._todo_in_order()[-1:]):
            missing.append("the todo list is missing")
        return tuple(missing)

    def _sections(self) -> tuple[Section, ...]:
        todo = tuple(f"[{item.status}] {item.text}" for item in self._todo_in_order())
        commands = tuple(command.line() for command in self.commands)
        return (
            Section(GOAL, self.said[:1], 8),
            Section(SAID, self.said[1:], 7, lasting=True),
            Section(DECISIONS, self.decisions, 6, 1000),
            Section(REJECTED, self.rejected, 6, 1000),
            Section(QUESTIONS, self.questions, 6, 1000),
            Section(TODO, todo, 5, 1000),
            Section(WRITTEN, self.written, 4, 1000),
            Section(SYMBOLS, self.symbols, 2, 400),
            Section(READ, self.read, 1, 1000),
            Section(COMMANDS, commands, 2, 1500),
            Section(FAILURES, self.failures, 3, 1000),
            Section(FIXED, self.fixed, 2, 600),
            Section(SOURCES, self.sources, 3, 600),
            Section(EARLIER, self.earlier, 7, 300),
        )

    def _todo_in_order(self) -> list[TodoItem]:
        """What is done first, so that it is what goes when the list is too long."""
        return sorted(self.todo, key=lambda item: item.status != "done")


def opening(text: str) -> str:
    """Enough of the beginning of a text to know it again, whatever is cut from its middle."""
    return text.strip().split("\n", 1)[0][:40].strip()
