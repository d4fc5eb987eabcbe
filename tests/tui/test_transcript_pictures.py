"""A call that read a picture: folded a line, unfolded the picture in half blocks, or words where there can be none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.color import Color
from textual.pilot import Pilot

from engine import events as ev
from engine.queries import PictureShown, ShowPicture
from tests.tui.bench import workbench
from tests.tui.transcript_kit import TranscriptApp, call, result, said, screen_lines, screen_text, stored
from tui.signs import ASCII, Signs
from tui.transcript.kinds import Tool
from tui.transcript.look import Look
from tui.transcript.pictures import picture_strips, room_for
from tui.transcript.view import Transcript

SIZES = pytest.mark.parametrize("size", [(80, 24), (200, 60)])
SUMMARY = "PNG image, 640 × 480 pixels, 12.3 kB"


@pytest.fixture(autouse=True)
def _colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


def read_a_picture(path: str = "plot.png", **more: object) -> list[Any]:
    facts = {"name": "fs_read", "text": f"[{SUMMARY}. Images cannot be shown to you here.]", "summary": SUMMARY}
    items = ({"path": path, "kind": "image"},)
    return [said("", 1, call(name="fs_read", path=path)), result(**facts, items=items, files_read=(path,), **more)]


def picture(width: int, height: int, pixel: bytes = b"\xff\x00\x00\xff") -> PictureShown:
    return PictureShown("PNG", width, height, 640, 480, 12_345, pixel * (width * height))


def wanted(app: PictureApp) -> Any:
    (one,) = app.wanted
    return one


class PictureApp(TranscriptApp):
    """Keeps what is asked for."""

    def __init__(self, signs: Signs | None = None) -> None:
        super().__init__(stored(*read_a_picture()))
        self.wanted: list[Any] = []
        self._with = signs or Signs()

    def compose(self) -> Any:
        yield Transcript(signs=self._with)

    def on_transcript_wants_picture(self, message: Any) -> None:
        self.wanted.append(message)


def words_of(app: PictureApp) -> str:
    """What the screen says, without the marks at its edge."""
    return " ".join(" ".join(line.lstrip("▌>") for line in screen_lines(app)).split())


async def unfold(pilot: Pilot[Any]) -> None:
    await pilot.press("enter")
    await pilot.pause()


@SIZES
async def test_unfolding_shows_half_blocks_and_folding_hides_them(size: tuple[int, int]) -> None:
    app = PictureApp()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert not app.wanted, "nothing is decoded before somebody unfolds it"
        await unfold(pilot)
        asked = wanted(app)
        assert asked.path == "plot.png" and asked.columns <= size[0] and asked.rows < min(size[1], 41)
        assert "reading the picture" in screen_text(app)
        app.transcript.show_artifact(asked.call, picture(asked.columns, 8))
        await pilot.pause()
        blocks = [line for line in screen_lines(app) if "▀" in line]
        assert [line.strip("▌ ") for line in blocks] == ["▀" * asked.columns] * 4
        assert "PNG, 640 × 480 pixels" in screen_text(app) and "cannot be shown" not in screen_text(app)
        await unfold(pilot)
        assert "▀" not in screen_text(app) and len(app.wanted) == 1
        await unfold(pilot)
        assert len(app.wanted) == 2, "the file may be another by now"


async def test_a_picture_is_seen_whole_with_its_call_whatever_comes_below_it() -> None:
    app = PictureApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.feed([ev.Notice(seq=n, level="info", text=f"line {n}") for n in range(10, 40)])
        await pilot.press("home", "]", "enter")
        await pilot.pause()
        asked = wanted(app)
        app.transcript.show_artifact(asked.call, picture(asked.columns, 2 * asked.rows))
        await pilot.pause()
        lines = [line.lstrip("▌ ") for line in screen_lines(app)]
        assert sum("▀" in line for line in lines) == asked.rows
        assert any("fs_read" in line for line in lines) and any("as the file is now" in line for line in lines)


async def test_a_picture_does_not_call_back_a_person_who_went_on() -> None:
    app = PictureApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.feed([ev.Notice(seq=n, level="info", text=f"line {n}") for n in range(10, 90)])
        await pilot.press("home", "]", "enter", "end")
        await pilot.pause()
        before = screen_lines(app)
        app.transcript.show_artifact(wanted(app).call, picture(40, 40))
        await pilot.pause()
        assert screen_lines(app)[-5:] == before[-5:] and "▀" not in screen_text(app)


async def test_an_answer_that_comes_after_folding_is_not_kept() -> None:
    app = PictureApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await unfold(pilot)
        await unfold(pilot)
        app.transcript.show_artifact(app.wanted[0].call, picture(4, 4))
        await unfold(pilot)
        assert "reading the picture" in screen_text(app) and len(app.wanted) == 2


async def test_when_all_is_unfolded_a_picture_waits_for_enter() -> None:
    app = PictureApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.transcript.fold_all(True)
        await pilot.pause()
        assert "the picture (Enter)" in screen_text(app) and not app.wanted
        await unfold(pilot)
        assert len(app.wanted) == 1


async def test_in_a_narrower_view_the_picture_still_fits() -> None:
    app = PictureApp()
    async with app.run_test(size=(120, 40)) as pilot:
        await unfold(pilot)
        app.transcript.show_artifact(wanted(app).call, picture(100, 60))
        await pilot.resize_terminal(60, 40)
        await pilot.pause()
        blocks = [line.strip() for line in screen_lines(app) if "▀" in line]
        assert len(blocks) in (16, 17) and all(50 < len(line) < 60 for line in blocks)


async def test_why_there_is_no_picture_is_said_in_words() -> None:
    app = PictureApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await unfold(pilot)
        app.transcript.show_artifact(wanted(app).call, PictureShown(error="plot.png does not exist [b]"))
        await pilot.pause()
        shown = words_of(app)
        assert SUMMARY in shown and "it cannot be shown: plot.png does not exist [b]" in shown


@pytest.mark.parametrize(
    ("environ", "signs", "why"),
    [
        ({"NO_COLOR": "1"}, Signs(), "colours are turned off here"),
        ({"TERM": "xterm", "COLORTERM": ""}, Signs(), "this terminal has too few colours"),
        ({"TERM": "dumb"}, Signs(), "this terminal has too few colours"),
        ({}, ASCII, "this terminal shows plain letters only"),
    ],
)
@SIZES
async def test_where_the_terminal_cannot_it_says_so(
    size: tuple[int, int], environ: dict[str, str], signs: Signs, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    app = PictureApp(signs)
    async with app.run_test(size=size) as pilot:
        await unfold(pilot)
        shown = words_of(app)
        assert SUMMARY in shown and why in shown
        assert "▀" not in shown and not app.wanted


def lines(shown: PictureShown, look: Look, width: int = 80) -> list[Any]:
    return picture_strips(Tool(1, "c1", 1, "fs_read", picture="a.png"), width, look, shown)[0]


def test_a_cell_is_two_pixels_and_clear_ones_let_the_background_through() -> None:
    red, blue, clear, half = b"\xff\0\0\xff", b"\0\0\xff\xff", bytes(4), b"\xff\0\0\x80"
    pixels = red + clear + clear + half + blue + blue + clear + clear + red + clear + clear + clear
    look = Look.of({"background": "#000000"}, Signs())
    first, second, *_ = lines(PictureShown("PNG", 4, 3, 4, 3, 1, pixels), look)
    cells = [(s.text, s.style) for s in first][1:]
    assert [text for text, _ in cells] == ["▀", "▄", " ", "▀"]
    assert (cells[0][1].color, cells[0][1].bgcolor) == (Color.from_rgb(255, 0, 0), Color.from_rgb(0, 0, 255))
    assert (cells[1][1].color, cells[1][1].bgcolor) == (Color.from_rgb(0, 0, 255), None)
    assert (cells[3][1].color, cells[3][1].bgcolor) == (Color.from_rgb(128, 0, 0), None)
    assert second.text.strip() == "▀"


def test_a_picture_leaves_room_for_the_call_above_it() -> None:
    assert room_for(80, 20) == (76, 17)
    assert room_for(200, 100) == (160, 40)
    assert room_for(40, 4) == (36, 6)


@SIZES
async def test_the_workbench_asks_the_session_and_shows_the_answer(tmp_path: Path, size: tuple[int, int]) -> None:
    async with workbench(tmp_path, size=size, real=True) as bench:
        bench.engine.answers[ShowPicture] = lambda asked: picture(8, 8)
        bench.engine.tell(ev.SessionStarted(cwd="/src", model="m", app_version="0"), *read_a_picture())
        await bench.until(lambda: "plot.png" in bench.screen_text(), "the call")
        bench.app.bench.transcript.focus()
        await bench.pilot.press("enter")
        await bench.until(lambda: "▀" * 8 in bench.screen_text(), "the picture")
        (asked,) = [query for query in bench.engine.asked if isinstance(query, ShowPicture)]
        assert (asked.session, asked.path) == ("s1", "plot.png")
        await bench.pilot.press("enter")
        await bench.until(lambda: "▀" not in bench.screen_text(), "it is folded")


async def test_an_engine_that_cannot_answer_is_told_of(tmp_path: Path) -> None:
    async with workbench(tmp_path, real=True) as bench:
        bench.engine.answers[ShowPicture] = RuntimeError("no")
        bench.engine.tell(ev.SessionStarted(cwd="/src", model="m", app_version="0"), *read_a_picture())
        await bench.until(lambda: "plot.png" in bench.screen_text(), "the call")
        bench.app.bench.transcript.focus()
        await bench.pilot.press("enter")
        await bench.until(lambda: "it cannot be shown: the engine" in bench.screen_text(), "the words")
