"""The past of a long session joins what is shown of its end, and whoever reads there notices nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.events import AnyEvent
from tests.tui.test_transcript_layout import conversation, reader, texts
from tests.tui.transcript_kit import TranscriptApp, screen_text
from tui.transcript.reader import Reader

EVENTS = conversation(30)
BEFORE = 3 * 22


def joined(made: Reader, size: int = 7) -> Reader:
    for place in range(0, len(EVENTS), size):
        made.feed_past(EVENTS[place : place + size])
    made.join_past()
    return made


def test_the_end_stays_in_view() -> None:
    made = reader(EVENTS[BEFORE:])
    before = texts(made)
    assert texts(joined(made)) == before
    assert made.follow
    assert list(made.blocks) == list(reader(EVENTS).blocks)


@settings(max_examples=60, deadline=None)
@given(line=st.integers(0, 200), size=st.integers(1, 90), width=st.integers(20, 90))
def test_a_reader_stays_at_the_line(line: int, size: int, width: int) -> None:
    made = reader(EVENTS[BEFORE:], width)
    made.scroll_to(line)
    before = texts(made)
    assert texts(joined(made, size)) == before


def test_what_was_selected_and_unfolded_stays_so() -> None:
    made = reader(EVENTS[BEFORE:])
    made.select_step(-1)
    made.select_step(-1)
    chosen = made.chosen()
    made.open_further(made.selected)
    before = texts(made)
    joined(made)
    assert made.chosen() == chosen
    assert texts(made) == before


def test_a_search_finds_the_past_too() -> None:
    made = reader(EVENTS[BEFORE:])
    made.find("question 3")
    assert made.search.matches == 0
    joined(made)
    while not made.search.complete:
        made.search.step()
    assert made.search.matches == 1
    assert made.find_step(-1)


def test_what_comes_after_goes_on_from_it() -> None:
    made = joined(reader(EVENTS[BEFORE:-3]))
    more: list[AnyEvent] = [event.model_copy(update={"seq": event.seq + 3}) for event in conversation(31)[-3:]]
    made.feed(more)
    assert texts(made) == texts(reader([*EVENTS, *more]))


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_the_way_up_is_open_once_it_is_read(size: tuple[int, int]) -> None:
    app = TranscriptApp(EVENTS[BEFORE:])
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        before = screen_text(app)
        app.transcript.feed_past(EVENTS)
        await pilot.pause()
        assert screen_text(app) == before
        app.transcript.join_past()
        await pilot.pause()
        assert screen_text(app) == before
        await pilot.press("home")
        await pilot.pause()
        assert "question 0" in screen_text(app)
