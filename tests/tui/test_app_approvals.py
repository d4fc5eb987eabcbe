"""Requests come one at a time, never into the middle of a word, and go when they were settled elsewhere."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Any

from engine import events as ev
from engine.commands import AnswerQuestion, Decide
from tests.tui.bench import Bench, workbench
from tests.tui.placeholders import Dialog
from tests.tui.test_app_session import begin
from tui.asking import TYPING_PAUSE, Asking


def request(id: str, call: str = "c1", **fields: Any) -> ev.ApprovalRequested:
    return ev.ApprovalRequested(
        id=id, digest=f"d-{id}", call_id=call, tool="shell_run", kind="run", subject="git push", cwd="/src/shop",
        policy="default", risk="high", **fields,
    )  # fmt: skip


def question(id: str) -> ev.QuestionAsked:
    return ev.QuestionAsked(id=id, call_id="c9", question="Which [b]branch[/b]?")


def dialog(bench: Bench) -> Dialog | None:
    screen = bench.app.screen
    return screen if isinstance(screen, Dialog) else None


async def shown(bench: Bench, id: str) -> Dialog:
    await bench.until(lambda: (d := dialog(bench)) and d.request.id == id, f"the dialog for {id}")
    found = dialog(bench)
    assert found is not None
    return found


async def test_one_at_a_time_with_their_place_in_the_queue(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        bench.engine.tell(request("a", "c1"), request("b", "c2"))
        first = await shown(bench, "a")
        assert first.place[0] == 1
        await bench.pilot.press("y")
        second = await shown(bench, "b")
        assert second.place == (2, 2)
        await bench.pilot.press("y")
        await bench.until(lambda: len(bench.engine.commands(Decide)) == 2, "both decisions")
        assert [(d.id, d.digest, d.choice) for d in bench.engine.commands(Decide)] == [
            ("a", "d-a", "once"),
            ("b", "d-b", "once"),
        ]
        assert dialog(bench) is None


async def test_a_question_is_answered_with_text(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        bench.engine.tell(question("q"))
        await shown(bench, "q")
        await bench.pilot.press("y")
        await bench.until(lambda: bench.engine.commands(AnswerQuestion), "the answer")
        assert bench.engine.commands(AnswerQuestion) == [AnswerQuestion("s1", "q", "yes")]


async def test_it_waits_until_typing_has_paused(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        await bench.settled()
        await bench.pilot.press("h", "e", "y")
        typed = monotonic()
        bench.engine.tell(request("a"))
        await bench.settled()
        assert dialog(bench) is None
        await bench.pilot.press("y", "n")
        assert dialog(bench) is None
        assert bench.app.bench.composer.text == "heyyn"
        await shown(bench, "a")
        assert monotonic() - typed >= TYPING_PAUSE
        assert not bench.engine.commands(Decide)


async def test_a_request_settled_elsewhere_closes_its_dialog_and_sends_nothing(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        bench.engine.tell(request("a"))
        await shown(bench, "a")
        bench.engine.tell(ev.ApprovalDecided(id="a", digest="d-a", choice="deny", by="timeout"))
        await bench.until(lambda: dialog(bench) is None, "it closes")
        assert not bench.engine.commands(Decide)
        assert "no answer" in bench.screen_text()


async def test_the_end_of_the_run_closes_all(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        bench.engine.tell(request("a", "c1"), request("b", "c2"))
        await shown(bench, "a")
        bench.engine.tell(ev.RunFinished(reason="interrupted"))
        await bench.until(lambda: dialog(bench) is None, "it closes")
        await bench.settled()
        assert bench.app.asking.next() is None


async def test_one_put_aside_waits_in_the_pane_and_comes_back_when_asked_for(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        bench.engine.tell(request("a"))
        await shown(bench, "a")
        await bench.pilot.press("escape")
        await bench.until(lambda: dialog(bench) is None, "it is put aside")
        await bench.settled()
        assert dialog(bench) is None
        assert "1 waits" in bench.screen_text()
        await bench.pilot.press("alt+5", "enter")
        await shown(bench, "a")


async def test_one_waiting_in_a_resumed_session_is_shown(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        past = (request("a").model_copy(update={"session": "s5", "seq": 1}),)
        bench.engine.show(ev.SessionOpened(session="s5", events=past, state=bench.engine.state))
        await shown(bench, "a")


async def test_quitting_with_a_dialog_open_closes_the_engine_and_approves_nothing(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        bench.engine.tell(request("a"))
        await shown(bench, "a")
        await bench.pilot.press("ctrl+q")
        await bench.until(lambda: bench.engine.closed == 1, "the engine is closed")
        assert not bench.engine.commands(Decide)


def test_the_place_counts_what_came_together() -> None:
    asking = Asking()
    asking.feed([request("a", "c1"), request("b", "c2"), request("c", "c3")])
    assert asking.place(("", "a")) == (1, 3)
    asking.settle(("", "a"))
    assert asking.place(("", "b")) == (2, 3)
    asking.settle(("", "b"))
    asking.settle(("", "c"))
    asking.feed([request("d", "c4")])
    assert asking.place(("", "d")) == (1, 1)


def test_a_result_settles_the_request_of_its_call() -> None:
    asking = Asking()
    asking.feed([request("a", "c1"), request("b", "c2")])
    asking.feed([ev.ToolResult(call_id="c1", turn=1, name="shell_run", status="denied", text="")])
    assert not asking.waits(("", "a"))
    assert asking.waits(("", "b"))
