"""What was taken away is not painted any more, in whichever moment the screen asks for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.widget import Widget
from textual.widgets import TextArea

from engine import events as ev
from tests.tui.transcript_kit import TranscriptApp
from tui.widgets.composer_area import Area
from tui.widgets.text_line import TextLine

CROP = Region(0, 0, 12, 2)


class Two(App[None]):
    def __init__(self, *makers: Callable[[], Widget]) -> None:
        super().__init__()
        self.makers = makers
        self.fields: list[Widget] = []

    def compose(self) -> ComposeResult:
        self.fields = [make() for make in self.makers]
        yield from self.fields


async def test_a_field_that_is_gone_paints_nothing() -> None:
    app = Two(lambda: Area("some text"), lambda: TextLine("some text", id="line"))
    async with app.run_test() as pilot:
        with app._context():
            for field in app.fields:
                assert "some text" in "".join(strip.text for strip in field.render_lines(Region(0, 0, 40, 5)))
                await field.remove()
            await pilot.pause()
            for field in app.fields:
                assert [strip.text for strip in field.render_lines(CROP)] == [" " * 12] * 2


async def test_nor_does_a_transcript() -> None:
    app = TranscriptApp([ev.UserMessage(seq=1, text="some words")])
    async with app.run_test(size=(40, 8)) as pilot:
        await pilot.pause()
        with app._context():
            transcript = app.transcript
            assert "some words" in "".join(strip.text for strip in transcript.render_lines(Region(0, 0, 40, 5)))
            await transcript.remove()
            assert [strip.text for strip in transcript.render_lines(CROP)] == [" " * 12] * 2


async def test_textuals_own_would_end_the_app() -> None:
    app = Two(lambda: TextArea("some text"))
    async with app.run_test() as pilot:
        with app._context():
            for field in app.fields:
                await field.remove()
            await pilot.pause()
            for field in app.fields:
                with pytest.raises(KeyError):
                    field.render_lines(CROP)
