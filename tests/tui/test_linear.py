"""The workbench by lines: everything in words, and no sentence approves anything."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine import events as ev
from engine.commands import AnswerQuestion, Compact, Decide, DecidePlan, Interrupt, OpenSession, SendMessage, TakeBack
from engine.options import EngineOptions
from tests.tui.fake_engine import FakeHandle
from tui.linear import desk as linear
from tui.linear.desk import Desk
from tui.linear.words import Narrator

HOSTILE = "git\x1b[2J push \u202e[/] рm"


class Room:
    """A desk with its engine, and every line it said."""

    def __init__(self, folder: Path) -> None:
        self.said: list[str] = []
        self.engine = FakeHandle(EngineOptions(cwd=folder))
        self.desk = Desk(lambda _: self.engine, self.engine.options, self.said.append, ascii=False)
        self.desk.start(OpenSession())
        self.until(lambda: "is open" in self.text, "the session is open")

    @property
    def text(self) -> str:
        return "\n".join(self.said)

    def until(self, holds: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + 10
        while not holds():
            assert time.monotonic() < end, f"never happened: {what}\n{self.text}"
            time.sleep(0.002)

    def tell(self, *events: ev.Event, then: str) -> None:
        self.engine.tell(*events)
        self.until(lambda: then in self.text, then)

    def hear(self, line: str) -> bool:
        return self.desk.hear(line + "\n")


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    monkeypatch.setattr(linear, "HEARD", 0.0)
    made = Room(tmp_path)
    yield made
    made.desk.close()


def asked(id: str = "a1", **more: object) -> ev.ApprovalRequested:
    who = dict(id=id, digest="d1", call_id="c1", tool="shell_run", kind="command", cwd="/src", policy="workspace")
    why = dict(subject=HOSTILE, risk="high", reasons=("leaves this machine",), effects=("send 3 commits",))
    return ev.ApprovalRequested.model_validate(who | why | more)


def test_a_message_goes_out_and_what_happens_comes_in_words(room: Room) -> None:
    room.hear("Fix the login test")
    assert room.engine.commands(SendMessage) == [SendMessage("s1", "Fix the login test")]
    room.tell(
        ev.UserMessage(text="Fix the login test"),
        ev.RunStarted(),
        ev.AssistantMessage(turn=1, model="m/m", blocks=(ev.TextBlock(text="I look."),)),
        ev.ToolStarted(call_id="c1", turn=1, name="shell_run", title="pytest"),
        ev.ToolResult(call_id="c1", turn=1, name="shell_run", status="error", text="one\n" * 30, summary="1 failed"),
        ev.RunFinished(reason="finished"),
        then="finished",
    )
    for line in ("You: Fix the login test", "Agent: I look.", "Running shell_run pytest", "FAILED: shell_run pytest"):
        assert line in room.text
    assert "18 more lines" in room.text
    assert room.text.count("  one") == linear_shown()
    room.hear("/show 1")
    assert room.text.count("\none") >= 30


def test_a_result_of_long_ago_can_still_be_read(room: Room) -> None:
    many = [
        ev.ToolResult(call_id=f"c{n}", turn=n, name="shell_run", status="ok", text=f"the lines of {n}", summary="fine")
        for n in range(1, 601)
    ]
    room.tell(*many, then="the lines of 600")
    for number in (3, 600):
        room.hear(f"/show {number}")
        assert room.text.count(f"\nthe lines of {number}\n") == 1
    room.hear("/show 601")
    assert "no result 601; the newest is 600" in room.text


def test_a_call_that_was_cut_off_is_not_said_to_have_taken_no_time(room: Room) -> None:
    cut = ev.ToolResult(call_id="c1", turn=1, name="shell_run", status="cancelled", text="", summary="interrupted")
    room.tell(ev.ToolStarted(call_id="c1", turn=1, name="shell_run", title="make"), cut, then="interrupted")
    assert "CANCELLED: shell_run make: interrupted" in room.text


def test_an_interrupt_of_nothing_says_so_and_how_to_leave(room: Room) -> None:
    room.tell(ev.RunStarted(), ev.UserMessage(text="Go."), then="You: Go.")
    room.desk.interrupt()
    assert "Nothing runs" not in room.text
    room.tell(ev.RunFinished(reason="finished"), then="finished")
    room.desk.interrupt()
    assert room.engine.commands(Interrupt) == [Interrupt("s1")] * 2
    assert room.said[-1] == "Nothing runs. /quit leaves."


def test_a_picture_is_told_by_its_kind_and_size(room: Room) -> None:
    what = "PNG image, 640 × 480 pixels, 12.3 kB"
    read = ev.ToolResult(call_id="c1", turn=1, name="fs_read", status="ok", text=f"[{what}. It is.]", summary=what)
    room.tell(ev.ToolStarted(call_id="c1", turn=1, name="fs_read", title="plot.png"), read, then=what)
    assert any("fs_read plot.png" in line and what in line for line in room.text.splitlines())


def linear_shown() -> int:
    from tui.linear.words import SHOWN_LINES

    return SHOWN_LINES


def test_only_an_exact_word_approves(room: Room) -> None:
    room.tell(ev.RunStarted(), asked(), then="APPROVAL NEEDED")
    assert "high risk" in room.text and "send 3 commits" in room.text and "leaves this machine" in room.text
    assert "\x1b" not in room.text and "\u202e" not in room.text and "careful:" in room.text
    for line in ("yes please do it", "y y", "yep", "always", "d", "so"):
        room.hear(line)
    assert not room.engine.commands(Decide)
    assert [command.text for command in room.engine.commands(SendMessage)] == [
        "yes please do it", "y y", "yep", "always", "d", "so",
    ]  # fmt: skip
    room.hear("y")
    assert room.engine.commands(Decide) == [Decide("s1", "a1", "d1", "once")]


def test_requests_are_read_out_one_at_a_time(room: Room) -> None:
    room.tell(ev.RunStarted(), asked(), asked("a2", subject="rm -rf build"), then="One more request waits")
    assert "rm -rf build" not in room.text
    room.hear("d it is Friday")
    assert "rm -rf build" in room.text
    room.hear("S")
    decided = room.engine.commands(Decide)
    assert [(one.id, one.choice, one.reason) for one in decided] == [
        ("a1", "deny", "it is Friday"),
        ("a2", "session", ""),
    ]


def test_a_line_begun_before_the_request_does_not_answer_it(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "HEARD", 60.0)
    room.tell(ev.RunStarted(), asked(), then="APPROVAL NEEDED")
    room.hear("y")
    assert not room.engine.commands(Decide) and not room.engine.commands(SendMessage)
    assert "did not count" in room.text
    room.hear("/again")
    assert room.text.count("APPROVAL NEEDED") == 2


def test_a_request_settled_elsewhere_is_not_answered(room: Room) -> None:
    room.tell(ev.RunStarted(), asked(), then="APPROVAL NEEDED")
    room.tell(ev.ApprovalDecided(id="a1", digest="d1", choice="deny", by="timeout"), then="no answer in time")
    room.hear("y")
    assert not room.engine.commands(Decide)
    assert room.engine.commands(SendMessage) == [SendMessage("s1", "y")]


def test_a_question_takes_a_number_or_words(room: Room) -> None:
    question = ev.QuestionAsked(id="q1", call_id="c1", question="Which?", options=("red", "blue"))
    room.tell(ev.RunStarted(), question, then="QUESTION")
    room.hear("")
    assert not room.engine.commands(AnswerQuestion)
    room.hear("2")
    assert room.engine.commands(AnswerQuestion) == [AnswerQuestion("s1", "q1", "blue")]


def test_commands_of_the_line(room: Room) -> None:
    room.engine.tell(ev.TodoChanged(text="- [ ] one", items=(ev.TodoItem(text="one"),)))
    room.until(lambda: "Todo: 0 of 1" in room.text, "the todo list")
    room.until(lambda: room.desk.link.state is not None and bool(room.desk.link.state.todo_text), "the state")
    for line in (
        "/stop",
        "/back",
        "/follow then this",
        "/compact paths",
        "/status",
        "/todo",
        "/show 9",
        "/help",
        "/nope",
    ):
        assert room.hear(line)
    kinds = (Interrupt, TakeBack, SendMessage, Compact)
    assert [command for command in room.engine.sent if isinstance(command, kinds)] == [
        Interrupt("s1"), TakeBack("s1"), SendMessage("s1", "then this", "follow_up"), Compact("s1", "paths"),
    ]  # fmt: skip
    for said in ("todo 0 of 1 done", "- [ ] one", "no result 9", "/follow TEXT", "no /nope"):
        assert said in room.text
    assert not room.hear("/quit")


def test_a_log_that_cannot_be_written_is_said(room: Room) -> None:
    room.engine.show(ev.LogHealth(session="s1", saving=False, error="disk full"))
    room.until(lambda: "nothing is being saved: disk full" in room.text, "the warning")


@pytest.mark.parametrize("status", ["ok", "error", "denied", "cancelled", "skipped"])
def test_every_outcome_has_a_word(status: str) -> None:
    words = {"ok": "done", "error": "FAILED", "denied": "DENIED", "cancelled": "CANCELLED", "skipped": "not run"}
    result = ev.ToolResult.model_validate(dict(call_id="c", turn=1, name="fs_read", status=status, text="x"))
    assert Narrator().tell(result)[0].startswith(words[status])


def test_a_plan_is_decided_by_the_same_words(room: Room) -> None:
    room.tell(
        ev.PlanProposed(id="p1", text="1. this"), ev.RunFinished(reason="finished"), then="PLAN: the answer above"
    )
    for line in ("yes but smaller", "s"):
        room.hear(line)
    assert not room.engine.commands(DecidePlan) and len(room.engine.commands(SendMessage)) == 2
    room.hear("d smaller steps")
    room.tell(ev.PlanDecided(id="p1", choice="reject"), ev.PlanProposed(id="p2", text="2. that"), then="finished")
    room.until(lambda: room.text.count("PLAN: the answer above") == 2, "the next plan")
    room.hear("y")
    assert room.engine.commands(DecidePlan) == [
        DecidePlan("s1", "p1", "reject", reason="smaller steps"),
        DecidePlan("s1", "p2", "approve"),
    ]
