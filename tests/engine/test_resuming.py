"""A long session is shown from its end on while it is read; all of it arrives, in order, and nothing waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import events as ev
from engine import resuming
from engine.commands import Interrupt, OpenSession, SendMessage
from engine.handle import EngineHandle
from engine.log import LogStore
from engine.options import EngineOptions
from engine.paths import Home
from engine.state import TaskState, fold
from tests.engine.test_handle import SCRIPT, Heard

TURNS = 60


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EngineOptions:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    for name, size in (("LONG", 100), ("PART", 30), ("TAIL", 20)):
        monkeypatch.setattr(resuming, name, size)
    (tmp_path / "work").mkdir()
    (tmp_path / "script.toml").write_text(SCRIPT)
    return EngineOptions(cwd=tmp_path / "work", model=f"script/{tmp_path / 'script.toml'}")


def stored(options: EngineOptions, turns: int = TURNS) -> str:
    """A session of ``turns`` turns of three events each, and three more."""
    log = LogStore(Home.here()).create()
    log.append(ev.SessionStarted(cwd=str(options.cwd), model=options.model, app_version="0", approve="ask"))
    log.append(ev.UserMessage(text="Read them all"))
    log.append(ev.PromptRendered(identity="i", catalogue="c", tools=(), digest="d"))
    for turn in range(1, turns + 1):
        call = ev.ToolCall(id=f"c{turn}", name="fs_read", input={"path": "a.py"})
        log.append(ev.TurnStarted(turn=turn, model=options.model))
        log.append(ev.AssistantMessage(turn=turn, model=options.model, blocks=(call,)))
        log.append(ev.ToolResult(call_id=f"c{turn}", turn=turn, name="fs_read", status="ok", text="x"))
    log.close()
    return log.session


def test_the_end_comes_first_and_then_everything(options: EngineOptions) -> None:
    session = stored(options)
    handle, heard = EngineHandle(options), Heard()
    handle.subscribe(heard)
    handle.start()
    handle.send(OpenSession(session))
    (opened,) = heard.wait("session_opened")
    handle.close()
    (coming,) = heard.of("session_coming")
    assert coming.rows == 3 + 3 * TURNS  # type: ignore[attr-defined]
    assert coming.title == "Read them all"  # type: ignore[attr-defined]
    tail = coming.events  # type: ignore[attr-defined]
    assert tail[0].type == "turn_started"
    assert tail[-1].call_id == f"c{TURNS}"
    assert 0 < len(tail) <= 20
    parts = [part.events for part in heard.of("past_read")]  # type: ignore[attr-defined]
    assert len(parts) == 7
    loaded = LogStore(Home.here()).load(session).events
    told = [*(e for part in parts for e in part), *opened.events]  # type: ignore[attr-defined]
    assert told == list(loaded[: len(told)])
    assert tuple(told[-len(opened.events) - len(tail) :][: len(tail)]) == tuple(tail)  # type: ignore[attr-defined]
    assert opened.state == fold(told, TaskState(session=session))  # type: ignore[attr-defined]
    order = [e.type for e in heard.events if e.type in ("session_coming", "past_read", "session_opened")]  # type: ignore[attr-defined]
    assert order == ["session_coming", *["past_read"] * 7, "session_opened"]


def test_what_is_said_before_it_is_open_is_carried_out(options: EngineOptions) -> None:
    session = stored(options)
    handle, heard = EngineHandle(options), Heard()
    handle.subscribe(heard)
    handle.start()
    handle.send(OpenSession(session))
    handle.send(SendMessage(session, "go on"))
    heard.wait("run_finished")
    handle.close()
    assert [e.text for e in heard.of("user_message")] == ["go on"]  # type: ignore[attr-defined]


def test_another_session_is_heard_while_one_is_read(options: EngineOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    session = stored(options)
    monkeypatch.setattr(resuming, "REST", 0.05)
    handle, heard = EngineHandle(options), Heard()
    handle.subscribe(heard)
    handle.start()
    handle.send(OpenSession(task="hi"))
    (first,) = heard.wait("session_opened")
    heard.wait("run_finished")
    handle.send(OpenSession(session))
    heard.wait("session_coming")
    handle.send(SendMessage(first.session, "again"))  # type: ignore[attr-defined]
    handle.send(Interrupt(first.session))  # type: ignore[attr-defined]
    heard.wait("run_finished", 2)
    heard.wait("session_opened", 2)
    types = heard.types
    handle.close()
    second = [n for n, kind in enumerate(types) if kind == "run_finished"][1]
    assert second < [n for n, kind in enumerate(types) if kind == "session_opened"][1]


def test_leaving_while_it_is_read_gives_it_back(options: EngineOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    session = stored(options)
    monkeypatch.setattr(resuming, "REST", 30.0)
    handle, heard = EngineHandle(options), Heard()
    handle.subscribe(heard)
    handle.start()
    handle.send(OpenSession(session))
    heard.wait("past_read")
    handle.close()
    writer = LogStore(Home.here()).open(session)
    assert writer.seq == 3 + 3 * TURNS
    writer.close()


def test_a_session_whose_folder_is_gone_is_refused_before_it_is_shown(options: EngineOptions) -> None:
    session = stored(options)
    options.cwd.rmdir()
    elsewhere = options.cwd.parent / "elsewhere"
    elsewhere.mkdir()
    handle, heard = EngineHandle(EngineOptions(cwd=elsewhere, model=options.model)), Heard()
    handle.subscribe(heard)
    handle.start()
    handle.send(OpenSession(session))
    (failed,) = heard.wait("open_failed")
    handle.close()
    assert "is gone" in failed.error  # type: ignore[attr-defined]
    assert not heard.of("session_coming")


def test_a_short_session_comes_in_one_piece(options: EngineOptions) -> None:
    session = stored(options, turns=3)
    handle, heard = EngineHandle(options), Heard()
    handle.subscribe(heard)
    handle.start()
    handle.send(OpenSession(session))
    (opened,) = heard.wait("session_opened")
    handle.close()
    assert len(opened.events) >= 3 + 3 * 3  # type: ignore[attr-defined]
    assert not heard.of("session_coming")
