"""The widget on a screen: what a person sees and does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.theme import Theme

from engine import events as ev
from engine.events import AnyEvent
from tests.tui.transcript_kit import (
    AT,
    EDIT,
    MARKUP,
    TranscriptApp,
    call,
    delta,
    notices,
    result,
    said,
    screen_lines,
    screen_text,
    stored,
)
from tui.signs import ASCII
from tui.transcript.kinds import Tool
from tui.transcript.neutral import neutral
from tui.transcript.view import Transcript

SIZES = [(80, 24), (120, 40), (200, 60)]


async def feed(pilot: Pilot[None], events: Sequence[AnyEvent]) -> None:
    app = pilot.app
    assert isinstance(app, TranscriptApp)
    app.transcript.feed(events)
    await pilot.pause()


@pytest.mark.parametrize("size", SIZES)
async def test_a_conversation_reads_from_top_to_bottom(size: tuple[int, int]) -> None:
    events = stored(
        ev.UserMessage(text="Fix the login test."),
        said(
            "I will **look** at `session.py`.",
            1,
            call("c1", "fs_read", path="src/session.py"),
            call("c2", command="pytest"),
        ),
        result("c1", name="fs_read", summary="212 lines", seconds=0.0004),
        result("c2", status="error", text="a\nb\nc\nFAILED test_login\n", summary="1 failed", seconds=3.1),
        ev.RunFinished(reason="finished", detail="all done"),
    )
    app = TranscriptApp(events)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        lines = [line.rstrip() for line in screen_lines(app)]
        assert lines[0].startswith(" ▍you") and lines[0].endswith(AT.astimezone().strftime("%H:%M"))
        assert lines[1] == " ▍Fix the login test."
        assert lines[3].startswith(" ▍agent")
        assert lines[4] == " ▍I will look at session.py."
        assert lines[6].startswith(" ✓ fs_read     src/session.py") and lines[6].endswith("0.4 ms     212 lines")
        assert lines[7].startswith(" ✗ shell_run   pytest") and lines[7].endswith("3.1 s      1 failed")
        assert lines[8:12] == ["   b", "   c", "   FAILED test_login", "   ⋯ 1 more line (Enter)"]
        assert lines[13] == " ✓ finished  all done"


HOSTILE_EVENTS = {
    "user": lambda t: [ev.UserMessage(text=t)],
    "agent": lambda t: [said(t)],
    "thinking": lambda t: [ev.AssistantMessage(turn=1, model="m", blocks=(ev.ThinkingBlock(text=t),))],
    "tool name": lambda t: [said("", 1, call(name=t))],
    "tool title": lambda t: [ev.ToolStarted(call_id="c", turn=1, name="fs_read", title=t)],
    "result": lambda t: [said("", 1, call()), result(text=t, summary=t, status="error")],
    "diff": lambda t: [said("", 1, call()), result(diff=f"--- a/{t}\n+++ b/{t}\n@@ -1 +1 @@\n-{t}\n+{t}\n")],
    "not a diff": lambda t: [said("", 1, call()), result(diff=t)],
    "approval": lambda t: [ev.ApprovalDecided(id="a", digest="d", choice="deny", reason=t)],
    "notice": lambda t: [ev.Notice(level="warn", text=t, hint=t)],
    "compaction": lambda t: [ev.Compacted(number=1, kind="summary", reason=t, summary=t)],
    "finished": lambda t: [ev.RunFinished(reason="failed", detail=t)],
    "retry": lambda t: [ev.ModelRetry(turn=1, attempt=1, wait=1, error=t)],
    "question": lambda t: [ev.QuestionAsked(id="q", call_id="c", question=t, options=(t,))],
    "setting": lambda t: [ev.SettingChanged(name="title", value=t)],
}


@pytest.mark.parametrize("kind", HOSTILE_EVENTS)
async def test_text_from_outside_is_neither_markup_nor_control(kind: str) -> None:
    texts = [MARKUP, "[/]", "[bold", "[id=14629,state=CLOSED,name=x]", 'echo "A=value" >> f']
    controls = "\x1b[?1049h\x1b[?1000h\x1b]0;x\x07\x1b[2J\x0e\x9b31m\u202eplain"
    app = TranscriptApp()
    async with app.run_test(size=(100, 30)) as pilot:
        for text in texts:
            app.transcript.rewind(stored(*HOSTILE_EVENTS[kind](text)))
            app.transcript.fold_all(True)
            await pilot.pause()
            assert text in screen_text(app)
        app.transcript.rewind(stored(*HOSTILE_EVENTS[kind](controls)))
        app.transcript.fold_all(True)
        await pilot.pause()
        assert "plain" in screen_text(app)
        assert all(neutral(line) == line for line in screen_lines(app))


async def test_wide_and_joined_characters_fill_no_more_than_their_cells() -> None:
    text = "你好，世界 👩\u200d👩\u200d👧 e\u0301 שלום " * 6
    for kind in HOSTILE_EVENTS:
        app = TranscriptApp(stored(*HOSTILE_EVENTS[kind](text)))
        async with app.run_test(size=(40, 30)) as pilot:
            app.transcript.fold_all(True)
            await pilot.pause()
            assert all(cell_len(line) <= 40 for line in screen_lines(app)), kind


async def test_a_storm_of_resizes_while_a_table_streams_leaves_one_copy() -> None:
    rows = [f"| row {n} | value {n} |\n" for n in range(8)]
    text = "Before.\n\n| name | value |\n|---|---|\n" + "".join(rows) + "\nAfter the table."
    app = TranscriptApp(stored(ev.UserMessage(text="make a table")))
    async with app.run_test(size=(140, 40)) as pilot:
        sizes = [(140, 40), (60, 40), (140, 40), (20, 5), (33, 12)]
        for start in range(0, len(text), 9):
            app.transcript.feed([delta(text[start : start + 9])])
            if start % 5 == 0:
                await pilot.resize_terminal(*sizes[start % len(sizes)])
            await pilot.pause()
            assert all(cell_len(line) <= app.size.width for line in screen_lines(app))
        app.transcript.feed(stored(ev.UserMessage(text="make a table"), said(text))[1:])
        await pilot.resize_terminal(140, 40)
        await pilot.pause()
        shown = screen_text(app)
        assert [shown.count(f"row {n} ") for n in range(8)] == [1] * 8
        assert shown.count("After the table.") == shown.count("▍agent") == shown.count("make a table") == 1


async def test_a_stream_shows_at_once_and_its_end_changes_nothing() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await feed(pilot, [delta("Hello **wor")])
        assert "Hello **wor" in screen_text(app)
        await feed(pilot, [delta("ld**.")])
        streamed = screen_lines(app)
        assert streamed[1] == " ▍Hello world."
        await feed(pilot, stored(said("Hello **world**.")))
        assert screen_lines(app)[1:] == streamed[1:]


async def test_a_dropped_stream_leaves_nothing_behind() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await feed(pilot, [delta("half an answer")])
        await feed(pilot, [ev.StreamDropped(turn=1), *stored(ev.ModelRetry(turn=1, attempt=1, wait=2, error="busy"))])
        assert "half" not in screen_text(app) and "busy" in screen_text(app)


async def test_a_running_call_shows_its_newest_lines() -> None:
    app = TranscriptApp(
        stored(said("", 1, call()), ev.ToolStarted(call_id="c1", turn=1, name="shell_run", title="make"))
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await feed(pilot, [ev.ToolProgress(call_id="c1", text="".join(f"step {n}\n" for n in range(50)))])
        shown = screen_text(app)
        assert "step 49" in shown and "step 46" not in shown and "● shell_run" in shown


async def test_it_follows_the_end_and_lets_go_when_a_person_reads() -> None:
    app = TranscriptApp(notices(100))
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        transcript = app.transcript
        assert transcript.at_end and screen_lines(app)[-1].endswith("line 100")
        await pilot.press("up")
        assert not transcript.at_end
        reading = screen_lines(app)
        await feed(pilot, notices(7, 101))
        assert screen_lines(app) == reading and transcript.unseen == 7
        await pilot.press("end")
        await pilot.pause()
        assert transcript.at_end and transcript.unseen == 0 and screen_lines(app)[-1].endswith("line 107")
        await feed(pilot, notices(1, 108))
        assert screen_lines(app)[-1].endswith("line 108")


@pytest.mark.parametrize(
    ("keys", "first"),
    [
        (["home"], "line 1"),
        (["home", "j", "j"], "line 3"),
        (["home", "down", "down", "up"], "line 2"),
        (["home", "pagedown"], "line 20"),
        (["home", "pagedown", "pageup"], "line 1"),
    ],
)
async def test_keys_move_the_view(keys: list[str], first: str) -> None:
    app = TranscriptApp(notices(100))
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        assert screen_lines(app)[0].endswith(first)


async def test_the_wheel_scrolls_and_the_scrollbar_tells_where() -> None:
    app = TranscriptApp(notices(100))
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        bottom = app.transcript.scroll_y
        app.transcript.scroll_to(y=bottom - 10, animate=False)
        await pilot.pause()
        assert not app.transcript.at_end
        assert app.transcript.vertical_scrollbar.position == app.transcript.scroll_y == bottom - 10
        app.transcript.scroll_to(y=10_000, animate=False)
        await pilot.pause()
        assert app.transcript.at_end


async def test_enter_unfolds_a_diff_then_its_context_then_folds_it() -> None:
    lines = [f" line {n}" for n in range(1, 25)]
    diff = "\n".join(["--- a/x", "+++ b/x", "@@ -1,25 +1,25 @@", *lines[:12], "-old", "+new", *lines[12:]])
    events = stored(said("", 1, call("c1", "fs_edit", path="x")), result("c1", diff=diff, name="fs_edit"))
    app = TranscriptApp(events)
    async with app.run_test(size=(80, 40)) as pilot:
        await pilot.press("left_square_bracket", "enter")
        await pilot.pause()
        shown = screen_text(app)
        assert "+ new" in shown and "line 10" in shown and "line 9\n" not in shown
        assert "18 more unchanged lines (Enter)" in shown
        await pilot.press("enter")
        await pilot.pause()
        shown = screen_text(app)
        assert all(f"line {n}" in shown for n in range(1, 25)) and "(Enter)" not in shown
        await pilot.press("enter")
        await pilot.pause()
        assert "+ new" not in screen_text(app)


async def test_select_unfold_and_copy() -> None:
    events = stored(
        ev.UserMessage(text="go"),
        said("", 1, call("c1", "fs_edit", path="x.py"), call("c2", command="ls")),
        result("c1", diff=EDIT, name="fs_edit"),
        result("c2", text="one\ntwo\n"),
    )
    app = TranscriptApp(events)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("left_square_bracket", "left_square_bracket")
        await pilot.pause()
        assert any(line.startswith("▌✓ fs_edit") for line in screen_lines(app))
        assert [message.seq for message in app.heard if isinstance(message, Transcript.Selected)] == [2, 2]
        await pilot.press("enter")
        await pilot.pause()
        shown = screen_text(app)
        assert "− a = 1" in shown and "+ a = 2" in shown and "+1 −1" in shown
        block, _ = app.transcript.at_hand()
        assert isinstance(block, Tool) and "+a = 2" in block.diff
        await pilot.press("enter", "right_square_bracket", "space")
        await pilot.pause()
        assert "+ a = 2" not in screen_text(app) and "▌  two" in screen_text(app)
        await pilot.press("z", "z")
        await pilot.pause()
        assert "two" not in screen_text(app)


async def test_enter_without_a_selection_takes_the_last_that_can_be_unfolded() -> None:
    app = TranscriptApp(stored(said("", 1, call()), result(text="inside"), ev.RunFinished(reason="finished")))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        await pilot.pause()
        assert "inside" in screen_text(app)


async def test_what_a_persons_own_command_said_is_read_at_once_and_its_beginning_on_request() -> None:
    lines = "".join(f"line {n}\n" for n in range(1, 31))
    app = TranscriptApp(stored(ev.PersonRan(command="git status", status="ok", text=lines)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        shown = screen_text(app)
        assert "line 30" in shown and "line 19" in shown and "line 18" not in shown and "18 more lines" in shown
        await pilot.press("enter", "home")
        await pilot.pause()
        assert "line 1\n" in screen_text(app)


async def test_a_pause_has_the_sign_of_one() -> None:
    app = TranscriptApp(stored(ev.Paused()))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "‖ paused" in screen_text(app)


async def test_a_click_selects_and_a_second_one_unfolds() -> None:
    app = TranscriptApp(stored(said("", 1, call()), result(text="inside")))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.click(Transcript, offset=(5, 0))
        await pilot.pause()
        assert app.transcript.reader.selected == 0 and "inside" not in screen_text(app)
        await pilot.click(Transcript, offset=(5, 0))
        await pilot.pause()
        assert "inside" in screen_text(app)


async def test_a_capped_output_asks_for_the_rest_and_shows_it() -> None:
    app = TranscriptApp(stored(said("", 1, call()), result(text="beginning", artifact="abc", truncated=True)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        await pilot.pause()
        (wanted,) = [message for message in app.heard if isinstance(message, Transcript.WantsArtifact)]
        assert (wanted.digest, wanted.call) == ("abc", (1, "c1"))
        app.transcript.show_artifact(wanted.call, "beginning\nand the end")
        await pilot.pause()
        assert "and the end" in screen_text(app)


async def test_of_several_calls_in_one_message_each_gets_its_own_rest() -> None:
    calls = said("I look.", 1, call("c1"), call("c2"))
    results = [result(id, text=f"start of {id}", artifact=id, truncated=True) for id in ("c1", "c2")]
    app = TranscriptApp(stored(calls, *results))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter", "[", "enter")
        await pilot.pause()
        wanted = {m.digest: m.call for m in app.heard if isinstance(m, Transcript.WantsArtifact)}
        assert wanted == {"c1": (1, "c1"), "c2": (1, "c2")}
        app.transcript.show_artifact(wanted["c2"], "all of c2")
        await pilot.pause()
        assert "all of c2" in screen_text(app) and "start of c1" in screen_text(app)
        app.transcript.show_artifact(wanted["c1"], "all of c1")
        await pilot.pause()
        assert "all of c2" in screen_text(app) and "all of c1" in screen_text(app)


async def test_search_marks_what_it_finds_and_walks_through_it() -> None:
    app = TranscriptApp(notices(300))
    async with app.run_test(size=(80, 20)) as pilot:
        assert app.transcript.find("LINE 12") == 11
        await pilot.press("home", "n")
        await pilot.pause()
        assert any(line.endswith("line 12") for line in screen_lines(app))
        marked = [s.text for strip in app.transcript._painter.lines for s in strip if s.style and s.style.reverse]
        assert marked == ["line 12"]
        await pilot.press("N")
        await pilot.pause()
        assert any(line.endswith("line 129") for line in screen_lines(app))
        assert app.transcript.find("") == 0


async def test_jumps_to_events_and_kinds() -> None:
    events = stored(
        *(ev.UserMessage(text=f"message {n}") for n in range(50)), said("", 1, call()), result(status="error")
    )
    app = TranscriptApp(events)
    async with app.run_test(size=(80, 20)) as pilot:
        assert app.transcript.jump_to_event(10)
        await pilot.pause()
        assert any(line.endswith("message 9") for line in screen_lines(app))
        await pilot.press("u")
        assert app.transcript.reader.selected == 10
        await pilot.press("x")
        assert app.transcript.reader.selected == 50
        assert not app.transcript.jump("error")
        assert not app.transcript.jump_to_event(0)


async def test_rewind_shows_exactly_these_events_from_their_end() -> None:
    app = TranscriptApp(notices(50))
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press("home")
        app.transcript.rewind(notices(30, 1000))
        await pilot.pause()
        assert screen_lines(app)[-1].endswith("line 1029") and app.transcript.at_end
        app.transcript.clear()
        await pilot.pause()
        assert screen_text(app).strip() == ""


async def test_what_changed_is_all_that_is_painted() -> None:
    app = TranscriptApp(stored(ev.UserMessage(text="go")))
    async with app.run_test(size=(80, 40)) as pilot:
        await feed(pilot, [delta("\n\n".join(f"paragraph {n}" for n in range(5)))])
        painted: list[int] = []
        refresh = app.transcript.refresh

        def noting(*regions: object, **how: object) -> object:
            painted.extend(region.y for region in regions)  # type: ignore[attr-defined]
            return refresh(*regions, **how)  # type: ignore[arg-type]

        app.transcript.refresh = noting  # type: ignore[method-assign, assignment]
        await feed(pilot, [delta(" goes on")])
        assert painted == [12]


async def test_out_of_sight_nothing_is_laid_out() -> None:
    app = TranscriptApp(notices(50))
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        app.transcript.display = False
        await pilot.pause()
        frames = 0
        frame = app.transcript.reader.frame

        def counting() -> object:
            nonlocal frames
            frames += 1
            return frame()

        app.transcript.reader.frame = counting  # type: ignore[method-assign, assignment]
        await feed(pilot, notices(50, 51))
        assert frames == 0
        app.transcript.display = True
        await pilot.pause()
        assert screen_lines(app)[-1].endswith("line 100")


async def test_a_new_theme_repaints_in_its_colours() -> None:
    app = TranscriptApp(stored(ev.UserMessage(text="hello")))
    async with app.run_test(size=(80, 10)) as pilot:
        await pilot.pause()
        app.register_theme(Theme("other", primary="#112233", variables={"role-you": "#ff0000"}))
        app.theme = "other"
        await pilot.pause()
        colours = {
            s.style.color.name
            for s in app.transcript._painter.lines[0]
            if s.style and s.style.color and "you" in s.text
        }
        assert colours == {"#ff0000"}


async def test_plain_signs_and_no_colour_still_say_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    class Plain(TranscriptApp):
        def compose(self):  # type: ignore[no-untyped-def]
            yield Transcript(signs=ASCII)

    events = stored(
        ev.UserMessage(text="go"),
        said("see `x`\n\n- a", 1, call(), call("c2")),
        result(status="error"),
        result("c2", diff=EDIT),
    )
    app = Plain(events)
    async with app.run_test(size=(80, 30)) as pilot:
        app.transcript.fold_all(True)
        await pilot.pause()
        shown = screen_text(app)
        assert "|you" in shown and "see `x`" in shown and "- a" in shown
        assert " x shell_run" in shown and " + shell_run" in shown and "- a = 1" in shown
        assert shown.replace("+1 −1", "").isascii()


async def test_text_selected_with_the_mouse_comes_without_bars() -> None:
    app = TranscriptApp(stored(ev.UserMessage(text="first line\nsecond line")))
    async with app.run_test(size=(80, 10)) as pilot:
        await pilot.pause()
        await pilot.mouse_down(Transcript, offset=(2, 1))
        await pilot.hover(Transcript, offset=(8, 2))
        await pilot.mouse_up(Transcript, offset=(8, 2))
        await pilot.pause()
        assert app.screen.get_selected_text() == "first line\nsecond"
