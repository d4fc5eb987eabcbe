"""Where blocks stand, and what a person who reads sees of changes elsewhere: nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import events as ev
from engine.events import AnyEvent
from tests.tui.transcript_kit import call, delta, notices, result, said, stored
from tui.transcript.heights import Heights
from tui.transcript.look import Look
from tui.transcript.reader import Reader

WORDS = "some words that take a few lines when the view is narrow and one when it is wide "


def reader(events: list[AnyEvent], width: int = 60, height: int = 10) -> Reader:
    made = Reader(Look())
    made.resize(width, height)
    made.feed(events)
    made.frame()
    return made


def texts(of: Reader) -> list[str]:
    return [row.strip.text.rstrip() for row in of.frame().rows]


def conversation(turns: int) -> list[AnyEvent]:
    parts: list[ev.Stored] = []
    for turn in range(turns):
        parts += [
            ev.UserMessage(text=f"question {turn} {WORDS * (turn % 3)}"),
            said(f"answer {turn}\n\n{WORDS * (turn % 5)}\n\n- a\n- b", turn, call(f"c{turn}", command=f"run {turn}")),
            result(f"c{turn}", turn, "error" if turn % 4 == 0 else "ok", text="row\n" * (turn % 7)),
        ]
    return stored(*parts)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 5), max_size=60), st.data())
def test_heights_agree_with_plain_sums(values: list[int], data: st.DataObject) -> None:
    heights = Heights(values)
    for _ in range(5):
        if values:
            index = data.draw(st.integers(0, len(values) - 1))
            values[index] = data.draw(st.integers(0, 9))
            heights.set(index, values[index])
    assert heights.total == sum(values)
    assert [heights.before(n) for n in range(len(values) + 1)] == [sum(values[:n]) for n in range(len(values) + 1)]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=60))
def test_every_line_leads_to_its_block_and_back(values: list[int]) -> None:
    heights = Heights(values)
    lines = [(index, at) for index, height in enumerate(values) for at in range(height)]
    assert [heights.find(line) for line in range(heights.total)] == lines
    for line, (index, at) in enumerate(lines):
        assert heights.before(index) + at == line
    if lines:
        assert heights.find(10_000) == lines[-1] and heights.find(-3) == lines[0]


@pytest.mark.parametrize("width", [20, 60, 200])
def test_paging_through_shows_every_line_once(width: int) -> None:
    events = conversation(12)
    whole = texts(reader(events, width, 10_000))
    paged = reader(events, width, 7)
    paged.scroll_to(0)
    seen = texts(paged)
    while not paged.follow:
        before = paged.top
        paged.scroll_to(before + 7)
        page = texts(paged)
        seen += page[7 - (paged.top - before) :]
    assert seen == whole


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 500), st.lists(st.tuples(st.integers(5, 150), st.integers(1, 40)), min_size=1, max_size=5))
def test_a_resize_keeps_the_block_that_is_read_in_view(line: int, sizes: list[tuple[int, int]]) -> None:
    reading = reader(conversation(20), 60, 10)
    reading.scroll_to(line)
    frame = reading.frame()
    first = frame.rows[0].block
    if reading.follow:
        return
    for width, height in sizes:
        reading.resize(width, height)
        frame = reading.frame()
        assert 0 <= frame.top <= max(0, frame.total - height)
    assert first in {row.block for row in frame.rows} or reading.follow
    if not reading.follow:
        assert frame.rows[0].block == first


def test_what_arrives_does_not_move_a_person_who_reads() -> None:
    reading = reader(conversation(20))
    reading.scroll_to(30)
    before = texts(reading)
    for n in range(50):
        reading.feed([delta(f"word {n} \n\n", turn=99), *notices(1, 1000 + n)])
        assert texts(reading) == before
    assert not reading.follow and reading.unseen > 0
    reading.go_to_end()
    texts(reading)
    assert reading.follow and reading.unseen == 0


def test_what_changes_above_does_not_move_a_person_who_reads() -> None:
    events = stored(said("", 1, call("slow")), *(ev.UserMessage(text=f"message {n}") for n in range(40)))
    reading = reader(events)
    reading.scroll_to(60)
    before = texts(reading)
    reading.feed([result("slow", status="error", text="a\nb\nc\nd\ne", seq=500)])
    assert texts(reading) == before


def test_at_the_end_the_view_follows() -> None:
    reading = reader(notices(100))
    reading.feed(notices(5, 101))
    assert texts(reading)[-1].endswith("line 105")
    reading.scroll_to(reading.top - 1)
    texts(reading)
    reading.feed(notices(5, 106))
    assert texts(reading)[-1].endswith("line 104") or texts(reading)[-1] == ""
    reading.scroll_to(10_000)
    texts(reading)
    reading.feed(notices(1, 200))
    assert texts(reading)[-1].endswith("line 200")


def test_unfolding_keeps_the_first_line_where_it_is() -> None:
    events = stored(
        *(said("", n, call(f"c{n}", command=f"run {n}")) for n in range(30)), result("c5", 5, text="row\n" * 99)
    )
    reading = reader(events)
    reading.scroll_to(0)
    before = texts(reading)
    reading.set_pages(5, 1)
    after = texts(reading)
    assert after[:6] == before[:6] and after[6].strip() == "row"
    reading.set_pages(5, 0)
    assert texts(reading) == before


def test_unfolding_the_last_call_does_not_rush_to_its_end() -> None:
    reading = reader([*notices(30), *stored(said("", 1, call())), result(text="row\n" * 99, seq=90)])
    reading.set_pages(30, 1)
    assert "shell_run" in "\n".join(texts(reading))
    assert not reading.follow


def test_a_long_output_opens_page_by_page_then_folds() -> None:
    reading = reader([*stored(said("", 1, call())), result(text="row\n" * 1_000)])
    totals = []
    for _ in range(4):
        reading.open_further(0)
        totals.append(reading.frame().total)
    assert totals == [402, 802, 1001, 1]


def test_ten_megabytes_lay_out_only_what_is_shown() -> None:
    reading = reader([*stored(said("", 1, call())), result(text="0123456789\n" * 1_000_000)])
    reading.open_further(0)
    assert reading.frame().total == 402
    reading.feed(stored(said("x" * 10_000_000, 2)))
    reading.go_to_end()
    assert reading.frame().total < 10_000


def test_fold_all_reaches_every_block_and_keeps_the_place() -> None:
    reading = reader(conversation(30))
    reading.scroll_to(40)
    first = reading.frame().rows[0].block
    reading.fold_all(True)
    frame = reading.frame()
    assert frame.rows[0].block == first
    assert reading.pages(5) == 1 and reading.pages(85) == 1


def test_jumps_go_both_ways_and_stop_at_the_ends() -> None:
    reading = reader(conversation(9))
    assert reading.jump("user", -1) and reading.selected == 24
    assert reading.jump("user", -1) and reading.selected == 21
    assert reading.jump("error", -1) and reading.selected == 14
    assert reading.jump("error", 1) and reading.selected == 26
    assert not reading.jump("error", 1)
    assert not reading.jump("approval", 1)


def test_selecting_goes_block_by_block_and_stays_in_view() -> None:
    reading = reader(conversation(9))
    for _ in range(20):
        assert reading.select_step(-1)
        frame = reading.frame()
        assert any(row.block == reading.selected for row in frame.rows)
    assert reading.selected == 7


def test_search_counts_finds_in_order_and_opens_what_is_folded() -> None:
    events = [*conversation(20), *stored(said("", 50, call("z")), result("z", 50, text="first\nNEEDLE here\nlast"))]
    reading = reader(events)
    reading.find("needle")
    assert reading.search.matches == 1 and reading.search.complete
    assert reading.find_step(1)
    shown = texts(reading)
    assert any("NEEDLE here" in line for line in shown)
    reading.find("answer 7")
    assert reading.find_step(-1)
    assert any("answer 7" in line for line in texts(reading))
    reading.find("nowhere to be found")
    assert not reading.find_step(1)


def test_search_sees_what_arrives_later() -> None:
    reading = reader(notices(10))
    reading.find("line 1")
    assert reading.search.matches == 2
    reading.feed(notices(1, 11))
    assert reading.search.matches == 3


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (5, 2), (20, 5), (0, 0)])
def test_tiny_views_are_no_trouble(size: tuple[int, int]) -> None:
    tiny = reader(conversation(5), *size)
    tiny.fold_all(True)
    assert len(tiny.frame().rows) <= size[1]


def test_work_does_not_grow_with_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: blocks rendered for a frame, an append, a scroll and a resize of a long session."""
    counts = {}
    for length in (1_000, 30_000):
        made = Reader(Look())
        made.resize(60, 20)
        drawn = 0
        draw = made.layout._draw

        def counting(index: int, before: object, draw: object = draw) -> object:
            nonlocal drawn
            drawn += 1
            return draw(index, before)  # type: ignore[operator]

        monkeypatch.setattr(made.layout, "_draw", counting)
        made.feed(notices(length))
        made.frame()
        made.feed(notices(1, length + 1))
        made.frame()
        made.scroll_to(length // 2)
        made.frame()
        made.resize(40, 20)
        made.frame()
        counts[length] = drawn
    assert counts[1_000] == counts[30_000] < 500
