"""The handle: thread-safe, ordered, and never in the way of a screen."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

from engine.commands import OpenSession, SendMessage
from engine.handle import EngineHandle
from engine.options import EngineOptions
from engine.queries import CompleteFiles, ListSessions, LoadSession, SettingsFile, ShowSettings, Survey, WriteSetting
from engine.settings import SettingError

SCRIPT = """
[[turn]]
text = "hello"
"""


ESCAPE = """
[[turn]]
text = "I try."
[[turn.call]]
tool = "fs_write"
input = { path = "../outside.txt", content = "x" }

[[turn]]
text = "It was refused."
"""


class Heard:
    """Events as they come from the engine thread, and a way to wait for one of a kind."""

    def __init__(self) -> None:
        self.events: list[object] = []
        self._changed = threading.Condition()

    def __call__(self, event: object) -> None:
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()

    def wait(self, kind: str, times: int = 1) -> list[object]:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.of(kind)) >= times, 30), self.types
            return self.of(kind)

    def of(self, kind: str) -> list[object]:
        return [e for e in self.events if e.type == kind]  # type: ignore[attr-defined]

    @property
    def types(self) -> list[str]:
        return [e.type for e in self.events]  # type: ignore[attr-defined]


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EngineOptions:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "main.py").write_text("print(1)\n")
    (tmp_path / "script.toml").write_text(SCRIPT)
    return EngineOptions(cwd=folder, model=f"script/{tmp_path / 'script.toml'}")


def test_a_message_sent_before_the_engine_is_up_is_answered(options: EngineOptions) -> None:
    handle, heard = EngineHandle(options), Heard()
    handle.subscribe(heard)
    handle.send(OpenSession(task="hi"))
    handle.start()
    heard.wait("run_finished")
    session = heard.of("session_opened")[0].session  # type: ignore[attr-defined]
    handle.send(SendMessage(session, "again"))
    heard.wait("run_finished", 2)
    handle.close()
    stored = [e.seq for e in heard.events if getattr(e, "seq", 0)]  # type: ignore[attr-defined]
    assert stored == sorted(stored)
    assert len(heard.of("assistant_message")) == 2


def test_queries_are_answered_beside_the_work(options: EngineOptions) -> None:
    handle, heard = EngineHandle(options), Heard()
    handle.subscribe(heard)
    handle.start()
    handle.send(OpenSession(task="hi"))
    heard.wait("run_finished")
    assert handle.query(CompleteFiles("mai")).result(30) == ("main.py",)
    (row,) = handle.query(ListSessions()).result(30)
    assert row.title == "hi"
    loaded = handle.query(LoadSession(row.id)).result(30)
    assert [e.type for e in loaded.events].count("user_message") == 1
    assert handle.query(Survey()).result(30).chosen == options.model
    handle.close()


def test_settings_are_shown_and_written(options: EngineOptions, tmp_path: Path) -> None:
    handle = EngineHandle(options)
    handle.start()
    file = handle.query(SettingsFile()).result(30)
    assert file == tmp_path / "home" / "config" / "config.toml" and file.read_text().startswith("# Settings")
    handle.query(WriteSetting("limits.turns", 9)).result(30)
    shown = {row.name: row for row in handle.query(ShowSettings(str(options.cwd))).result(30).rows}
    assert (shown["limits.turns"].value, shown["limits.turns"].source) == (9, "user")
    assert (shown["model"].value, shown["model"].source) == (options.model, "command line")
    with pytest.raises(SettingError, match="must be more than 0"):
        handle.query(WriteSetting("limits.turns", -1)).result(30)
    handle.close()


def test_what_cannot_be_opened_is_said_and_the_engine_lives_on(options: EngineOptions) -> None:
    handle, heard = EngineHandle(options), Heard()
    handle.subscribe(heard)
    handle.start()
    handle.send(OpenSession(id="no-such"))
    (failed,) = heard.wait("open_failed")
    assert "no stored sessions" in failed.error  # type: ignore[attr-defined]
    handle.send(OpenSession(task="hi"))
    heard.wait("run_finished")
    handle.close()


def test_an_escape_attempt_is_an_alert_at_once(options: EngineOptions, tmp_path: Path) -> None:
    (tmp_path / "script.toml").write_text(ESCAPE)
    handle, heard = EngineHandle(options), Heard()
    handle.subscribe(heard)
    handle.start()
    handle.send(OpenSession(task="hi"))
    (notice,) = heard.wait("notice")
    heard.wait("run_finished")
    handle.close()
    assert notice.level == "danger" and "outside.txt" in notice.text  # type: ignore[attr-defined]
    assert not (tmp_path / "outside.txt").exists()


def test_after_closing_nothing_is_taken_and_waiting_questions_are_cancelled(options: EngineOptions) -> None:
    handle = EngineHandle(options)
    early = handle.query(ListSessions())
    handle.close()
    assert early.cancelled()
    with pytest.raises(CancelledError):
        handle.query(ListSessions()).result(5)


def test_a_session_nobody_spoke_in_leaves_nothing_behind(options: EngineOptions) -> None:
    handle, heard = EngineHandle(options), Heard()
    handle.subscribe(heard)
    handle.start()
    handle.send(OpenSession())
    heard.wait("session_opened")
    handle.close()
    again, answers = EngineHandle(options), Heard()
    again.subscribe(answers)
    again.start()
    assert again.query(ListSessions()).result(30) == ()
    again.close()
