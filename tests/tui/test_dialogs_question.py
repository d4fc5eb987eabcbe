"""The question dialog as a person answers it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from textual import events

from engine import events as ev
from tests.tui.dialog_kit import MARKUP, Clock, Desk, Hands
from tui.dialogs.entry import Entry
from tui.dialogs.grace import PAUSE
from tui.dialogs.question import QuestionDialog

OPTIONS = ("main", f"a branch {MARKUP}", "none")


@dataclass(kw_only=True)
class Room(Hands):
    clock: Clock
    dialog: QuestionDialog

    async def answer(self) -> Any:
        await self.until(lambda: self.app.answers, "an answer")
        return self.app.answers[-1]


@asynccontextmanager
async def room(
    options: tuple[str, ...] = OPTIONS, size: tuple[int, int] = (80, 24), *, rested: bool = True, question: str = ""
) -> AsyncIterator[Room]:
    app, clock = Desk(), Clock()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        asked = ev.QuestionAsked(id="q", call_id="c", question=question or f"Which {MARKUP}?", options=options)
        dialog = QuestionDialog(asked, clock=clock)
        app.show(dialog)
        here = Room(app=app, pilot=pilot, clock=clock, dialog=dialog)
        await here.until(lambda: app.screen is dialog and dialog.is_mounted, "the dialog")
        await pilot.pause()
        if rested:
            clock.rest()
        yield here


async def test_a_digit_takes_its_choice() -> None:
    async with room() as r:
        assert f"Which {MARKUP}?" in r.app.screen_text()
        assert f"2  a branch {MARKUP}" in r.app.screen_text()
        await r.press("2")
        assert await r.answer() == f"a branch {MARKUP}"


async def test_arrows_and_enter() -> None:
    async with room() as r:
        await r.press("enter")
        await r.pilot.pause()
        assert not r.app.answers
        await r.press("up", "down", "down", "enter")
        assert await r.answer() == f"a branch {MARKUP}"


async def test_own_words() -> None:
    async with room() as r:
        for key in ("n", "o", "space", "2"):
            r.app.post_message(events.Key(key, " " if key == "space" else key))
        await r.until(lambda: r.dialog.query_one(Entry).text == "no 2", "the words")
        await r.press("enter")
        assert await r.answer() == "no 2"


async def test_without_choices_it_is_for_writing() -> None:
    async with room(()) as r:
        await r.until(lambda: isinstance(r.dialog.focused, Entry), "a text to write in")
        await r.press("enter")
        await r.pilot.pause()
        assert not r.app.answers
        await r.press("1", "enter")
        assert await r.answer() == "1"


async def test_typing_that_goes_on_answers_nothing() -> None:
    async with room(rested=False) as r:
        for key in "1 2 why":
            await r.press("space" if key == " " else key)
            r.clock.now += 0.3
        assert not r.app.answers
        assert r.dialog.query_one(Entry).text == ""
        assert "you were typing" in r.app.screen_text()
        r.clock.now += PAUSE
        await r.press("1")
        assert await r.answer() == "main"


async def test_escape_leads_back_from_the_text_then_puts_it_aside() -> None:
    async with room() as r:
        await r.press("x", "escape")
        await r.until(lambda: r.dialog.focused is None, "back at the choices")
        assert r.dialog.query_one(Entry).text == "x"
        await r.press("escape")
        assert await r.answer() is None


async def test_a_paste_begins_an_answer() -> None:
    async with room() as r:
        await r.paste("1\x1b")
        await r.until(lambda: r.dialog.query_one(Entry).text == "1␛", "the paste, made visible")
        assert not r.app.answers


@pytest.mark.parametrize("size", [(20, 5), (60, 20), (200, 60)])
async def test_many_long_choices_in_any_terminal(size: tuple[int, int]) -> None:
    options = tuple(f"choice number {n} which is rather long to read" for n in range(30))
    async with room(options, size, question="word " * 300) as r:
        await r.press("up")
        await r.until(lambda: "number 29" in r.app.screen_text().replace("\n", " ") or size == (20, 5), "the last one")
        await r.press("enter")
        assert await r.answer() == options[-1]
