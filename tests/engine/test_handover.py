"""What a fresh session begins with, and where the work is when the app dies in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import events as ev
from engine.commands import OpenSession
from engine.engine import Engine
from engine.handover import limits_left, unfinished
from engine.log import LogStore
from engine.options import EngineOptions
from engine.paths import Home
from engine.runner import Runner
from engine.state import TaskState


class Died(Exception):
    """The app is gone."""


async def worked(folder: Path) -> tuple[Engine, Runner]:
    """A session with something in it, todo and queue included, whose next turn has to be handed over."""
    engine = Engine(
        EngineOptions(cwd=folder, model="script/demo", approve="sandboxed"), lambda event: None, headless=True
    )
    runner = await engine.open(OpenSession())
    session = runner.session
    session.say("Mend the parser; never touch legacy.py")
    session.append(ev.RunStarted(limits=ev.Limits(turns=10, cost=2.0)))
    session.append(ev.TurnStarted(turn=1, model="script/demo"))
    call = ev.ToolCall(id="c1", name="fs_read", input={"path": "parser.py"})
    session.append(ev.AssistantMessage(turn=1, model="script/demo", blocks=(call,), cost=0.5))
    session.append(
        ev.ToolResult(call_id="c1", turn=1, name="fs_read", status="ok", text="x", files_read=("parser.py",))
    )
    session.append(ev.TodoChanged(text="- [ ] mend", items=(ev.TodoItem(text="mend"),)))
    session.queue("steer", "and the tests", "m-1")
    return engine, runner


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AGENT_TUI_SCRIPT_WAITING", "0")
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


async def test_everything_that_counts_goes_over(home: Path) -> None:
    engine, old = await worked(home)
    new = await engine._opener.hand_over(old, "no room")
    state, was = new.session.state, old.session.state
    assert state.goal == was.goal and state.title == was.title and state.todo == was.todo
    assert [p.text for p in state.pending] == ["and the tests"] and was.pending == ()
    first = next(e for e in new.session.events if e.type == "compacted")
    assert first.kind == "handoff" and "never touch legacy.py" in first.ledger and "parser.py" in first.ledger
    handed = next(e for e in old.session.events if e.type == "handed_off")
    assert handed.to == new.session.id
    assert (new._parts.session_dir / "todo.md").read_text() == "- [ ] mend"
    await new.close()
    await engine.close()


@pytest.mark.parametrize(
    "after", ["session_started", "setting_changed", "prompt_rendered", "compacted", "todo_changed"]
)
async def test_the_work_is_the_old_sessions_until_it_says_otherwise(
    home: Path, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, old = await worked(home)
    written: list[ev.AnyEvent] = []

    def publish(event: ev.AnyEvent) -> None:
        written.append(event)
        if event.type == after and getattr(event, "session", "") != old.session.id:
            raise Died

    object.__setattr__(engine._opener, "publish", publish)
    with pytest.raises(Died):
        await engine._opener.hand_over(old, "no room")
    object.__setattr__(engine._opener, "publish", lambda event: None)
    await engine.close()
    again = Engine(EngineOptions(cwd=home, model="script/demo"), lambda event: None, headless=True)
    assert (await again.open(OpenSession(newest=True))).session.id == old.session.id
    await again.close()


async def test_from_then_on_it_is_the_new_ones(home: Path) -> None:
    engine, old = await worked(home)
    new = await engine._opener.hand_over(old, "no room")
    await new.close()
    await engine.close()
    again = Engine(EngineOptions(cwd=home, model="script/demo"), lambda event: None, headless=True)
    assert (await again.open(OpenSession(newest=True))).session.id == new.session.id
    await again.close()
    store = LogStore(Home.here())
    for session in (old.session.id, new.session.id):
        assert store.verify(session).ok


def test_a_fork_is_not_taken_for_half_a_hand_over() -> None:
    start = ev.SessionStarted(cwd="/w", model="m/m", app_version="0", parent="old", parent_seq=4)
    begun = [start, ev.Compacted(number=1, kind="handoff", reason="r")]
    assert unfinished(begun) == "old"
    assert unfinished([*begun, ev.RunStarted()]) == ""
    assert unfinished([start, ev.UserMessage(text="x")]) == ""
    assert unfinished([]) == ""


def test_limits_count_on() -> None:
    state = TaskState(limits=ev.Limits(turns=10, cost=2.0), run_turns=4, run_cost=2.5)
    left = limits_left(state)
    assert (left.turns, left.cost, left.tokens) == (6, 0, None)
