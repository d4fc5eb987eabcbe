"""Where a test sits down: a home of its own, a folder to work in, scripted models, and what was stored."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import tomlkit

from engine.events import Stored
from engine.log import LogStore
from engine.paths import Home
from tests.e2e.cli import Finished, agent_tui
from tests.e2e.terminal import PATIENCE, Terminal

Data = Mapping[str, Any]


def call(tool: str, **input: Any) -> Data:
    """A tool call of a scripted turn."""
    return {"tool": tool, "input": input}


def shell(command: str, **input: Any) -> Data:
    return call("shell_run", command=command, **input)


def turn(*calls: Data, text: str = "", label: str = "", to: str | Sequence[Data] = (), **more: Any) -> Data:
    """A scripted turn. ``to``: the label that comes next, or the rules that choose it."""
    rules = [{"goto": to}] if isinstance(to, str) else list(to)
    parts = {"label": label, "text": text, "call": list(calls), "next": rules, **more}
    return {key: value for key, value in parts.items() if value not in ("", [])}


class Desk:
    """Made below ``root``. ``settled``: there has been a first run, so that none is offered."""

    def __init__(self, root: Path, *, settled: bool = True, data: Path | None = None) -> None:
        self.root = root
        self.folder = root / "work"
        self.folder.mkdir(parents=True)
        app = root / "app"
        if data is not None:
            app.symlink_to(data)
        self.home = Home(app / "data", app / "config", app / "cache")
        if settled:
            self.home.settings.parent.mkdir(parents=True)
            self.home.settings.touch()

    def script(self, *turns: Data, name: str = "script", **more: Any) -> str:
        """The spec of a model that plays ``turns``; ``more`` are keys of the file, such as ``next``."""
        path = self.root / f"{name}.toml"
        path.write_text(tomlkit.dumps({**more, "turn": list(turns)}))
        return f"script/{path}"

    def open(self, *arguments: str, **more: Any) -> Terminal:
        """The command in a terminal, in the folder."""
        return Terminal(arguments, self.root, more.pop("cwd", self.folder), **more)

    def run(self, *arguments: str, env: Mapping[str, str] | None = None) -> Finished:
        """The command without a terminal, to its end."""
        return agent_tui(arguments, self.root, self.folder, {"AGENT_TUI_SCRIPT_WAITING": "0", **(env or {})})

    def answer(self, term: Terminal, key: str, number: int = 1) -> None:
        """Press a key of the approval until it counts, which it does once the dialog has been there long enough to be
        read. ``number`` is how many decisions are stored then; ``d`` opens a line for the reason instead."""

        def done() -> bool:
            return "Enter sends" in term.text if key == "d" else self.has("approval_decided", number)

        # The dialog before may still be seen for a moment; a key for it would be typed into the line below.
        term.wait_for(lambda: self.has("approval_requested", number))
        term.wait_for("Approve?")
        tries = 0
        while not done():
            term.wait_gone("keys count")
            term.keys(key)
            try:
                term.wait_for(lambda: done() or "keys count" in term.text, timeout=PATIENCE / 4)
            except AssertionError:
                # It fell between two dialogs. Nobody types for ever: after a while there is something wrong.
                tries += 1
                if tries == 4:
                    raise

    @property
    def store(self) -> LogStore:
        return LogStore(self.home)

    @property
    def sessions(self) -> list[str]:
        """Ids, the newest first."""
        return [row.id for row in self.store.list()]

    def events(self, session: str = "") -> list[Any]:
        """What is stored of a session, by default the newest."""
        if not self.home.database.exists():
            return []
        found = session or next(iter(self.sessions), "")
        return list(self.store.load(found).events) if found else []

    def has(self, type: str, times: int) -> bool:
        """Whether so many events of a type are stored."""
        return len(self.of(type)) >= times

    def of(self, *types: str) -> list[Any]:
        """Stored events of the newest session that have one of ``types``."""
        return [event for event in self.events() if event.type in types]


@dataclass(frozen=True)
class Marked:
    """Processes that can be told from all others of this machine: by a number of seconds nobody else sleeps."""

    seconds: str

    @classmethod
    def new(cls) -> Marked:
        return cls(f"600.{uuid4().int % 10**12:012}")

    @property
    def orphans(self) -> str:
        """A command line that leaves one process behind and waits in another."""
        return f"(sleep {self.seconds} &); sleep {self.seconds}"

    def alive(self) -> list[str]:
        """Command lines of the marked processes there are, those of shells and sandboxes around them included."""
        found = []
        for entry in os.scandir("/proc"):
            if entry.name.isdigit() and entry.name != str(os.getpid()):
                try:
                    line = Path(entry.path, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                except OSError:
                    continue  # it ended while we looked
                if self.seconds in line:
                    found.append(line)
        return found

    def sleeping(self) -> bool:
        """Whether both are at it."""
        return sum(line.startswith("sleep ") for line in self.alive()) == 2


def stored(events: Sequence[Stored]) -> list[str]:
    """The types, in order."""
    return [event.type for event in events]  # type: ignore[attr-defined]


__all__ = ["PATIENCE", "Desk", "Marked", "call", "shell", "stored", "turn"]
