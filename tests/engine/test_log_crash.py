"""Killed at every boundary: whatever was acknowledged is there, whole and in order."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from engine import events as ev
from engine.events import Event
from engine.log import SessionWriter
from tests.engine.log_kit import in_child, result, said, sql, started, store_at

TASK: list[Event] = [
    started(),
    said("do it"),
    ev.RunStarted(),
    ev.TurnStarted(turn=1, model="m"),
    ev.AssistantMessage(turn=1, model="m", blocks=(ev.ToolCall(id="c1", name="shell_run"),)),
    ev.ApprovalRequested(
        id="a1",
        digest="d",
        call_id="c1",
        tool="shell_run",
        kind="command",
        subject="ls",
        cwd="/",
        policy="p",
        risk="low",
    ),
    ev.ApprovalDecided(id="a1", digest="d", choice="once"),
    ev.ToolStarted(call_id="c1", turn=1, name="shell_run"),
    result("much " * 20_000, "c1"),
    ev.RunFinished(reason="finished"),
]


def _dies(send: Any, root: Path, acknowledged: int, where: str) -> None:
    writer = store_at(root).create()
    real = SessionWriter._write

    def cut(self: SessionWriter, db: Any) -> None:
        if where == "before the write" and self.seq > acknowledged:
            os.kill(os.getpid(), signal.SIGKILL)
        real(self, db)
        if where == "after the write" and self.seq > acknowledged:
            os.kill(os.getpid(), signal.SIGKILL)

    SessionWriter._write = cut  # type: ignore[method-assign]
    send(writer.session)
    for event in TASK:
        send(writer.append(event))
        if where == "after the answer" and writer.seq == acknowledged:
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("where", ["before the write", "after the write", "after the answer"])
@pytest.mark.parametrize("acknowledged", range(1, len(TASK)))
def test_what_was_acknowledged_survives_the_kill(tmp_path: Path, acknowledged: int, where: str) -> None:
    (session, *appended), code = in_child(_dies, tmp_path, acknowledged, where)
    assert code == -signal.SIGKILL
    assert len(appended) == acknowledged
    store = store_at(tmp_path)
    loaded = store.load(session)
    assert list(loaded.events[:acknowledged]) == appended
    assert len(loaded.events) <= acknowledged + 1
    assert loaded.skipped == ()
    with store.open(session) as writer:
        assert writer.append(said("goes on")).seq == len(loaded.events) + 1
    assert store.verify(session).ok
    assert store.list()[0].events == len(loaded.events) + 1


def test_what_must_survive_a_power_cut_is_synced_before_append_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite syncs the log at a commit when synchronous is FULL (2), and not when it is NORMAL (1)."""
    store = store_at(tmp_path)
    levels: list[tuple[str, int]] = []
    real = SessionWriter._insert

    def watched(self: SessionWriter, db: Any) -> None:
        levels.append((self._waiting[-1].type, db.execute("PRAGMA synchronous").fetchone()[0]))
        real(self, db)

    monkeypatch.setattr(SessionWriter, "_insert", watched)
    with store.create() as writer:
        for event in TASK:
            writer.append(event)
        writer.append(said("plain"))
        writer.append(said("asked for"), durable=True)
    synced = [kind for kind, level in levels if level == 2]
    assert synced == ["approval_requested", "approval_decided", "tool_started", "run_finished", "user_message"]
    assert {level for _, level in levels} == {1, 2}
    assert sql(store, "PRAGMA journal_mode") == [("wal",)]
