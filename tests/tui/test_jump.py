"""Jump mode: letters on everything in sight, on every screen; typing them goes there, Esc leaves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from textual import events

from tests.tui.bench import Bench, workbench
from tests.tui.story_kit import FOLDER, StoryHandle, beginning, end, middle
from tui.jump.labels import LETTERS, MOST, labels
from tui.jump.screen import JumpScreen, Labelled
from tui.jump.targets import Target, targets


@pytest.mark.parametrize("count", [0, 1, 26, 27, 51, 52, 200, 675, 676, 900])
def test_labels_are_each_ones_own_and_none_begins_another(count: int) -> None:
    made = labels(count)
    assert len(made) == len(set(made)) == min(count, MOST)
    assert not [(a, b) for a in made for b in made if a != b and b.startswith(a)]
    assert max(map(len, made), default=0) == (0 if not count else 1 if count <= len(LETTERS) else 2)


async def jumping(bench: Bench) -> dict[str, Target]:
    """Into jump mode; the labels and what they are on."""
    await bench.pilot.press("f7")
    await bench.until(lambda: isinstance(bench.app.screen, JumpScreen), "jump mode")
    return bench.app.screen.query_one(Labelled).labelled


def on_line(labelled: dict[str, Target], screen: str, words: str) -> str:
    """The first label on the line that shows ``words``."""
    y = next(n for n, line in enumerate(screen.splitlines()) if words in line)
    return min((t.x, label) for label, t in labelled.items() if t.y == y)[1]


def at(labelled: dict[str, Target], screen: str, words: str) -> str:
    """The label on ``words``, or on the cell before them."""
    y, line = next((n, line) for n, line in enumerate(screen.splitlines()) if words in line)
    x = line.index(words)
    return next(label for label, t in labelled.items() if t.y == y and t.x in (x, x - 1))


async def story(bench: Bench) -> None:
    await bench.until(lambda: bench.app.bench.transcript, "the transcript")
    bench.engine.tell(*middle())
    await bench.settled()
    await bench.until(lambda: "keep the old name" in bench.screen_text(), "the story")


def kit(tmp_path: Path, size: tuple[int, int]) -> Any:
    from engine.options import EngineOptions

    options = EngineOptions(cwd=FOLDER)
    return workbench(tmp_path, size=size, real=True, engine=StoryHandle(beginning()), options=options)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (20, 5)])
async def test_every_letter_is_where_its_thing_is_and_esc_leaves(tmp_path: Path, size: tuple[int, int]) -> None:
    async with kit(tmp_path, size) as bench:
        await story(bench) if size[0] > 20 else await bench.pilot.pause()
        before = bench.screen_text()
        labelled = await jumping(bench)
        assert labelled
        lines = bench.screen_text().splitlines()
        assert len(lines) == len(before.splitlines()) or size[0] == 20
        for label, target in labelled.items():
            assert lines[target.y][target.x :].startswith(label)
        await bench.pilot.press("escape")
        await bench.until(lambda: bench.app.screen is bench.app.bench, "out")
        assert without_clock(bench.screen_text()) == without_clock(before)
        assert bench.app.bench._focus_name() == "composer"


def without_clock(screen: str) -> str:
    """How long a call has been running goes on."""
    return re.sub(r"\d+ s\b", "", screen)


async def test_a_letter_goes_to_a_pane_a_block_and_a_button(tmp_path: Path) -> None:
    async with kit(tmp_path, (120, 40)) as bench:
        await story(bench)
        shown = bench.screen_text()
        label = at(await jumping(bench), shown, "CACHE")
        await bench.pilot.press(*label)
        await bench.until(lambda: "▌CACHE" in bench.screen_text(), "in the pane")
        shown = bench.screen_text()
        label = on_line(await jumping(bench), shown, "▍")
        await bench.pilot.press(*label)
        await bench.until(lambda: bench.app.bench.transcript.has_focus, "in the transcript")
        assert bench.app.bench.transcript.reader.chosen() is not None
        shown = bench.screen_text()
        label = at(await jumping(bench), shown, "F1 help")
        await bench.pilot.press(*label)
        await bench.until(lambda: "Talk to the agent" in bench.screen_text(), "help")


async def test_a_tab_is_a_button_too(tmp_path: Path) -> None:
    async with kit(tmp_path, (80, 24)) as bench:
        await story(bench)
        shown = bench.screen_text()
        await bench.pilot.press(*at(await jumping(bench), shown, "4 cache"))
        await bench.until(lambda: bench.app.bench._focus_name() == "cache", "the cache")


@pytest.mark.parametrize(
    ("key", "sees"), [("ctrl+o", "Port the importer"), ("f5", "prefers [short] answers"), ("f2", "request")]
)
async def test_on_other_screens_a_letter_chooses_a_row(tmp_path: Path, key: str, sees: str) -> None:
    async with kit(tmp_path, (80, 24)) as bench:
        await bench.until(lambda: bench.app.bench.transcript, "the transcript")
        bench.engine.tell(*end())
        await bench.settled()
        await bench.pilot.press(key)
        await bench.until(lambda: sees in bench.screen_text(), "the screen")
        screen = bench.app.screen
        labelled = await jumping(bench)
        assert len(labelled) >= 2
        (rows,) = [w for w in screen.walk_children() if hasattr(w, "jump_places") and w.display][:1]
        x, y = rows.content_region.offset
        y += rows.jump_places()[-1][0]
        label = next(name for name, target in labelled.items() if (target.x, target.y) == (x, y))
        await bench.pilot.press(*label)
        await bench.until(lambda: bench.app.screen is screen and rows.has_focus, "back on it")
        assert rows.index == len(rows.jump_places()) - 1


async def test_two_letters_narrow_down_and_others_do_nothing(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        went: list[int] = []
        found = [Target(n % 100, n // 100, lambda n=n: went.append(n)) for n in range(0, 2400, 60)]
        bench.app.push_screen(JumpScreen(bench.app.screen, found), lambda target: target and target.go())
        await bench.until(lambda: isinstance(bench.app.screen, JumpScreen), "jump mode")
        double = next(label for label in labels(40) if len(label) == 2)
        await bench.pilot.press(double[0])
        picture = bench.app.screen.query_one(Labelled)
        assert picture.typed == double[0]
        await bench.pilot.press("backspace")
        assert picture.typed == ""
        await bench.pilot.press(double[0], double[1])
        await bench.until(lambda: went, "there")
        assert went == [labels(40).index(double) * 60]


async def test_keys_that_come_together_leave_once(tmp_path: Path) -> None:
    async with kit(tmp_path, (120, 40)) as bench:
        await story(bench)
        await jumping(bench)
        for key in ("escape", "escape", "a", "1"):
            bench.app.screen.post_message(events.Key(key, key if len(key) == 1 else None))
        await bench.until(lambda: bench.app.screen is bench.app.bench, "out")
        assert bench.app._exception is None


async def test_a_resize_ends_it(tmp_path: Path) -> None:
    async with kit(tmp_path, (120, 40)) as bench:
        await story(bench)
        await jumping(bench)
        await bench.pilot.resize_terminal(80, 24)
        await bench.until(lambda: bench.app.screen is bench.app.bench, "out")


async def test_a_request_can_not_be_answered_by_jumping(tmp_path: Path) -> None:
    from tests.tui.test_app_approvals import request

    async with kit(tmp_path, (120, 40)) as bench:
        await story(bench)
        bench.engine.tell(request("a9"))
        await bench.until(lambda: type(bench.app.screen).__name__ == "ApprovalDialog", "the dialog")
        assert targets(bench.app.screen) == []
        await bench.pilot.press("f7")
        await bench.pilot.pause()
        assert type(bench.app.screen).__name__ == "ApprovalDialog"
