"""Several sessions of one engine, in one folder, at work at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from engine import commands as cmd
from engine import events as ev
from engine.engine import Engine
from engine.log import LogStore
from engine.options import EngineOptions
from engine.paths import Home
from engine.runner import Runner

WAITS = "until [ -e {0} ]; do sleep 0.02; done; echo {0} went"


class House:
    """An engine with a person in front of it, and what it published."""

    def __init__(self, folder: Path, script: Path) -> None:
        self.folder = folder
        self.heard: list[Any] = []
        options = EngineOptions(cwd=folder, model=f"script/{script}", approve="sandboxed")
        self.engine = Engine(options, self.heard.append)

    async def begin(self, task: str) -> Runner:
        return await self.engine.open(cmd.OpenSession(task=task))

    async def until(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(30):
            while not holds():
                await asyncio.sleep(0.005)

    def of(self, session: str, kind: str) -> list[Any]:
        return [event for event in self.heard if event.type == kind and event.session == session]

    def opened(self) -> list[str]:
        return [event.session for event in self.heard if event.type == "session_opened"]


def write(path: Path, turns: Sequence[dict[str, Any]], rules: Sequence[dict[str, Any]]) -> Path:
    path.write_text(tomlkit.dumps({"next": list(rules), "turn": list(turns)}))
    return path


@pytest.fixture
async def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    """Its model runs a command that waits for a file named like the task, then says goodbye; or removes something."""
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AGENT_TUI_SCRIPT_WAITING", "0")
    folder = tmp_path / "work"
    folder.mkdir()
    names = ("one", "two")
    rules = [{"when": {"says": name}, "goto": name, "times": 1} for name in (*names, "remove")]
    turns: list[dict[str, Any]] = []
    for name in names:
        call = {"tool": "shell_run", "input": {"command": WAITS.format(name)}}
        turns.append({"label": name, "call": [call], "next": [{"goto": "bye"}]})
    call = {"tool": "shell_run", "input": {"command": "rm -rf kept"}}
    turns.append({"label": "remove", "call": [call], "next": [{"goto": "bye"}]})
    turns.append({"label": "bye", "text": "Goodbye.", "next": [{"goto": "end"}]})
    made = House(folder, write(tmp_path / "script.toml", turns, rules))
    yield made
    await made.engine.close()


def working(house: House, *runners: Runner) -> Callable[[], bool]:
    return lambda: all(house.of(runner.session.id, "tool_started") for runner in runners)


async def test_they_work_side_by_side_and_each_hears_its_own(house: House) -> None:
    one, two = await house.begin("one"), await house.begin("two")
    await house.until(working(house, one, two))
    assert one.running and two.running, "opening the second did not end the first"
    await house.engine.handle(cmd.SendMessage(two.session.id, "by the way"))
    (house.folder / "two").touch()
    await two.idle()
    assert one.running
    assert [e.text for e in two.session.events if e.type == "user_message"] == ["two", "by the way"]
    (house.folder / "one").touch()
    await one.idle()
    assert [e.text for e in one.session.events if e.type == "user_message"] == ["one"]
    for runner in (one, two):
        assert [e.seq for e in runner.session.events] == list(range(1, len(runner.session.events) + 1))
        assert runner.session.state.stage == "finished"


async def test_one_is_closed_while_the_other_goes_on_and_can_be_opened_again(house: House) -> None:
    one, two = await house.begin("one"), await house.begin("two")
    await house.until(working(house, one, two))
    await house.engine.handle(cmd.CloseSession(one.session.id))
    await house.until(lambda: not one.running)
    assert one.session.state.stage == "interrupted" and two.running
    again = await house.engine.open(cmd.OpenSession(id=one.session.id))
    assert again is not one and [e.text for e in again.session.events if e.type == "user_message"] == ["one"]
    (house.folder / "two").touch()
    await two.idle()
    assert two.session.state.stage == "finished"


async def test_an_open_session_is_shown_again_whichever_way_it_is_named(house: House) -> None:
    (house.folder / "one").touch()
    one = await house.begin("one")
    await one.idle()
    id = one.session.id
    for command in (cmd.OpenSession(id=id), cmd.OpenSession(id=id[:-2]), cmd.OpenSession(newest=True)):
        assert await house.engine.open(command) is one
    assert house.opened() == [id] * 4
    assert [e.seq for e in house.heard[-1].events] == [e.seq for e in one.session.events]


async def test_closing_one_nobody_spoke_in_leaves_nothing_behind(house: House) -> None:
    empty = await house.engine.open(cmd.OpenSession())
    await house.engine.handle(cmd.CloseSession(empty.session.id))
    await house.engine.handle(cmd.CloseSession(empty.session.id))
    await house.engine.close()
    assert LogStore(Home.here()).list() == ()


async def test_an_answer_reaches_the_session_that_asked(house: House) -> None:
    (house.folder / "kept").mkdir()
    asker, other = [await house.engine.open(cmd.OpenSession()) for _ in range(2)]
    for runner in (asker, other):
        await house.engine.handle(cmd.ChangeSetting(runner.session.id, "approve", "ask"))
        await house.engine.handle(cmd.SendMessage(runner.session.id, "remove"))
    await house.until(lambda: asker.session.state.waiting and other.session.state.waiting)
    (request,) = house.of(asker.session.id, "approval_requested")
    await house.engine.handle(cmd.Decide(asker.session.id, request.id, request.digest, "deny"))
    await asker.idle()
    assert (house.folder / "kept").exists() and other.session.state.waiting
    (request,) = house.of(other.session.id, "approval_requested")
    await house.engine.handle(cmd.Decide(other.session.id, request.id, request.digest, "once"))
    await other.idle()
    assert not (house.folder / "kept").exists()


async def test_files_are_not_put_back_under_another_session_at_work(house: House) -> None:
    (house.folder / "one").touch()
    one = await house.begin("one")
    await one.idle()
    two = await house.begin("two")
    await house.until(working(house, two))
    said = next(e for e in one.session.events if e.type == "user_message")
    await house.engine.handle(cmd.Rewind(one.session.id, to=said.seq, files=True))
    assert one.session.events[-1].type == "notice" and "'two'" in one.session.events[-1].text
    await house.engine.handle(cmd.Rewind(one.session.id, to=said.seq))
    assert one.session.events[-1].type == "rewound", "the conversation alone harms nobody"


async def test_leaving_interrupts_and_stores_all(house: House) -> None:
    runners = [await house.begin("one"), await house.begin("two")]
    await house.until(working(house, *runners))
    await house.engine.close()
    store = LogStore(Home.here())
    for runner in runners:
        last = store.load(runner.session.id).events[-1]
        assert isinstance(last, ev.RunFinished) and last.reason == "interrupted"
