"""What the tests of the log share: a home below tmp_path, small events, and children that really are processes."""

from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from engine import events as ev
from engine.events import Event
from engine.log import LogStore, SessionWriter
from engine.paths import Home

FORK = multiprocessing.get_context("fork")


def home_at(root: Path) -> Home:
    return Home(root / "data", root / "config", root / "cache")


def store_at(root: Path, **options: Any) -> LogStore:
    return LogStore(home_at(root), **options)


def started(cwd: str = "/project", model: str = "script/demo") -> ev.SessionStarted:
    return ev.SessionStarted(cwd=cwd, model=model, app_version="1")


def said(text: str) -> ev.UserMessage:
    return ev.UserMessage(text=text)


def result(text: str, call_id: str = "call-1", **more: Any) -> ev.ToolResult:
    return ev.ToolResult(call_id=call_id, turn=1, name="shell_run", status="ok", text=text, **more)


def write(store: LogStore, *events: Event, close: bool = True) -> SessionWriter:
    """A new session that holds ``events``."""
    writer = store.create()
    for event in events:
        writer.append(event)
    if close:
        writer.close()
    return writer


def bare(events: Iterable[Event]) -> list[Event]:
    """Events without what the log adds to them."""
    return [event.model_copy(update={"session": "", "seq": 0, "at": ev.Stored().at}) for event in events]


def sql(store: LogStore, statement: str, *values: object) -> list[Any]:
    """Tamper with the database behind the log's back."""
    connection = sqlite3.connect(store.home.database, isolation_level=None)
    connection.text_factory = lambda cell: cell.decode("utf-8", "surrogateescape")
    try:
        return connection.execute(statement, values).fetchall()
    finally:
        connection.close()


def in_child(work: Callable[..., None], *args: object) -> tuple[list[Any], int]:
    """Run ``work(send, *args)`` in a process of its own; what it sent, and its exit code (negative: a signal)."""
    receiver, sender = FORK.Pipe(duplex=False)
    child = FORK.Process(target=_work, args=(work, sender, args))
    child.start()
    sender.close()
    got: list[Any] = []
    try:
        while receiver.poll(30):
            got.append(receiver.recv())
    except EOFError:
        pass
    child.join(30)
    return got, child.exitcode if child.exitcode is not None else 99


def _work(work: Callable[..., None], sender: Any, args: tuple[object, ...]) -> None:
    work(sender.send, *args)
    sender.close()
