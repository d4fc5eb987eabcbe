"""The plan: read as Markdown, changed in place, decided on purpose and never by a key that was typed for something
else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine import events as ev
from engine.commands import DecidePlan
from tests.tui.bench import Bench, workbench
from tui import slots
from tui.asking import Asking
from tui.dialogs.plan import PlanDialog

PLAN = """## Steps
1. Move the parse into `load()` in **src/auth/session.py**
2. Keep the old name

| file | change |
| --- | --- |
| a.py | 你好 |
"""


@pytest.fixture(autouse=True)
def _real_dialog(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workbench of these tests has the real dialog in place of its stand-in."""
    real = slots.dialog
    from tests.tui import bench

    others = [pair for pair in bench._stand_ins(bench.placeholders.Transcript) if pair[0] != "dialog"]
    monkeypatch.setattr(bench, "_stand_ins", lambda transcript: tuple(others))
    assert slots.dialog is real


def events(text: str = PLAN, id: str = "p1") -> tuple[ev.Event, ...]:
    return (
        ev.SessionStarted(cwd="/s", model="a/b", app_version="0", approve="plan"), ev.UserMessage(text="do it"),
        ev.RunStarted(), ev.PlanProposed(id=id, text=text), ev.RunFinished(reason="finished"),
    )  # fmt: skip


async def offered(bench: Bench, text: str = PLAN) -> PlanDialog:
    bench.engine.tell(*events(text))
    await bench.until(lambda: type(bench.app.screen) is PlanDialog and bench.screen_text().strip(), "the plan")
    dialog = bench.app.screen
    assert isinstance(dialog, PlanDialog)
    await bench.until(lambda: not dialog.grace.left, "keys count")
    return dialog


async def sees(bench: Bench, *words: str) -> None:
    await bench.until(lambda: all(word in bench.screen_text() for word in words), f"on screen: {words}")


async def decided(bench: Bench) -> Any:
    await bench.until(lambda: bench.engine.commands(DecidePlan), "a decision")
    await bench.until(lambda: bench.app.screen is bench.app.bench, "it is gone")
    return bench.engine.commands(DecidePlan)[-1]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (24, 8)])
async def test_it_is_offered_when_the_run_ends_and_reads_as_markdown(tmp_path: Path, size: tuple[int, int]) -> None:
    async with workbench(tmp_path, size=size) as bench:
        await offered(bench, PLAN + "\n\x1b[31m [b]\n" + "\n".join(f"- step {n}" for n in range(80)))
        await bench.pilot.press("end")
        await sees(bench, "step 79")
        await bench.pilot.press("home")
        await sees(bench, "Steps")
        assert "##" not in bench.screen_text() and "\x1b" not in bench.screen_text()


@pytest.mark.parametrize(("key", "mode"), [("y", "ask"), ("c", "sandboxed")])
async def test_it_is_approved_with_the_mode_to_go_on_in(tmp_path: Path, key: str, mode: str) -> None:
    async with workbench(tmp_path) as bench:
        await offered(bench)
        await bench.pilot.press("enter")
        await sees(bench, "Enter approves nothing; y does")
        await bench.pilot.press(key)
        assert await decided(bench) == DecidePlan("s1", "p1", "approve", mode=mode)  # type: ignore[arg-type]


async def test_it_comes_between_no_two_letters_and_takes_none(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.engine.tell(*events()[:3])
        await bench.settled()
        await bench.pilot.press(*"why ")
        bench.engine.tell(*events()[3:])
        await bench.settled()
        await bench.pilot.press(*"cyn")
        assert bench.app.bench.composer.text == "why cyn"
        await bench.until(lambda: type(bench.app.screen) is PlanDialog, "the plan")
        await bench.pilot.press("y", "c")
        assert not bench.engine.commands(DecidePlan)


async def test_what_is_edited_is_read_again_before_it_is_approved(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        dialog = await offered(bench, "1. this")
        await bench.pilot.press("e", *" and", "escape")
        await bench.until(lambda: not dialog.grace.left, "keys count")
        await bench.pilot.press("e", *" [that]", "f5")
        await sees(bench, "as you edited it", "this and [that]")
        assert not bench.engine.commands(DecidePlan)
        await bench.until(lambda: not dialog.grace.left, "keys count")
        await bench.pilot.press("escape")
        await sees(bench, "Esc again drops your edit")
        await bench.pilot.press("y")
        assert await decided(bench) == DecidePlan("s1", "p1", "approve", "1. this and [that]")


async def test_it_is_rejected_with_a_reason(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await offered(bench)
        await bench.pilot.press("n", *"too big", "enter")
        assert await decided(bench) == DecidePlan("s1", "p1", "reject", reason="too big")


async def test_put_aside_it_waits_until_f10_and_goes_when_it_was_decided_elsewhere(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await offered(bench)
        await bench.pilot.press("escape")
        await bench.until(lambda: bench.app.screen is bench.app.bench, "it is put aside")
        await sees(bench, "F10 plan")
        await sees(bench, "◌ plan waits for you")
        assert not bench.engine.commands(DecidePlan)
        await bench.pilot.press("f10")
        await bench.until(lambda: type(bench.app.screen) is PlanDialog, "it is back")
        bench.engine.tell(ev.PlanDecided(id="p1", choice="reject"))
        await bench.until(lambda: bench.app.screen is bench.app.bench, "it is gone")
        await bench.until(lambda: "plan waits" not in bench.screen_text(), "and no longer spoken of")
        assert not bench.engine.commands(DecidePlan)


async def test_the_slash_commands_show_it_and_reject_it_with_what_follows(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.app.run_slash("plan", "")
        await bench.until(lambda: any("No plan waits" in n.message for n in bench.app._notifications), "a word")
        await offered(bench)
        await bench.pilot.press("escape")
        bench.app.run_slash("reject", "smaller steps")
        assert await decided(bench) == DecidePlan("s1", "p1", "reject", reason="smaller steps")


async def test_a_session_that_is_opened_again_offers_its_plan(tmp_path: Path) -> None:
    from tests.tui.fake_engine import FakeHandle

    handle = FakeHandle()
    handle.past = tuple(e.model_copy(update={"session": "s1", "seq": n}) for n, e in enumerate(events(), 1))
    async with workbench(tmp_path, engine=handle) as bench:
        await bench.until(lambda: type(bench.app.screen) is PlanDialog, "the plan")


# --- what waits -------------------------------------------------------------------------------------------------------


def test_a_plan_outlives_its_run_and_gives_way_to_a_newer_one() -> None:
    asking = Asking()
    asking.feed(events())
    assert asking.waits(("", "p1"))
    asking.feed([ev.PlanProposed(id="p2", text="x"), ev.RunFinished(reason="finished")])
    assert not asking.waits(("", "p1")) and asking.place(("", "p2")) == (1, 1)
    asking.feed([ev.QuestionAsked(id="q", call_id="c", question="?")])
    asking.put_aside(("", "p2"))
    following = asking.next()
    assert following and following.id == "q"
    asking.recall(("", "q"))
    asking.feed([ev.RunFinished(reason="finished")])
    assert asking.waits(("", "p2")) and not asking.waits(("", "q"))


def test_the_plan_asked_for_comes_before_what_waited_longer() -> None:
    asking = Asking()
    asking.feed([ev.QuestionAsked(id="q", call_id="c", question="?"), ev.PlanProposed(id="p", text="x")])
    asking.recall(("", "p"))
    following = asking.next()
    assert following and following.id == "p"
