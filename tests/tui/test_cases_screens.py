"""Inputs that broke screens of this kind: the queue, the plan, stopping, tabs, jump mode and the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from engine import events as ev
from engine.commands import DecidePlan, SendMessage
from tests.tui.bench import Bench, workbench
from tests.tui.hostile import HOSTILE, MARKUP, WIDE, harmless
from tests.tui.test_app_session import begin
from tests.tui.test_settings_screen import at, settings
from tui.dialogs.parts import MOST, Parts, parts
from tui.dialogs.plan import PlanDialog
from tui.dialogs.stop import StopDialog
from tui.screens import queue
from tui.screens.queue import QueueScreen

SIZES = [(120, 40), (80, 24), (20, 5)]
MEGABYTE = "".join(f"- line **{n:05}** of a long text, `code` and {WIDE}\n" for n in range(15_000)) + "its last words"


async def screen(bench: Bench, kind: type) -> Any:
    await bench.until(lambda: type(bench.app.screen) is kind and bench.screen_text().strip(), kind.__name__)
    return bench.app.screen


# --- parts ------------------------------------------------------------------------------------------------------------


@given(st.text(alphabet="ab\n你", max_size=200), st.integers(1, 20))
def test_parts_are_the_whole_text_in_order_and_none_is_long(text: str, most: int) -> None:
    made = parts(text, most)
    assert "".join(made) == text
    assert all(len(part) <= most for part in made) and all(made[:-1])


def test_parts_are_gone_through_round_and_round() -> None:
    assert Parts(["short"]).place == "" and not Parts(["short"]).turn(1)
    long = Parts(parts("x" * (2 * MOST + 1)))
    places = [long.place for _ in range(4) if long.turn(1)]
    assert places == ["part 2 of 3", "part 3 of 3", "part 1 of 3", "part 2 of 3"]
    assert long.go(-1) and long.now == "x" and long.last and long.turn(1) and long.first


# --- the queue --------------------------------------------------------------------------------------------------------


async def test_a_message_of_a_megabyte_is_read_in_parts_and_laid_out_once(tmp_path: Path) -> None:
    async with workbench(tmp_path, real=True) as bench:
        begin(bench.engine)
        bench.engine.tell(ev.MessageQueued(id="m1", kind="steer", text=MEGABYTE))
        await bench.settled()
        await bench.pilot.press("f12")
        shown = await screen(bench, QueueScreen)
        harmless(bench)
        assert 0 < shown.text.virtual_size.height < 1_000, "not all of it is laid out"
        with patch.object(queue, "flowing", side_effect=AssertionError("laid out again")):
            bench.engine.tell(*(ev.Notice(level="info", text="meanwhile") for _ in range(20)))
            await bench.settled()
        await bench.pilot.press("e")
        await bench.until(lambda: "too long to be edited here" in bench.screen_text(), "it is said")
        shown.text.scroll_end(animate=False)
        await bench.until(lambda: "part 1 of" in bench.screen_text(), "the end of the part")
        await bench.pilot.press("space")
        await bench.until(lambda: shown.text.hidden[0] == 0 and "part" not in bench.screen_text(), "the next part")
        await bench.pilot.press("b")
        await bench.until(lambda: "part 1 of" in bench.screen_text(), "back to the end of the part before")
        await bench.pilot.press("space")
        await bench.until(lambda: shown.text.hidden[0] == 0 and "part" not in bench.screen_text(), "on again")
        await bench.pilot.press("c", "escape")
        await bench.until(lambda: bench.app.screen is bench.app.bench, "back")
        assert bench.app.bench.composer.text == MEGABYTE
        assert "[pasted" in bench.screen_text()
        await bench.pilot.press("enter")
        await bench.until(lambda: bench.engine.commands(SendMessage), "it is sent")
        assert bench.engine.commands(SendMessage)[-1].text == MEGABYTE


@pytest.mark.parametrize("size", SIZES)
async def test_two_hundred_hostile_messages_are_gone_through_by_key(tmp_path: Path, size: tuple[int, int]) -> None:
    async with workbench(tmp_path, size=size, real=True) as bench:
        begin(bench.engine)
        kinds = ("steer", "follow_up")
        texts = (ev.MessageQueued(id=f"m{n}", kind=kinds[n % 2], text=f"{n} {HOSTILE}") for n in range(200))  # type: ignore[arg-type]
        bench.engine.tell(*texts)
        await bench.settled()
        harmless(bench, "the strip")
        await bench.pilot.press("f12")
        shown = await screen(bench, QueueScreen)
        assert len(shown.rows) == 203
        for key in ("home", "end", "alt+up", "t", "x", "pageup", "e", "z", "f5"):
            await bench.pilot.press(key)
            await bench.pilot.pause()
            harmless(bench, key)


# --- the plan ---------------------------------------------------------------------------------------------------------


async def planned(bench: Bench, text: str) -> PlanDialog:
    begin(bench.engine)
    bench.engine.tell(ev.PlanProposed(id="p1", text=text), ev.RunFinished(reason="finished"))
    dialog = await screen(bench, PlanDialog)
    await bench.until(lambda: not dialog.grace.left, "keys count")
    assert isinstance(dialog, PlanDialog)
    return dialog


async def test_a_plan_of_a_megabyte_is_read_in_parts_and_approved_whole(tmp_path: Path) -> None:
    async with workbench(tmp_path, real=True) as bench:
        await planned(bench, MEGABYTE)
        assert "line 00000" in bench.screen_text() and "part 1 of" in bench.screen_text()
        await bench.pilot.press("end")
        await bench.until(lambda: "its last words" in bench.screen_text(), "the end of all of it")
        harmless(bench, "the end")
        await bench.pilot.press("v")
        await bench.until(lambda: "line 00000" in bench.screen_text(), "from the end to the beginning")
        await bench.pilot.resize_terminal(60, 20)
        await bench.pilot.press("e")
        await bench.until(lambda: "too long to be edited here" in bench.screen_text(), "it is said")
        await bench.pilot.press("y")
        await bench.until(lambda: bench.engine.commands(DecidePlan), "it is decided")
        assert bench.engine.commands(DecidePlan) == [DecidePlan("s1", "p1", "approve", mode="ask")]


@pytest.mark.parametrize("size", SIZES)
async def test_a_hostile_plan_is_text(tmp_path: Path, size: tuple[int, int]) -> None:
    async with workbench(tmp_path, size=size, real=True) as bench:
        await planned(bench, f"# {HOSTILE}\n\n| {HOSTILE} |\n| --- |\n\n```\n{HOSTILE}\n```\n> {HOSTILE}")
        for key in ("v", "end", "e", "z", "f5", "home"):
            await bench.pilot.press(key)
            await bench.pilot.pause()
            harmless(bench, key)


# --- stopping ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [*SIZES, (40, 12), (1, 1)])
@pytest.mark.parametrize("command", ["rm " + "x" * 10_000, "你" * 10_000, HOSTILE * 100, "\n" * 10_000])
async def test_stopping_asks_about_a_command_of_any_length(tmp_path: Path, size: tuple[int, int], command: str) -> None:
    async with workbench(tmp_path, size=size) as bench:
        begin(bench.engine)
        call = ev.ToolCall(id="c1", name="shell_run", input={"command": command})
        bench.engine.tell(
            ev.AssistantMessage(turn=1, model="m", blocks=(call,), stop="tool_calls"),
            ev.ToolStarted(call_id="c1", turn=1, name=call.name, title=command, effects=True),
        )
        await bench.settled()
        await bench.pilot.press("escape")
        await bench.until(lambda: type(bench.app.screen) is StopDialog, "the question")
        await bench.pilot.pause()
        harmless(bench)
        if size[1] >= 5:
            await bench.until(lambda: "Let it finish" in bench.screen_text(), "the choices")
            assert "Stop it now" in bench.screen_text()


# --- tabs and jump mode -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(80, 24), (20, 24)])
async def test_thirty_tabs_with_hostile_titles_show_the_one_that_is_open(tmp_path: Path, size: tuple[int, int]) -> None:
    async with workbench(tmp_path, size=size) as bench:
        for n in range(1, 31):
            if n > 1:
                await bench.pilot.press("ctrl+n")
                await bench.until(lambda n=n: bench.app.link.session == f"s{n}", "another")
            begin(bench.engine)
            bench.engine.tell(ev.SettingChanged(name="title", value=f"{HOSTILE} {n}"))
            await bench.settled()
        for n in range(29, 19, -1):
            await bench.pilot.press("ctrl+pageup")
            await bench.until(lambda n=n: bench.app.link.session == f"s{n}", "the one before")
            await bench.pilot.pause()
            harmless(bench, str(n))
            assert f"▌{n}" in bench.screen_text().splitlines()[1]


async def test_jump_mode_in_a_storm_of_sizes(tmp_path: Path) -> None:
    async with workbench(tmp_path, real=True) as bench:
        begin(bench.engine)
        bench.engine.tell(*(ev.UserMessage(text=f"{n} {WIDE * 20} {MARKUP}") for n in range(30)))
        await bench.settled()
        for size in [(20, 5), (1, 1), (120, 40), (2, 2), (5, 3), (80, 24), (19, 4), (200, 60)]:
            await bench.pilot.press("f7")
            await bench.pilot.pause()
            harmless(bench, f"before {size}")
            await bench.pilot.resize_terminal(*size)
            await bench.until(lambda: bench.app.screen is bench.app.bench, "a resize ends it")
            await bench.pilot.press("f7")
            await bench.pilot.pause()
            harmless(bench, f"at {size}")
            await bench.pilot.press("escape")
            await bench.until(lambda: bench.app.screen is bench.app.bench, "out")


# --- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("value", ["x" * 10_000, WIDE * 1_000, HOSTILE, "[/]", "\n" * 50], ids=range(5))
async def test_a_value_in_the_file_is_text_whatever_it_is(tmp_path: Path, value: str, size: tuple[int, int]) -> None:
    everywhere = {
        "model": value, "theme": value, "approve": value, value: 1, "keys": {"help": value, value: value},
        "ui": {"bell": value}, "limits": {"turns": value},
    }  # fmt: skip
    async with settings(tmp_path, tomlkit.dumps(everywhere), size=size) as bench:
        await bench.pilot.press("home")
        for _ in range(12):
            harmless(bench, "the list")
            await bench.pilot.press("down")
        for name in ("model", "limits.turns", "help"):
            entries = bench.app.screen.shown
            line = next(n for n, entry in enumerate(entries) if entry.name == name and not entry.problem)
            bench.app.screen.list.action_move(line - bench.app.screen.list.index)
            await bench.pilot.press("enter")
            await bench.until(lambda: bench.app.screen.is_modal, "its dialog")
            harmless(bench, name)
            if lines := bench.app.screen.query("#ask-input"):
                lines.first().value = value
                await bench.pilot.press("enter")
                await bench.pilot.pause()
                harmless(bench, "what is wrong with it")
            while bench.app.screen.is_modal:
                await bench.pilot.press("escape")
                await bench.pilot.pause()


async def test_a_value_of_the_environment_is_text_where_it_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TUI_MODEL", "a/\udcff\x1b[2J")
    async with settings(tmp_path, "") as bench:
        harmless(bench, "the list")
        await at(bench, "model")
        await bench.pilot.press("enter")
        await bench.until(lambda: "write it as provider/model" in bench.screen_text(), "what can be used")
        await bench.pilot.press("end", "enter")
        await bench.until(lambda: bench.app.screen.query("#ask-input"), "a line to write")
        await bench.pilot.pause()
        harmless(bench, "the line")
        assert "␛[2J" in bench.screen_text()
