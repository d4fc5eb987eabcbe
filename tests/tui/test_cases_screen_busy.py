"""What goes on for long costs next to nothing on the screen: at most one tick a second, and only where it is seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import events as ev
from engine import live
from tests.tui.bench import Bench, workbench
from tests.tui.test_app_session import begin
from tests.tui.test_session_tabs import transcript


def intervals(bench: Bench) -> list[float]:
    """Seconds between the ticks of everything that repeats now."""
    nodes = [bench.app, bench.app.bench, *bench.app.bench.walk_children()]
    timers = [timer for node in nodes for timer in node._timers]
    return [t._interval for t in timers if t._repeat is None and t._task and not t._task.done() and t._active.is_set()]


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
@pytest.mark.parametrize("what", ["retrying", "running", "thinking", "waiting"])
async def test_nothing_repeats_more_often_than_once_a_second(tmp_path: Path, what: str, size: tuple[int, int]) -> None:
    call = ev.ToolCall(id="c1", name="shell_run", input={"command": "make"})
    told: dict[str, list[ev.Event]] = {
        "retrying": [ev.ModelRetry(turn=1, attempt=1, wait=60, error="overloaded")],
        "running": [ev.ToolStarted(call_id="c1", turn=1, name="shell_run", title="make")],
        "thinking": [ev.TurnStarted(turn=2, model="m/m")],
        "waiting": [ev.QuestionAsked(id="q", call_id="c1", question="Which?")],
    }
    async with workbench(tmp_path, size=size, real=True) as bench:
        begin(bench.engine)
        bench.engine.tell(ev.TurnStarted(turn=1, model="m/m"), ev.AssistantMessage(turn=1, model="m/m", blocks=(call,)))
        bench.engine.tell(*told[what])
        await bench.settled()
        ticking = intervals(bench)
        assert all(seconds >= 1.0 for seconds in ticking), ticking
        assert len(ticking) <= 2, ticking
        if what == "retrying":
            assert ticking, "the countdown is shown as it runs"


async def test_the_view_stays_where_a_person_reads_when_a_session_of_any_length_goes_on(tmp_path: Path) -> None:
    async with workbench(tmp_path, size=(100, 30), real=True) as bench:
        begin(bench.engine)
        bench.engine.tell(*(ev.Notice(level="info", text=f"line {n}") for n in range(300)))
        await bench.until(lambda: "line 299" in bench.screen_text(), "the end")
        bench.app.bench.transcript.focus()
        await bench.pilot.press("pageup", "pageup")
        await bench.until(lambda: "line 299" not in bench.screen_text(), "further up")

        def seen() -> list[str]:
            return [line[:20] for line in bench.screen_text().splitlines() if "line " in line]

        reading = seen()
        bench.engine.tell(ev.TurnStarted(turn=1, model="m/m"))
        for n in range(50):
            bench.engine.show(live.StreamDelta(session="s1", turn=1, index=0, kind="text", text=f"said {n}\n\n"))
        bench.engine.tell(ev.AssistantMessage(turn=1, model="m/m", blocks=(ev.TextBlock(text="all said"),)))
        bench.engine.tell(ev.RunFinished(reason="finished"))
        await bench.settled()
        assert seen() == reading
        await bench.pilot.press("end")
        await bench.until(lambda: "all said" in bench.screen_text(), "the end again")


async def test_sessions_at_work_out_of_sight_give_the_screen_nothing_to_do(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        for n in range(1, 8):
            if n > 1:
                await bench.pilot.press("ctrl+n")
                await bench.until(lambda n=n: bench.app.link.session == f"s{n}", "another")
            begin(bench.engine)
            await bench.settled()
        sheets = bench.app.bench.sheets
        hidden = [sheet.transcript for tab, sheet in sheets.items() if tab is not bench.app.link.tabs.shown]
        drawn = [len(one.events) for one in hidden]
        assert len(drawn) == 6
        for n in range(60):
            for session in range(1, 8):
                text = live.StreamDelta(session=f"s{session}", turn=1, index=0, kind="text", text=f"{n} ")
                bench.engine.show(text)
        bench.engine.tell(ev.Notice(level="info", text="over"))
        await bench.until(lambda: getattr(transcript(bench)[-1], "text", "") == "over", "the one in sight has it all")
        assert [len(one.events) for one in hidden] == drawn
        assert all(seconds >= 1.0 for seconds in intervals(bench)), "however many are at work"
        await bench.pilot.press("ctrl+pageup")
        await bench.until(lambda: bench.app.link.session == "s6", "another")
        assert "".join(e.text for e in transcript(bench) if e.type == "stream_delta").endswith(" 58 59 ")
