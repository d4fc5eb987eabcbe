"""The workbench fits its terminal, shows what can be done, and never parses text from outside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine import events as ev
from engine import live
from tests.tui.bench import Bench, workbench
from tests.tui.test_app_approvals import request
from tests.tui.test_app_session import begin
from tui.actions import ACTIONS, BY_SLASH, CYCLED, Situation, hints, key_name, next_mode
from tui.screens.help import HelpScreen
from tui.screens.workbench import Workbench

NASTY = "ZLEXCOUNT z [b + and [/ [/] [bold] $foreground [@click=app.quit]x[/] \x1b[?1049h\x07 你好，世界 👩‍👩‍👧 é مرحبا"


def tell_all(bench: Bench, text: str) -> None:
    """Every pane has something to show, and all of it is ``text``."""
    begin(bench.engine)
    bench.engine.tell(
        ev.SettingChanged(name="title", value=text),
        ev.SettingChanged(name="model", value=text),
        ev.TodoChanged(text=text, items=tuple(ev.TodoItem(text=text, status=s) for s in ("done", "active", "pending"))),
        ev.AssistantMessage(
            turn=1, model=text, stop="tool_calls", usage=ev.Usage(input_uncached=10, cache_read=500, output=9),
            blocks=(ev.ToolCall(id="c1", name=text), ev.ToolCall(id="c2", name=text)),
        ),
        ev.ToolStarted(call_id="c1", turn=1, name=text, title=text),
        ev.ToolResult(call_id="c1", turn=1, name=text, status="error", text=text, summary=text, seconds=1.0),
        ev.ToolStarted(call_id="c2", turn=1, name=text, title=text),
        request("a", "c2").model_copy(update={"tool": text, "subject": text}),
        ev.MessageQueued(id="q1", kind="steer", text=text),
        ev.MessageQueued(id="q2", kind="follow_up", text=text),
        ev.ModelRetry(turn=1, attempt=1, wait=60, error=text),
        ev.Notice(level="warn", text=text),
    )  # fmt: skip
    bench.engine.show(ev.LogHealth(session="s1", saving=False, error=text, skipped=3))
    bench.engine.show(ev.EngineFailed(error=text))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (20, 5), (1, 1), (99, 12), (160, 9)])
async def test_any_size_and_any_text(tmp_path: Path, size: tuple[int, int]) -> None:
    async with workbench(tmp_path, size=size) as bench:
        bench.app.asking.put_aside(("s1", "a"))
        tell_all(bench, NASTY)
        await bench.settled()
        for tab in range(1, 7):
            await bench.pilot.press(f"alt+{tab}")
            await bench.pilot.pause()
        text = bench.screen_text()
        assert len(text.splitlines()) <= size[1]
        assert "\x1b" not in text
        if size[0] >= 80 and size[1] >= 24:
            assert "ZLEXCOUNT z [b + and [/" in text


async def test_a_storm_of_resizes_ends_with_the_right_layout(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.app.asking.put_aside(("s1", "a"))
        tell_all(bench, "words")
        for size in ((140, 40), (60, 20), (20, 5), (200, 60), (100, 30), (80, 24)):
            await bench.pilot.resize_terminal(*size)
        await bench.settled()
        assert bench.app.bench.has_class("-narrow")
        assert "1 transcript" in bench.screen_text()
        assert not bench.app.bench.task_pane.is_on_screen
        await bench.pilot.resize_terminal(120, 40)
        await bench.until(lambda: "TASK" in bench.screen_text(), "the side column is back")


@pytest.mark.parametrize("pane", ["task", "todo", "approvals", "tools"])
async def test_what_is_typed_after_a_resize_hid_the_pane_one_was_in_is_a_message(tmp_path: Path, pane: str) -> None:
    async with workbench(tmp_path, size=(200, 60), real=True) as bench:
        begin(bench.engine)
        await bench.settled()
        screen = bench.app.bench
        for _ in range(9):
            if screen._focus_name() != pane:
                await bench.pilot.press("tab")
        assert screen._focus_name() == pane
        await bench.pilot.resize_terminal(60, 20)
        await bench.until(lambda: screen.narrow and screen._focus_name() == "composer", "the focus is where one types")
        await bench.pilot.resize_terminal(200, 60)
        await bench.pilot.press("h", "o")
        await bench.until(lambda: screen.composer.text == "ho", "the letters are text")


async def test_narrow_shows_one_pane_at_a_time_with_a_badge_where_something_waits(tmp_path: Path) -> None:
    async with workbench(tmp_path, size=(80, 24)) as bench:
        bench.app.asking.put_aside(("s1", "a"))
        begin(bench.engine)
        bench.engine.tell(request("a"))
        await bench.settled()
        tabs = bench.screen_text().splitlines()[1]
        assert "5 approvals ◌1" in tabs
        assert "APPROVALS" not in bench.screen_text()
        await bench.pilot.press("alt+5")
        await bench.until(lambda: "git push" in bench.screen_text(), "the approvals")
        await bench.pilot.press("2")
        await bench.until(lambda: "Fix the login test" in bench.screen_text().split("\n", 1)[1], "the task")
        await bench.pilot.press("1")
        await bench.until(lambda: bench.app.bench.composer.has_focus, "back where one types")


async def test_digits_are_typed_while_typing(tmp_path: Path) -> None:
    async with workbench(tmp_path, size=(80, 24)) as bench:
        await bench.pilot.press("2", "i", "question_mark")
        assert bench.app.bench.composer.text == "2i?"
        assert bench.app.bench.tab == "transcript"


async def test_tab_goes_through_the_panes_and_focus_can_be_seen_without_colour(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        await bench.settled()
        marked = set()
        for _ in range(6):
            await bench.pilot.press("tab")
            await bench.pilot.pause()
            marked |= {name for name in ("TASK", "TODO", "CACHE", "APPROVALS") if f"▌{name}" in bench.screen_text()}
        assert marked == {"TASK", "TODO", "CACHE", "APPROVALS"}


async def test_from_160_columns_the_tools_have_their_own_column(tmp_path: Path) -> None:
    async with workbench(tmp_path, size=(160, 40)) as bench:
        begin(bench.engine)
        bench.engine.tell(
            ev.AssistantMessage(turn=1, model="m", blocks=(ev.ToolCall(id="c1", name="fs_read"),), stop="tool_calls"),
            ev.ToolStarted(call_id="c1", turn=1, name="fs_read", title="src/a.py"),
        )
        await bench.settled()
        assert "src/a.py" in bench.screen_text()
        pane = bench.app.bench.tools_pane
        assert pane._tick is not None
        bench.engine.show(live.ToolProgress(session="s1", call_id="c1", text="half way\n"))
        await bench.until(lambda: "   half way" in bench.screen_text(), "the end of what it says")
        bench.engine.tell(ev.ToolResult(call_id="c1", turn=1, name="fs_read", status="ok", text="x", seconds=0.5))
        await bench.settled()
        assert "500 ms" in bench.screen_text()
        assert pane._tick is None


async def test_nothing_ticks_when_nothing_runs(tmp_path: Path) -> None:
    async with workbench(tmp_path, size=(200, 60)) as bench:
        begin(bench.engine)
        bench.engine.tell(ev.ModelRetry(turn=1, attempt=1, wait=9, error="overloaded"))
        await bench.settled()
        assert "overloaded. Try 2 in" in bench.screen_text()
        assert bench.app.bench.banners._tick is not None
        bench.engine.tell(ev.RunFinished(reason="finished"))
        await bench.settled()
        widgets = [bench.app, bench.app.bench, *bench.app.bench.walk_children()]
        ticking = [t for w in widgets for t in w._timers if t._repeat is None and t._task and not t._task.done()]
        # Textual's own timers exist from the first frame on and are paused; ours must not.
        assert not [t for t in ticking if t._active.is_set()]


async def test_the_last_line_offers_what_can_be_done_now(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:

        def last() -> str:
            return bench.screen_text().splitlines()[-1]

        await bench.until(lambda: "Enter send" in last(), "idle")
        begin(bench.engine)
        await bench.settled()
        assert "Enter steer" in last() and "Esc interrupt" in last()
        assert "take back" not in last()
        bench.engine.tell(ev.MessageQueued(id="q", kind="steer", text="x"))
        await bench.settled()
        assert "Alt+Up take back" in last()
        bench.engine.tell(ev.Paused())
        await bench.settled()
        assert "F8 go on   F9 step" in last()


async def test_a_click_on_a_key_does_the_same_as_the_key(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        at = bench.screen_text().splitlines()[-1].index("F1")
        await bench.pilot.click(offset=(at, 39))
        await bench.until(lambda: isinstance(bench.app.screen, HelpScreen), "help")


async def test_help_lists_every_action(tmp_path: Path) -> None:
    async with workbench(tmp_path, size=(120, 130)) as bench:
        await bench.pilot.press("f1")
        await bench.until(lambda: isinstance(bench.app.screen, HelpScreen), "help")
        text = bench.screen_text()
        for action in ACTIONS:
            assert action.title[:40] in text
            for key in action.keys:
                assert key_name(key) in text
        await bench.pilot.press("escape")
        await bench.until(lambda: isinstance(bench.app.screen, Workbench), "back")


async def test_help_begins_with_the_keys_of_where_you_are_unless_one_types(tmp_path: Path) -> None:
    async with workbench(tmp_path, size=(120, 40), real=True) as bench:
        begin(bench.engine)
        await bench.settled()
        await bench.pilot.press("f1")
        await bench.until(lambda: "Esc closes" in bench.screen_text(), "help")
        assert "Send the message" in bench.screen_text()
        assert "Select the block above" not in bench.screen_text()
        await bench.pilot.press("escape")
        await bench.until(lambda: bench.app.screen is bench.app.bench, "back")
        bench.app.bench.transcript.focus()
        await bench.until(lambda: "[ ] select   Enter unfold" in bench.screen_text(), "how to select")
        await bench.pilot.press("question_mark")
        await bench.until(lambda: "Esc closes" in bench.screen_text(), "help")
        first = bench.screen_text().splitlines()[2:30]
        assert any("Here" in line for line in first[:2])
        assert any("Select the block above" in line for line in first)
        assert not any("Scroll Left" in line for line in first)


async def test_the_palette_offers_every_action_with_its_key(tmp_path: Path) -> None:
    from tui.commands import ActionProvider

    async with workbench(tmp_path) as bench:
        provider = ActionProvider(bench.app.screen)
        hits = [hit async for hit in provider.discover()]
        texts = [str(hit.display) for hit in hits]  # type: ignore[union-attr]
        for action in ACTIONS:
            if action.listed:
                (found,) = [text for text in texts if text.startswith(action.title)]
                assert not action.keys or key_name(action.keys[0]) in found
        (best,) = sorted([hit async for hit in provider.search("interrupt")], reverse=True)[:1]
        assert "Interrupt" in str(best.text)


async def test_the_palette_opens_and_runs_an_action(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await bench.pilot.press("ctrl+p")
        await bench.until(lambda: bench.app.screen is not bench.app.bench, "the palette")
        await bench.pilot.press(*"keys and")
        await bench.until(lambda: "Keys and commands" in bench.screen_text(), "the hit")
        assert "🔎" not in bench.screen_text(), "some terminals cannot show it"
        await bench.pilot.press("enter")
        await bench.until(lambda: isinstance(bench.app.screen, HelpScreen), "help")


def test_every_action_of_the_table_exists(tmp_path: Path) -> None:
    from tui.app import WorkbenchApp

    where: dict[str, type[Any]] = {"screen": Workbench, "app": WorkbenchApp}
    for action in ACTIONS:
        if action.place != "widget":
            name = (action.call or action.name).partition("(")[0]
            assert hasattr(where[action.place], f"action_{name}"), action.name


def test_no_two_actions_share_a_key_or_a_command() -> None:
    bound = [key for a in ACTIONS if a.place != "widget" for key in a.keys + a.typed]
    assert len(bound) == len(set(bound))
    assert len(BY_SLASH) == len([a for a in ACTIONS if a.slash])


def test_keys_as_people_read_them() -> None:
    assert [key_name(key) for key in ("ctrl+p", "alt+up", "f1", "question_mark", "shift+tab", "e", "alt+1")] == [
        "Ctrl+P", "Alt+Up", "F1", "?", "Shift+Tab", "e", "Alt+1",
    ]  # fmt: skip


def test_help_is_always_offered_and_last() -> None:
    for situation in (Situation(), Situation(running=True), Situation(focus=""), Situation(focus="todo", editing=True)):
        assert hints(situation)[-1].name == "help"


def test_modes_go_round() -> None:
    seen = [mode := "ask"]
    for _ in CYCLED:
        seen.append(mode := next_mode(mode))
    assert seen == [*CYCLED, "ask"]
    assert next_mode("never heard of") == "ask"


async def test_no_colour_uses_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with workbench(tmp_path) as bench:
        bench.app.asking.put_aside(("s1", "a"))
        tell_all(bench, "words")
        await bench.settled()
        strips = bench.app.screen._compositor.render_strips(bench.app.size)
        filters = bench.app.get_line_filters()
        from textual.color import Color

        for strip in strips:
            segments = list(strip)
            for line_filter in filters:
                segments = line_filter.apply(segments, Color.parse("black"))
            for segment in segments:
                colours = (segment.style.color, segment.style.bgcolor) if segment.style else ()
                assert all(colour is None or colour.is_default for colour in colours), segment
