"""The player over a real log and a real engine: every key, every size, and what is on the screen."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from engine import events as ev
from engine.log import LogStore
from engine.state import fold
from tests.tui.replay_kit import (
    Browser,
    browser,
    call,
    demo_events,
    home_of,
    long_session,
    result,
    said,
    store,
    store_demo,
)
from tui.cli.replay import _named
from tui.replay.film import WINDOW
from tui.signs import Signs


async def at(replay: Browser, position: int) -> None:
    """Wait until the player stands there and shows it."""
    player = await replay.playing()
    assert player.projector is not None
    assert player.projector.position == position
    await replay.until(lambda: player.projector and player.projector.settled, "the transcript follows")
    await replay.pilot.pause()


async def test_it_opens_paused_at_the_task(tmp_path: Path) -> None:
    async with browser(tmp_path, store_demo(tmp_path)) as replay:
        await at(replay, 2)
        text = replay.text()
        assert "Fix the login test" in text
        assert "I run the tests first" not in text
        assert "event  2 / 25" in text
        player = await replay.playing()
        assert not player.playing


async def test_the_header_says_what_it_was(tmp_path: Path) -> None:
    async with browser(tmp_path, store_demo(tmp_path), size=(160, 40)) as replay:
        await replay.until(lambda: "3 calls" in replay.text(), "the facts")
        head = replay.text().splitlines()[0]
        for words in ("Fix the login test", "4 turns", "3 calls", "2 approvals", "$0.04", "1×", "turn 0 / 4"):
            assert words in head


KEYS = [
    ("right", 3), ("right right left", 3), ("left left left left", 0), ("end", 25), ("end right", 25), ("end home", 0),
    ("n", 12), ("n n", 20), ("n n N", 12), ("x", 7), ("x x", 21), ("end X", 21), ("u", 15), ("u U", 2),
    ("shift+right", 4), ("full_stop full_stop", 9), ("end shift+left", 23), ("end comma", 23),
    ("1", 2), ("5", 12), ("9", 22),
]  # fmt: skip


async def test_keys_go_where_they_say_and_the_panes_with_them(tmp_path: Path) -> None:
    async with browser(tmp_path, store_demo(tmp_path)) as replay:
        await at(replay, 2)
        player = await replay.playing()
        for keys, position in KEYS:
            player.go_to(2)
            await replay.press(*keys.split())
            assert player.projector is not None and player.projector.position == position, keys
            state = fold(demo_events()[:position])
            shown = player.panes[0].state
            assert shown is not None and (shown.stage, shown.turn) == (state.stage, state.turn), keys


async def test_a_jump_to_nowhere_is_said_and_stays(tmp_path: Path) -> None:
    async with browser(tmp_path, store_demo(tmp_path)) as replay:
        await at(replay, 2)
        await replay.press("N")
        await replay.until(lambda: "There is no approval before this" in replay.text(), "words")
        await at(replay, 2)


async def test_the_panes_are_as_of_the_cursor(tmp_path: Path) -> None:
    async with browser(tmp_path, store_demo(tmp_path), size=(120, 50)) as replay:
        await at(replay, 2)
        assert "nothing planned yet" in replay.text() and "no file touched yet" in replay.text()
        await replay.press("n", "n")
        await at(replay, 20)
        text = replay.text()
        for words in ("mend it", "wrote  x.py", "waiting for you", "1 waits", "once"):
            assert words in text
        await replay.press("N")
        await at(replay, 12)
        text = replay.text()
        assert "no file touched yet" in text and "git push" not in text


async def test_what_was_refused_and_cut_off_is_shown_as_that(tmp_path: Path) -> None:
    async with browser(tmp_path, store_demo(tmp_path)) as replay:
        await at(replay, 2)
        await replay.press("end")
        await at(replay, 25)
        text = replay.text()
        for words in ("denied", "not today", "(aborted)", "interrupted", "compacted"):
            assert words in text


async def test_the_line_has_a_mark_for_each_kind_and_says_what_it_means(tmp_path: Path) -> None:
    async with browser(tmp_path, store_demo(tmp_path)) as replay:
        await at(replay, 2)
        text = replay.text()
        for meaning in ("u you", "c calls", "a approval", "! denied", "✗ error", "‖ stopped", "K compaction"):
            assert meaning in text
        player = await replay.playing()
        rail = text.splitlines()[player.timeline.region.y]
        assert all(mark in rail for mark in "uca!✗‖K")


async def test_a_click_on_the_line_goes_there(tmp_path: Path) -> None:
    async with browser(tmp_path, store_demo(tmp_path)) as replay:
        await at(replay, 2)
        await replay.pilot.click("#timeline", offset=(117, 0))
        await at(replay, 25)
        await replay.pilot.click("#timeline", offset=(2, 0))
        await at(replay, 1)


# --- playing ----------------------------------------------------------------------------------------------------------


async def test_playing_streams_the_answer_and_ends_with_what_was_stored(tmp_path: Path) -> None:
    async with browser(tmp_path, store_demo(tmp_path)) as replay:
        await at(replay, 2)
        player = await replay.playing()
        for _ in range(200):
            player.advance(0.05)
            await replay.pilot.pause()
            if "I run the te" in replay.text():
                break
        assert player.projector is not None and player.projector.position == 4
        assert "I run the tests first..." not in replay.text()
        player.advance(2)
        await replay.pilot.pause()
        assert replay.text().count("I run the tests first...") >= 1
        while not player.projector.at_end:
            player.advance(0.5)
        played = list(player.transcript.reader.blocks)
        player.transcript.rewind(player.projector.film.events)
        assert [b for b in played if type(b).__name__ != "Gone"] == list(player.transcript.reader.blocks)


async def test_space_plays_to_the_end_and_pauses_there(tmp_path: Path) -> None:
    async with browser(tmp_path, store_demo(tmp_path)) as replay:
        await at(replay, 2)
        player = await replay.playing()
        await replay.press("space")
        assert player.playing
        await replay.press("space")
        assert not player.playing
        await replay.press("plus", "plus", "plus", "plus", "plus")
        assert player.speed == 32
        await replay.press("space")
        await replay.until(lambda: player.projector and player.projector.at_end, "the end")
        assert not player.playing
        assert "event 25 / 25" in replay.text()
        await replay.press("minus", "minus", "minus", "minus", "space")
        assert player.playing and player.projector and not player.projector.at_end


async def test_waiting_left_out_is_said(tmp_path: Path) -> None:
    async with browser(tmp_path, exported(tmp_path, [0, 0, 0, 0, 0, 180, 181])) as replay:
        player = await replay.playing()
        await replay.press("right", "right", "right", "space")
        player.advance(0.001)
        await replay.until(lambda: "2:58 of waiting left out" in replay.text(), "words")


def exported(root: Path, seconds: list[float]) -> str:
    from tests.tui.replay_kit import timed

    path = root / "session.jsonl"
    events = timed(demo_events()[: len(seconds)], seconds)
    path.write_text("".join(event.model_dump_json() + "\n" for event in events))
    return str(path)


# --- long, damaged, hostile, empty ------------------------------------------------------------------------------------


async def test_a_long_session_is_quick_to_jump_in_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    events = long_session(1_200)
    path = tmp_path / "long.jsonl"
    path.write_text("".join(e.model_copy(update={"session": "s"}).model_dump_json() + "\n" for e in events))
    async with browser(tmp_path, str(path)) as replay:
        player = await replay.playing()
        await replay.until(lambda: player._facts is not None, "all is folded")
        await replay.press("end")
        await at(replay, len(events))
        assert len(player.transcript.reader.blocks) < 2 * WINDOW
        player.transcript.action_go_to_start()
        await replay.pilot.pause()
        assert "earlier events not drawn here" in replay.text()
        assert "step 1200" not in replay.text()
        await replay.press("5", "N")
        await at(replay, max(p for p in player.projector.film.moments.goals["approval"] if p < 2406))  # type: ignore[union-attr]


async def test_escape_sequences_of_stored_output_are_text(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    hostile = "\x1b[?1049h\x1b[?1003h\x1b]0;owned\x07\x1b[2J a [/] [bold"
    events = [
        ev.SessionStarted(cwd="/x", model="m/m", app_version="1"),
        ev.UserMessage(text=f"task {hostile}"),
        said(1, f"answer {hostile}", call("c1", f"tool{hostile}", path=hostile)),
        ev.ToolStarted(call_id="c1", turn=1, name=f"tool{hostile}", title=hostile),
        result("c1", 1, text=hostile, summary=hostile, files_written=(hostile,)),
        ev.ModelFailed(turn=1, error=hostile),
        ev.RunFinished(reason="failed", detail=hostile),
    ]
    async with browser(tmp_path, store(tmp_path, events), size=(120, 50)) as replay:
        await replay.playing()
        for _ in events:
            await replay.press("right")
            assert "\x1b" not in replay.text() and "\x07" not in replay.text()
        await replay.press("end")
        await at(replay, len(events))
        assert "a [/] [bold" in replay.text()
    out = capfd.readouterr().out
    assert "1003h" not in out and "owned" not in out
    assert sys.stdout is not None


async def test_a_session_nobody_said_anything_in(tmp_path: Path) -> None:
    id = store(tmp_path, [ev.SessionStarted(cwd="/x", model="m/m", app_version="1")])
    async with browser(tmp_path, id) as replay:
        await at(replay, 1)
        await replay.until(lambda: "session without a title" in replay.text(), "a name")
        await replay.press("space", "left", "right", "n", "end", "home")
        assert replay.app.is_running


async def test_an_unknown_session_is_said_in_words(tmp_path: Path) -> None:
    store_demo(tmp_path)
    async with browser(tmp_path, "nope") as replay:
        await replay.until(lambda: "There is no session nope" in replay.text(), "words")
        assert "agent-tui sessions list" in replay.text()
        await replay.press("space", "n", "left", "5", "plus", "tab", "end")
        await replay.press("escape")
        await replay.until(lambda: replay.app.return_value is not None, "back")


async def test_an_exported_file_is_played_as_it_is(tmp_path: Path) -> None:
    id = store_demo(tmp_path)
    path = tmp_path / "export.jsonl"
    with path.open("w") as file:
        LogStore(home_of(tmp_path)).export(id, file.write)
        file.write("{not json\n")
    async with browser(tmp_path, _named(str(path))) as replay:
        await at(replay, 2)
        await replay.until(lambda: "1 damaged row skipped" in replay.text(), "the bad line is counted")
        await replay.press("o")
        await replay.until(lambda: "take it over first" in replay.text(), "how to go on")


@pytest.mark.parametrize("content", [b"", b"\x00\x01 nonsense \xff", b'{"type": "other"}\n'])
async def test_a_file_that_is_no_session_is_said_in_words(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "export.jsonl"
    path.write_bytes(content)
    async with browser(tmp_path, str(path)) as replay:
        await replay.until(lambda: "There is no event in" in replay.text(), "words")


# --- places and sizes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (80, 24), (120, 40), (200, 60)])
async def test_every_size_works(tmp_path: Path, size: tuple[int, int]) -> None:
    async with browser(tmp_path, store_demo(tmp_path), size=size) as replay:
        await at(replay, 2)
        await replay.press("n", "tab", "left", "tab", "end", "5")
        await replay.pilot.resize_terminal(33, 8)
        await replay.pilot.pause()
        await replay.pilot.resize_terminal(*size)
        await replay.pilot.pause()
        assert all(cell_len(line) <= size[0] for line in replay.text().splitlines())


async def test_narrow_screens_show_the_panes_on_tab(tmp_path: Path) -> None:
    async with browser(tmp_path, store_demo(tmp_path), size=(80, 24)) as replay:
        await at(replay, 2)
        assert "CACHE" not in replay.text()
        await replay.press("tab")
        await replay.until(lambda: "CACHE" in replay.text(), "the panes")
        await replay.press("tab")
        await replay.until(lambda: "CACHE" not in replay.text(), "the transcript")


async def test_a_picture_is_not_looked_for_in_a_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr("tui.theming.signs_for", lambda env: Signs())
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("NO_COLOR", raising=False)
    read = result("c1", 1, name="fs_read", files_read=("a.png",), items=({"path": "a.png", "kind": "image"},))
    events = [
        ev.SessionStarted(cwd="/src", model="m", app_version="1"),
        said(1, "", call("c1", "fs_read", path="a.png")),
    ]
    async with browser(tmp_path, store(tmp_path, [*events, read])) as replay:
        await replay.playing()
        await replay.pilot.press("end", "left_square_bracket", "enter")
        await replay.until(lambda: "a replay holds what was said" in replay.text(), "the words")


async def test_all_keys_are_listed(tmp_path: Path) -> None:
    async with browser(tmp_path, store_demo(tmp_path), size=(100, 80)) as replay:
        await at(replay, 2)
        await replay.press("question_mark")
        await replay.until(lambda: "To the next approval" in replay.text(), "the page")
        for words in ("Play, or pause", "Space", "Shift+Right, .", "To 9 tenths", "Page down"):
            assert words in replay.text()


async def test_another_theme_is_put_on_everything(tmp_path: Path) -> None:
    async with browser(tmp_path, store_demo(tmp_path)) as replay:
        await at(replay, 2)
        replay.app.theme = "daybook"
        await replay.pilot.pause()
        player = await replay.playing()
        assert player.timeline.look == replay.app.look
        assert all(pane.look == replay.app.look for pane in player.panes)
