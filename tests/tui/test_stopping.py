"""Esc while something runs: at once where nothing can be left half done, else a person says what becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import events as ev
from engine.commands import Interrupt
from tests.tui.bench import Bench, workbench
from tui.dialogs.stop import StopDialog

ROOMY = [(80, 24), (120, 40), (200, 60), (24, 6)]


async def running(bench: Bench, effects: bool = True, title: str = "make install") -> None:
    bench.engine.tell(
        ev.SessionStarted(cwd="/s", model="a/b", app_version="0"), ev.UserMessage(text="do it"), ev.RunStarted(),
        *_turn(1, "c1", title, effects),
    )  # fmt: skip
    await bench.settled()


def _turn(turn: int, id: str, title: str, effects: bool) -> tuple[ev.Event, ...]:
    call = ev.ToolCall(id=id, name="shell_run", input={"command": title})
    return (
        ev.TurnStarted(turn=turn, model="m"),
        ev.AssistantMessage(turn=turn, model="m", blocks=(call,), stop="tool_calls"),
        ev.ToolStarted(call_id=id, turn=turn, name="shell_run", title=title, effects=effects),
    )


def ended(id: str = "c1") -> ev.ToolResult:
    return ev.ToolResult(call_id=id, turn=1, name="shell_run", status="ok", text="")


async def asked(bench: Bench) -> StopDialog:
    await bench.pilot.press("escape")
    await bench.until(lambda: type(bench.app.screen) is StopDialog and bench.screen_text().strip(), "the question")
    dialog = bench.app.screen
    assert isinstance(dialog, StopDialog)
    return dialog


async def readable(bench: Bench, dialog: StopDialog) -> None:
    await bench.until(lambda: not dialog.grace.left, "keys count")


async def gone(bench: Bench) -> None:
    await bench.until(lambda: bench.app.screen is bench.app.bench, "the question is gone")


async def sent(bench: Bench) -> list[Interrupt]:
    await bench.until(lambda: bench.engine.commands(Interrupt), "an interrupt")
    return bench.engine.commands(Interrupt)


def says(bench: Bench, words: str) -> bool:
    return any(words in note.message for note in bench.app._notifications)


async def test_what_only_reads_is_cut_at_once(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await running(bench, effects=False)
        await bench.pilot.press("escape")
        assert await sent(bench) == [Interrupt("s1")]
        assert bench.app.screen is bench.app.bench


async def test_a_call_that_waits_for_a_persons_yes_has_done_nothing_and_is_cut_at_once(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await running(bench)
        bench.engine.tell(
            ev.ApprovalRequested(id="a", digest="d", call_id="c1", tool="shell_run", kind="command", subject="x",
                                 cwd="/s", policy="p", risk="high")
        )  # fmt: skip
        await bench.settled()
        bench.app.bench.action_interrupt()
        assert await sent(bench) == [Interrupt("s1")]


async def test_a_second_escape_stops_at_once(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await running(bench)
        await bench.pilot.press("escape", "escape")
        assert await sent(bench) == [Interrupt("s1")]
        await gone(bench)


@pytest.mark.parametrize(
    ("keys", "command"),
    [
        (("enter",), Interrupt("s1", after_calls=True)),
        (("down", "enter"), Interrupt("s1")),
        (("2",), Interrupt("s1")),
        (("1",), Interrupt("s1", after_calls=True)),
        (("up", "enter"), None),
        (("3",), None),
    ],
)
async def test_a_person_chooses_and_enter_lets_it_finish(
    tmp_path: Path, keys: tuple[str, ...], command: Interrupt | None
) -> None:
    async with workbench(tmp_path) as bench:
        await running(bench)
        await readable(bench, await asked(bench))
        await bench.pilot.press(*keys)
        await gone(bench)
        assert bench.engine.commands(Interrupt) == ([command] if command else [])


async def test_a_sentence_typed_on_chooses_nothing(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await running(bench)
        dialog = await asked(bench)
        await bench.pilot.press(*"go on 2", "enter")
        await readable(bench, dialog)
        await bench.pilot.press("g", "enter")
        assert bench.app.screen is dialog
        assert not bench.engine.commands(Interrupt)


async def test_a_call_that_ends_while_it_is_asked_about_is_no_reason_to_go_on(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await running(bench)
        await asked(bench)
        bench.engine.tell(ended())
        await gone(bench)
        assert await sent(bench) == [Interrupt("s1")]
        assert says(bench, "ended by itself meanwhile; the agent is stopped.")


async def test_the_next_call_that_has_begun_by_then_may_finish(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await running(bench)
        await asked(bench)
        with bench.app.batch_update():
            bench.engine.tell(ended(), *_turn(2, "c2", "make other", True))
        await gone(bench)
        assert (await sent(bench))[-1].after_calls
        assert says(bench, "after the one that runs now")


async def test_a_run_that_is_over_by_then_is_not_interrupted(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await running(bench)
        await asked(bench)
        bench.engine.tell(ended(), ev.RunFinished(reason="finished"))
        await gone(bench)
        await bench.until(lambda: says(bench, "ended by itself"), "a word")
        # What the screen saw first decides: the end of the call, or that of the run with it.
        assert len(bench.engine.commands(Interrupt)) <= 1


@pytest.mark.parametrize("size", ROOMY)
async def test_it_can_be_read_at_any_size(tmp_path: Path, size: tuple[int, int]) -> None:
    async with workbench(tmp_path, size=size) as bench:
        await running(bench, title="你好 [b]\x1b[31m " * 60)
        await asked(bench)
        shown = bench.screen_text()
        assert "Let it finish" in shown and "Stop it now" in shown and "Go on" in shown
        assert "\x1b" not in shown
