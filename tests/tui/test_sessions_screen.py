"""The list of sessions over a real log, and its lines by themselves."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from engine import events as ev
from engine.queries import ListSessions, SessionRow
from tests.tui.replay_kit import browser, home_of, store, store_demo
from tui import slots
from tui.look import Look
from tui.replay_app import ReplayApp
from tui.screens.sessions import SessionsScreen
from tui.widgets.session_lines import columns, heading_line, session_line, snippet_line, when

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
BRACKETS = "ZLEXCOUNT z [b + and [/ \x1b[2J"


def row(**given: Any) -> SessionRow:
    data: dict[str, Any] = dict(
        id="x", title="Fix the login test", folder="/src/shop", model="anthropic/claude-x", started=NOW, updated=NOW,
        turns=7, calls=14, cost=0.21, state="finished",
    )  # fmt: skip
    return SessionRow(**(data | given))


def small(title: str, cwd: str = "/src/shop") -> list[ev.Event]:
    return [ev.SessionStarted(cwd=cwd, model="m/model", app_version="1"), ev.UserMessage(text=title)]


# --- lines ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [5, 20, 55, 56, 80, 99, 100, 120, 160, 200])
@pytest.mark.parametrize("title", ["", "short", "long " * 80, BRACKETS, "你好世界" * 40])
def test_a_line_is_never_wider_than_the_screen_and_its_columns_stand_under_their_names(width: int, title: str) -> None:
    line = session_line(row(title=title, skipped=3, open_elsewhere=True), width, Look(), NOW)
    assert line.cell_len <= width
    assert "\x1b" not in line.plain
    names = heading_line(width, Look()).plain
    if width >= 56 and cell_len(line.plain) == len(line.plain):
        assert line.plain[names.index("state") :].startswith("● open elsewhere")


def test_more_room_shows_more() -> None:
    assert [len(columns(width)) for width in (30, 80, 120, 200)] == [1, 3, 6, 7]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("running", "● running"), ("finished", "✓ finished"), ("failed", "✗ failed"), ("no_model", "✗ no model"),
        ("limit", "‖ at a limit"), ("interrupted", "‖ interrupted"), ("denied", "‖ denied"), ("open", "· not started"),
    ],
)  # fmt: skip
def test_each_state_has_a_sign_and_a_word(state: str, words: str) -> None:
    assert words in session_line(row(state=state), 120, Look(), NOW).plain


def test_what_is_unusual_is_said() -> None:
    line = session_line(row(skipped=3, open_elsewhere=True), 120, Look(), NOW).plain
    assert "open elsewhere" in line and "3 damaged rows" in line


def test_times_are_as_near_as_they_are() -> None:
    def ago(days: float) -> str:
        return when(NOW - timedelta(days=days), NOW)

    assert ago(0) == NOW.astimezone().strftime("%H:%M")
    assert ago(2) == (NOW - timedelta(days=2)).astimezone().strftime("%a")
    assert ago(40) == "21 Oct"
    assert ago(400) == "Oct 25"
    assert when(NOW + timedelta(days=3), NOW) == "3 Dec"


def test_what_was_found_stands_out() -> None:
    line = snippet_line("…the Parser reads…", "parser", 60, Look())
    assert any(line.plain[s.start : s.end] == "Parser" for s in line.spans)


# --- the screen -------------------------------------------------------------------------------------------------------


async def test_the_newest_comes_first_with_all_that_is_known(tmp_path: Path) -> None:
    store(tmp_path, small("An older one"))
    store_demo(tmp_path)
    async with browser(tmp_path) as replay:
        await replay.until(lambda: "An older one" in replay.text(), "the list")
        text = replay.text()
        assert text.index("Fix the login test") < text.index("An older one")
        line = next(line for line in text.splitlines() if "Fix the login test" in line)
        for word in ("shop", "claude-x", " 4 ", "$0.04", "interrupted"):
            assert word in line
        assert "2 sessions" in text.splitlines()[0]


async def test_search_as_you_type_looks_into_what_was_said_and_shows_where(tmp_path: Path) -> None:
    store_demo(tmp_path)
    store(tmp_path, [*small("Something else"), ev.UserMessage(text="the quixotic plan")])
    async with browser(tmp_path) as replay:
        await replay.until(lambda: "Fix the login" in replay.text(), "the list")
        await replay.press("slash", *"quixotic")
        await replay.until(lambda: "Fix the login" not in replay.text(), "fewer")
        assert "the quixotic plan" in replay.text()
        await replay.press("escape")
        await replay.until(lambda: "Fix the login" in replay.text(), "all again")


async def test_enter_while_searching_plays_what_was_found(tmp_path: Path) -> None:
    store_demo(tmp_path)
    store(tmp_path, small("Something else"))
    async with browser(tmp_path) as replay:
        await replay.until(lambda: "Fix the login" in replay.text(), "the list")
        await replay.press("slash", *"login")
        await replay.until(lambda: "Something else" not in replay.text(), "one")
        await replay.press("enter")
        await replay.until(lambda: replay.player is not None, "the player")


async def test_only_this_folder_and_all_again(tmp_path: Path) -> None:
    store(tmp_path, small("Here", cwd=str(tmp_path)))
    store(tmp_path, small("Somewhere else"))
    async with browser(tmp_path) as replay:
        await replay.until(lambda: "Somewhere else" in replay.text(), "both")
        await replay.press("f")
        await replay.until(lambda: "Somewhere else" not in replay.text(), "one")
        assert "Here" in replay.text()
        await replay.press("f")
        await replay.until(lambda: "Somewhere else" in replay.text(), "both again")


async def test_without_sessions_it_says_what_to_do(tmp_path: Path) -> None:
    async with browser(tmp_path) as replay:
        await replay.until(lambda: "No session is stored yet" in replay.text(), "words")
        assert "agent-tui demo" in replay.text()
        await replay.press("enter", "o", "down", "end")
        assert replay.app.is_running


async def test_nothing_found_says_for_what(tmp_path: Path) -> None:
    store_demo(tmp_path)
    async with browser(tmp_path) as replay:
        await replay.until(lambda: "Fix the login" in replay.text(), "the list")
        await replay.press("slash", *"[/b")
        await replay.until(lambda: "No session has: [/b" in replay.text(), "words")


async def test_damage_is_counted_and_does_not_hide_the_rest(tmp_path: Path) -> None:
    id = store_demo(tmp_path)
    with sqlite3.connect(home_of(tmp_path).database) as db:
        db.execute("UPDATE events SET body='{' WHERE type='notice' OR type='todo_changed'")
        db.execute("DELETE FROM sessions")
    async with browser(tmp_path) as replay:
        await replay.until(lambda: "1 damaged row" in replay.text(), "the count")
        await replay.press("enter")
        player = await replay.playing()
        await replay.until(lambda: "1 damaged row skipped" in replay.text().splitlines()[0], "the count in the player")
        assert player.projector is not None and player.projector.film.id == id


async def test_a_log_that_cannot_be_read_is_said_in_words(tmp_path: Path) -> None:
    store_demo(tmp_path)
    home_of(tmp_path).database.write_bytes(b"not a database at all" * 400)
    async with browser(tmp_path) as replay:
        await replay.until(lambda: "cannot be read" in replay.text(), "words")
        assert replay.app.is_running


async def test_hostile_titles_are_shown_as_they_are(tmp_path: Path) -> None:
    store(tmp_path, small(BRACKETS))
    async with browser(tmp_path) as replay:
        await replay.until(lambda: "ZLEXCOUNT z [b + and [/" in replay.text(), "the title")
        assert "\x1b" not in replay.text()


async def test_one_open_elsewhere_can_be_played_but_not_continued(tmp_path: Path) -> None:
    rows = (row(open_elsewhere=True, state="running"),)
    async with listing(tmp_path, rows) as replay:
        await replay.until(lambda: "open elsewhere" in replay.text(), "the row")
        await replay.press("o")
        await replay.until(lambda: "can be played" in replay.text(), "words")
        assert isinstance(replay.app.screen, SessionsScreen)


async def test_thousands_of_rows_cost_what_a_screenful_costs(tmp_path: Path) -> None:
    rows = tuple(row(id=str(n), title=f"session {n}") for n in range(5_000))
    async with listing(tmp_path, rows) as replay:
        await replay.until(lambda: "session 0" in replay.text(), "the first")
        drawn: list[int] = []
        screen = replay.sessions
        original = screen.list.line

        def counted(index: int, part: int, width: int) -> Any:
            drawn.append(index)
            return original(index, part, width)

        screen.list.line = counted  # type: ignore[method-assign]
        await replay.press("end")
        await replay.until(lambda: "session 4999" in replay.text(), "the last")
        drawn.clear()
        screen.list.refresh()
        await replay.pilot.pause()
        assert 0 < len(drawn) <= 3 * replay.app.size.height
        assert "the newest 5,000" in replay.text().splitlines()[0]


async def test_an_answer_to_an_older_question_is_never_shown(tmp_path: Path) -> None:
    slow = asyncio.Event()
    late: list[str] = []

    class Slow(ReplayApp):
        async def ask(self, query: Any) -> Any:
            if query.text != "slow":
                return (row(title=f"found {query.text}"),)
            await slow.wait()
            late.append("answered")
            return (row(title="too late"),)

    async with browser(tmp_path, app=Slow) as replay:
        await replay.until(lambda: "found" in replay.text(), "the list")
        screen = replay.sessions
        for words in ("slow", "quick"):
            screen.input.value = words
            screen.read()
        await replay.until(lambda: "found quick" in replay.text(), "the answer to the last question")
        slow.set()
        await replay.until(lambda: late, "the other answer")
        await replay.pilot.pause()
        assert "found quick" in replay.text() and "too late" not in replay.text()


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (80, 24), (120, 40), (200, 60)])
async def test_every_size_works(tmp_path: Path, size: tuple[int, int]) -> None:
    for n in range(30):
        store(tmp_path, small(f"Session number {n}"))
    async with browser(tmp_path, size=size) as replay:
        await replay.until(lambda: replay.sessions.list.rows, "rows")
        await replay.press("down", "end", "pageup", "home", "slash", *"number 1", "down", "escape")
        await replay.pilot.resize_terminal(31, 7)
        await replay.pilot.pause()
        await replay.pilot.resize_terminal(*size)
        await replay.pilot.pause()
        assert all(cell_len(line) <= size[0] for line in replay.text().splitlines())


def listing(root: Path, rows: Sequence[SessionRow]) -> Any:
    """The browser with answers of our own to the list."""

    class Answering(ReplayApp):
        async def ask(self, query: Any) -> Any:
            if isinstance(query, ListSessions):
                return tuple(rows)
            return await super().ask(query)

    return browser(root, app=Answering)


class Opening(ReplayApp):
    """The list as the workbench shows it."""

    def _begin(self) -> None:
        self.link.start(None)
        self.push_screen(slots.sessions(self.ask, "", "open"), lambda chosen: self.exit(chosen or ""))


@pytest.mark.parametrize("keys", [["enter"], ["o"], ["p", "o"], ["p", "escape", "enter"]])
async def test_in_the_workbench_enter_goes_on_and_p_plays(tmp_path: Path, keys: list[str]) -> None:
    id = store_demo(tmp_path)
    async with browser(tmp_path, app=Opening) as replay:
        await replay.until(lambda: "Fix the login" in replay.text(), "the list")
        for key in keys:
            await replay.press(key)
            await replay.until(lambda: not replay.player or replay.player.projector, "the player is ready")
        await replay.until(lambda: replay.app.return_value is not None, "it ends")
    assert replay.app.return_value == id
