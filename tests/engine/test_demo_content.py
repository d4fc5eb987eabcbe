"""The demo against the real engine and real files; only commands and approvals go through a broker of the test."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from engine import events as ev
from engine.asking import People
from engine.commands import Command, Compact, Decide, SendMessage
from engine.demo.driver import DENIAL, STEER, AutoDriver
from engine.demo.workspace import DemoWorkspace, make_demo
from engine.log import Artifacts, LogStore
from engine.memory import Memory
from engine.models.base import Done
from engine.models.script import ScriptModel
from engine.paths import Home
from engine.prompt.build import build
from engine.prompt.layers import render
from engine.prompt.request import Message
from engine.runner import Parts, Runner
from engine.session import Session
from engine.tools.registry import specs
from sandbox.approval import ApprovalRequest, Choice
from sandbox.backends.base import OnOutput
from sandbox.operations import Caller, Operation, Outcome, PollBackground, RunCommand, Status, WriteFile
from sandbox.risk import Assessment, Risk
from sandbox.shadow import Shadow
from skills import Catalogue
from tests.engine.kit import no_successor
from tests.engine.tools_kit import FolderBroker


def run_command(folder: Path, command: str) -> tuple[int, bytes]:
    # The scripts call python3; here that is whatever runs the tests.
    argv = [sys.executable, *command.split()[1:]]
    done = subprocess.run(argv, cwd=folder, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


class AskingBroker(FolderBroker):
    """Writes and pushes ask the person; the test suite runs."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, self._run_it)
        self.people: People | None = None

    async def run(self, op: Operation, caller: Caller = Caller(), on_output: OnOutput | None = None) -> Outcome:
        risk = Risk.HIGH if isinstance(op, RunCommand) and "push" in op.command else Risk.MEDIUM
        if isinstance(op, WriteFile) or risk is Risk.HIGH:
            assert self.people is not None
            subject = op.path if isinstance(op, WriteFile) else getattr(op, "command", "")
            request = ApprovalRequest(
                f"a-{caller.call_id}-{subject}", "digest", "write", subject, ".", "workspace", Assessment(risk),
                caller.tool, caller.call_id,
            )  # fmt: skip
            answer = await self.people.ask(request)
            if answer.choice is Choice.DENY:
                return Outcome(Status.DENIED, error="a person said no", feedback=answer.reason)
        return await super().run(op, caller, on_output)

    def _run_it(self, op: RunCommand | PollBackground, on_output: OnOutput) -> Outcome:
        assert isinstance(op, RunCommand)
        code, data = run_command(self.root, op.command)
        status = Status.OK if code == 0 else Status.FAILED
        return Outcome(status, data=data, exit_code=code, total=len(data))


@dataclass
class Show:
    """One demo on stage."""

    demo: DemoWorkspace
    runner: Runner
    sent: list[Command] = field(default_factory=list)

    @property
    def events(self) -> list[ev.Event]:
        return self.runner.session.events

    def results(self, name: str) -> list[str]:
        return [e.status for e in self.events if isinstance(e, ev.ToolResult) and e.name == name]

    def said(self) -> list[str]:
        answers = [e for e in self.events if isinstance(e, ev.AssistantMessage)]
        return ["".join(b.text for b in e.blocks if isinstance(b, ev.TextBlock)) for e in answers]


async def play(tmp_path: Path, driver: AutoDriver, override: dict[str, str] | None = None) -> Show:
    """Run the demo to its end. ``override``: choice instead of the driver's for an approval of that subject."""
    demo = make_demo(tmp_path / "demo")
    home = Home(tmp_path / "data", tmp_path / "config", tmp_path / "cache")
    loop = asyncio.get_running_loop()

    def publish(event: ev.AnyEvent) -> None:
        for command in driver.react(event):
            show.sent.append(command)
            loop.call_soon(deliver, command, event)

    def deliver(command: Command, event: ev.AnyEvent) -> None:
        if isinstance(command, Decide) and isinstance(event, ev.ApprovalRequested):
            choice = (override or {}).get(event.subject, command.choice)
            show.runner.decide(Decide(command.session, command.id, command.digest, choice))  # type: ignore[arg-type]
        elif isinstance(command, SendMessage):
            show.runner.send(command.text, command.kind)
        elif isinstance(command, Compact):
            show.runner.compact(command)

    store = LogStore(home)
    session = Session(store.create(publish), publish)
    session.append(ev.SessionStarted(cwd=str(demo.folder), model=demo.model, app_version="test"))
    session.append(render(specs(), ""))
    people, broker = People(session), AskingBroker(demo.folder)
    broker.people = people
    parts = Parts(
        broker=broker,
        artifacts=Artifacts(home.artifacts),
        make_model=lambda _spec: ScriptModel.open("demo", waiting=0),
        read_skill=lambda _name: None,
        session_dir=home.session_dir(session.id),
        limits=ev.Limits(),
        sandbox_words="held by the test",
        shadow=Shadow(demo.folder, home.data / "kept"),
        hand_over=no_successor,
        render=lambda: render(specs(), ""),
        skills=Catalogue((), ()),
        memory=Memory(home.data, demo.folder),
        find_sessions=store.list,
    )
    show = Show(demo, Runner(session, people, parts))
    show.runner.send(demo.task, "steer")
    async with asyncio.timeout(60):
        await show.runner.idle()
    return show


def suite(folder: Path) -> tuple[int, str]:
    code, output = run_command(folder, "python3 -m unittest")
    return code, output.decode()


def test_the_repository_has_exactly_one_failing_test(tmp_path: Path) -> None:
    demo = make_demo(tmp_path)
    code, output = suite(demo.folder)
    assert code != 0 and "failures=1" in output and "test_thousands" in output and "Ran 5 tests" in output


def test_every_demo_gets_a_folder_of_its_own(tmp_path: Path) -> None:
    first, second = make_demo(tmp_path), make_demo(tmp_path)
    assert first.folder != second.folder and first.script.is_file()
    assert sorted(p.name for p in first.folder.iterdir()) == ["README.md", "data", "ledger", "tests"]


async def test_by_itself_it_goes_through_everything_it_promises(tmp_path: Path) -> None:
    show = await play(tmp_path, driver := AutoDriver())
    finished = show.events[-1]
    assert isinstance(finished, ev.RunFinished) and finished.reason == "finished" and driver.finished
    assert show.results("shell_run") == ["error", "ok", "denied"]
    assert show.results("fs_edit") == ["ok", "ok"] and show.results("fs_write") == ["ok"]
    assert len(show.results("todo_write")) == 3 and show.results("fs_search") == ["ok"]
    assert any(isinstance(e, ev.UserMessage) and e.kind == "steer" and e.text == STEER for e in show.events)
    compacted = [e for e in show.events if isinstance(e, ev.Compacted) and e.kind == "summary"]
    assert len(compacted) == 1 and "thousands" in compacted[0].summary
    assert compacted[0].tokens_after < compacted[0].tokens_before
    assert not [e for e in show.events if isinstance(e, ev.Notice | ev.ModelFailed)]
    assert show.said()[-1].startswith("**What was wrong.**")
    code, output = suite(show.demo.folder)
    assert code == 0 and "Ran 6 tests" in output


async def test_after_a_restart_it_knows_that_it_is_over_although_the_history_was_compacted(tmp_path: Path) -> None:
    show = await play(tmp_path, AutoDriver())
    request = build(show.events, show.runner.session.state)
    asked = replace(request, messages=(*request.messages, Message("user", (ev.TextBlock(text="And now?"),))))
    done = [part async for part in ScriptModel.open("demo", waiting=0).stream(asked)][-1]
    assert isinstance(done, Done) and isinstance(done.blocks[0], ev.TextBlock)
    assert done.blocks[0].text.startswith("The demo is over")


async def test_the_cache_pane_has_something_to_show(tmp_path: Path) -> None:
    show = await play(tmp_path, AutoDriver())
    usages = [e.usage for e in show.events if isinstance(e, ev.AssistantMessage)]
    assert usages[0].cache_read == 0 and all(u.cache_read > u.cache_write for u in usages[1:5])


@pytest.mark.parametrize(
    ("override", "last"),
    [
        ({"ledger/amounts.py": "deny"}, "The change was not made"),
        ({"tests/test_amounts.py": "deny"}, "The change was not made"),
    ],
)
async def test_a_person_may_decide_otherwise(tmp_path: Path, override: dict[str, str], last: str) -> None:
    show = await play(tmp_path, AutoDriver(), override)
    assert show.said()[-1].startswith(last)


def test_the_driver_leaves_dialogs_to_the_person_unless_told() -> None:
    asked = ev.ApprovalRequested(
        session="s", id="a", digest="d", call_id="c", tool="shell_run", kind="command", subject="git push", cwd=".",
        policy="workspace", risk="high",
    )  # fmt: skip
    assert AutoDriver(answers=False).react(asked) == ()
    assert AutoDriver().react(asked) == (Decide("s", "a", "d", "deny", reason=DENIAL),)
    lower = asked.model_copy(update={"risk": "medium"})
    assert AutoDriver().react(lower) == (Decide("s", "a", "d", "once"),)


def test_the_driver_says_each_thing_once() -> None:
    driver = AutoDriver(answers=False)
    push = ev.ToolCall(id="p", name="shell_run", input={"command": "git push origin main"})
    editing = ev.ToolStarted(session="s", call_id="e", turn=1, name="fs_edit")
    pushed = ev.ToolResult(session="s", call_id="p", turn=2, name="shell_run", status="denied", text="")
    sent = [
        *driver.react(editing.model_copy(update={"name": "fs_read"})),
        *driver.react(editing),
        *driver.react(editing),
        *driver.react(ev.AssistantMessage(turn=2, model="m", blocks=(push,))),
        *driver.react(pushed),
        *driver.react(pushed),
    ]
    assert sent == [SendMessage("s", STEER, "steer"), Compact("s")]
