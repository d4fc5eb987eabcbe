"""Blocks that lie packed in a file are the blocks that were put there, and take next to no memory."""

from __future__ import annotations

import gc
import os
import stat
import tempfile
import tracemalloc
from collections.abc import Callable
from io import FileIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import events as ev
from engine.events import AnyEvent
from tests.tui.test_transcript_any_events import happenings, numbered
from tests.tui.transcript_kit import AT, TranscriptApp, call, result, said, screen_text, stored
from tui.transcript import records
from tui.transcript.blocks import Blocks
from tui.transcript.kinds import Block, Gone, Note, Question, Said, Thought, Tool
from tui.transcript.look import Look
from tui.transcript.places import Places
from tui.transcript.reader import Reader
from tui.transcript.records import Records
from tui.transcript.shelf import Limits, Shelf

TINY = Limits(newest=3, group=2, size=60, open_groups=2, open_bytes=600, again=5)
NOTHING_PACKED = Limits(newest=1_000_000)

texts = st.text(max_size=80) | st.just("x" * 300) | st.just("\ud800 half a pair")
block = st.one_of(
    st.builds(Said, st.integers(0, 9), st.sampled_from(["prompt", "agent"]), texts, st.none() | st.just(AT)),
    st.builds(Thought, st.integers(0, 9), texts, st.integers(0, 9)),
    st.builds(Tool, st.integers(0, 9), texts, st.integers(0, 9), texts, text=texts, state=st.just("running")),
    st.builds(Note, st.integers(0, 9), st.just("notice"), st.just("info"), texts),
    st.builds(Question, st.integers(0, 9), texts, st.lists(texts, max_size=3).map(tuple), at=st.just(AT)),
    st.builds(Gone, st.integers(0, 9)),
)
steps = st.lists(
    st.tuples(st.just("append"), st.lists(block, max_size=6))
    | st.tuples(st.just("set"), st.integers(-40, 40), block)
    | st.tuples(st.just("get"), st.integers(-40, 40))
    | st.tuples(st.just("slice"), st.slices(20)),
    max_size=40,
)


@settings(max_examples=200, deadline=None)
@given(steps)
def test_it_is_a_list(steps: list[tuple[object, ...]]) -> None:
    shelf, plain = Shelf(TINY), list[Block]()
    for step in steps:
        match step:
            case ("append", list() as blocks):
                plain += blocks
                for one in blocks:
                    shelf.append(one)
            case ("set", int() as index, one) if -len(plain) <= index < len(plain):
                shelf[index] = plain[index] = one  # type: ignore[call-overload]
            case ("get", int() as index) if -len(plain) <= index < len(plain):
                assert shelf[index] == plain[index]
            case ("slice", slice() as part):
                assert list(shelf[part]) == plain[part]
            case (_, int() as index, *_):
                with pytest.raises(IndexError):
                    shelf[index]
    assert len(shelf) == len(plain) and list(shelf) == plain
    assert len(plain) < TINY.newest + TINY.group or shelf.packed >= len(plain) - TINY.newest - TINY.group


@settings(max_examples=150, deadline=None)
@given(st.lists(happenings, max_size=4))
def test_packed_or_not_the_blocks_are_the_same(portions: list[list[AnyEvent]]) -> None:
    packed, plain = Blocks(TINY), Blocks(NOTHING_PACKED)
    events = numbered([event for portion in portions for event in portion])
    for portion in portions:
        given, events = events[: len(portion)], events[len(portion) :]
        assert packed.feed(given) == plain.feed(given)
    assert list(packed) == list(plain)
    for index in range(len(plain)):
        assert packed.gap_before(index) == plain.gap_before(index)


# --- late and odd events -------------------------------------------------------------------------------------------


def test_a_call_that_ends_after_much_else_is_shown_where_it_began() -> None:
    blocks = Blocks(TINY)
    blocks.feed(stored(said("", 1, call("slow"), call("never"))))
    blocks.feed([ev.Notice(seq=n, level="info", text=f"line {n}") for n in range(2, 400)])
    blocks.feed([result("slow", text="at last").model_copy(update={"seq": 400})])
    blocks.feed([ev.RunFinished(seq=401, reason="interrupted")])
    assert [(b.call_id, b.state, b.text) for b in blocks[:2] if isinstance(b, Tool)] == [
        ("slow", "ok", "at last"),
        ("never", "cancelled", ""),
    ]


def test_what_a_call_says_long_after_it_began_is_kept_though_others_came_and_went() -> None:
    blocks = Blocks(TINY)
    blocks.feed([said("", 1, call("slow")).model_copy(update={"seq": 1})])
    for turn in range(2, 400):
        blocks.feed([said("", turn, call(f"c{turn}")).model_copy(update={"seq": 2 * turn})])
        blocks.feed([result(f"c{turn}", turn).model_copy(update={"seq": 2 * turn + 1})])
        blocks.feed([ev.ToolProgress(call_id="slow", text=f"{turn} ")])
    slow = blocks[0]
    assert isinstance(slow, Tool) and slow.tail.startswith("2 3 4 ") and slow.tail.endswith("398 399 ")
    assert len(blocks) == 399


def test_a_question_answered_long_after_is_answered_where_it_stands() -> None:
    blocks = Blocks(TINY)
    blocks.feed([ev.QuestionAsked(seq=1, id="q", call_id="c", question="which one?")])
    blocks.feed([ev.Notice(seq=n, level="info", text=f"line {n}") for n in range(2, 100)])
    blocks.feed([ev.QuestionAnswered(seq=100, id="q", text="the second", by="person")])
    asked = blocks[0]
    assert isinstance(asked, Question) and asked.answer == "the second"
    assert len(blocks) == 99


# --- reading -------------------------------------------------------------------------------------------------------


def talk(count: int) -> list[AnyEvent]:
    """Questions, each with an answer, and calls with what they said."""
    turns: list[ev.Stored] = []
    for n in range(count):
        answer = f"answer {n}: **all** of it\n\n{'and more ' * 20}"
        turns += [ev.UserMessage(text=f"question {n}"), said(answer, n, call(f"c{n}"))]
        turns.append(result(f"c{n}", n, text=f"out of {n}\n" * 10))
    return stored(*turns)


def opened(events: list[AnyEvent], past: bool = False) -> Reader:
    reader = Reader(Look())
    reader.resize(80, 24)
    (reader.feed_past if past else reader.feed)(events)
    reader.join_past()
    reader.frame()
    return reader


@pytest.mark.parametrize("past", [False, True])
def test_a_search_finds_what_is_packed(past: bool) -> None:
    reader = opened(talk(1_000), past)
    reader.find("ANSWER 3:")
    while not reader.search.complete:
        reader.search.step()
    assert reader.search.matches == 1
    assert reader.find_step(-1)
    chosen = reader.chosen()
    assert isinstance(chosen, Said) and chosen.text.startswith("answer 3:")
    reader.find("all")
    while not reader.search.complete:
        reader.search.step()
    assert reader.search.matches == 1_000
    assert reader.search.next_block(-1) == 1 and reader.search.next_block(1) == 4
    assert reader.search.next_block(len(reader.blocks)) == 1
    assert reader.search.previous_block(1) == len(reader.blocks) - 2
    assert reader.search.previous_block(4) == 1


def test_what_is_found_follows_a_block_that_changes() -> None:
    reader = opened(talk(3))
    reader.find("question")
    reader.feed([ev.UserMessage(seq=100, text="a question, a question")])
    assert (reader.search.matches, reader.search.next_block(8)) == (5, 9)
    reader.feed([ev.StreamDelta(turn=9, index=0, kind="text", text="no question")])
    assert (reader.search.matches, reader.search.next_block(9)) == (6, 10)
    reader.feed([ev.StreamDropped(turn=9)])
    assert (reader.search.matches, reader.search.next_block(9)) == (5, 0)


def test_to_go_back_behind_a_long_session_looks_at_none_of_it() -> None:
    reader = opened(talk(1_000))
    reader.feed([ev.Rewound(seq=4_000, to=1, conversation=True)])
    open_groups = list(reader.blocks._blocks._open)
    text = [row.strip.text for row in reader.frame().rows]
    assert any(line.startswith(Look().signs.left) for line in text)
    assert list(reader.blocks._blocks._open) == open_groups
    assert all(reader.blocks.is_left(index) for index in range(3_000))
    reader.feed([ev.Rewound(seq=4_001, to=1, undoes=4_000)])
    text = [row.strip.text for row in reader.frame().rows]
    assert not any(line.startswith(Look().signs.left) for line in text)


async def test_a_person_reads_and_unfolds_what_is_packed() -> None:
    app = TranscriptApp(talk(1_000))
    async with app.run_test(size=(100, 30)) as pilot:
        blocks = app.transcript.reader.blocks
        await pilot.press(*"UUU")
        assert app.transcript.reader.chosen() == blocks[len(blocks) - 9]
        app.transcript.jump_to_event(3)
        await pilot.press("enter")
        await pilot.pause()
        shown = screen_text(app)
        assert "question 0" in shown and "out of 0" in shown


def test_a_session_that_is_shown_no_longer_has_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    made, make = list[FileIO](), records._new_file

    def noted() -> FileIO:
        made.append(make())
        return made[-1]

    monkeypatch.setattr(records, "_new_file", noted)
    reader = opened(talk(1_000))
    assert [file.closed for file in made] == [False]
    reader.clear()
    assert [file.closed for file in made] == [True]
    reader.feed(talk(1_000))
    reader.feed_past(talk(1_001))
    assert [file.closed for file in made[1:]] == [False, False]
    reader.join_past()
    assert [file.closed for file in made[1:]] == [True, False]
    reader.blocks.close()
    assert all(file.closed for file in made)
    assert any(isinstance(block, Note) and "can no longer be read" in block.text for block in reader.blocks)


async def test_nor_has_a_transcript_that_was_taken_away() -> None:
    app = TranscriptApp(talk(1_000))
    async with app.run_test() as pilot:
        await pilot.pause()
        file = app.transcript.reader.blocks._blocks._records._file
        assert file is not None and not file.closed
        await app.transcript.remove()
        assert file.closed


def test_nor_one_that_nobody_holds_any_more() -> None:
    shelf = Shelf(TINY)
    for n in range(20):
        shelf.append(Gone(n))
    file = shelf._records._file
    assert file is not None and not file.closed
    del shelf
    assert file.closed


# --- memory --------------------------------------------------------------------------------------------------------


def test_a_packed_block_takes_few_bytes() -> None:
    def held(limits: Limits) -> float:
        blocks = Blocks(limits)
        blocks.feed(_lazily(0, 2_000))
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        blocks.feed(_lazily(2_000, 4_000))
        gc.collect()
        return (tracemalloc.get_traced_memory()[0] - before) / 6_000

    tracemalloc.start()
    try:
        packed, plain = held(Limits()), held(NOTHING_PACKED)
    finally:
        tracemalloc.stop()
    assert packed < 200
    assert packed * 4 < plain


def _lazily(first: int, end: int):  # type: ignore[no-untyped-def]
    """Events that nobody else holds."""
    for n in range(first, end):
        said_now = said(f"answer {n}: {'and more ' * 60}", n, call(f"c{n}"))
        for at, event in enumerate([ev.UserMessage(text=f"question {n}"), said_now, result(f"c{n}", n)], 1):
            yield event.model_copy(update={"seq": 3 * n + at, "at": AT})


def test_a_batch_is_packed_as_it_is_taken_in() -> None:
    reader = opened(talk(2_000))
    assert reader.blocks._blocks.packed > len(reader.blocks) - 400
    assert len(reader.blocks._blocks._open) <= Limits().open_groups


def test_large_blocks_come_back_few_at_a_time() -> None:
    shelf = Shelf()
    for n in range(400):
        shelf.append(Said(n, "agent", f"{n}" + "x" * 1_000_000 if n < 20 else f"{n}"))
    assert [shelf[n].seq for n in range(400)] == list(range(400))
    for n in range(20):
        assert shelf[n].seq == n
    assert sum(len(b.text) for group in shelf._open.values() for b in group if isinstance(b, Said)) < 6_000_000


# --- the file ------------------------------------------------------------------------------------------------------


def refuse(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


def test_nothing_is_lost_where_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf(TINY)
    blocks: list[Block] = [Said(n, "agent", f"text {n}") for n in range(60)]
    for block in blocks[:20]:
        shelf.append(block)
    packed = shelf.packed
    assert packed
    with monkeypatch.context() as patched:
        patched.setattr("os.pwrite", refuse)
        for block in blocks[20:40]:
            shelf.append(block)
        for index in (1, 4, 9, 30):
            shelf[index] = blocks[index] = Said(index, "agent", "changed while the disk was full")
        assert list(shelf) == blocks[:40]
        assert shelf.packed == packed
    for block in blocks[40:]:
        shelf.append(block)
    assert list(shelf) == blocks
    assert shelf.packed > packed


def test_nor_where_there_is_no_folder_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    shelf = Shelf(TINY)
    blocks: list[Block] = [Said(n, "agent", f"text {n}") for n in range(60)]
    for block in blocks:
        shelf.append(block)
    assert list(shelf) == blocks and shelf.packed == 0


def test_the_file_is_private_and_has_no_name() -> None:
    kept = Records()
    kept.add(b"secret")
    assert kept._file is not None
    found = os.fstat(kept._file.fileno())
    assert stat.S_IMODE(found.st_mode) == 0o600 and found.st_nlink == 0
    assert not os.get_inheritable(kept._file.fileno())
    kept.close()
    with pytest.raises(OSError):
        kept.read(0)
    with pytest.raises(OSError):
        kept.add(b"more")


@pytest.mark.parametrize("full", [False, True])
def test_a_record_changed_often_does_not_make_the_file_large(monkeypatch: pytest.MonkeyPatch, full: bool) -> None:
    monkeypatch.setattr(records, "REWRITTEN_AT", 1_000)
    kept = Records()
    expected = [bytes([n]) * 100 for n in range(5)]
    for data in expected:
        kept.add(data)
    if full:
        monkeypatch.setattr(records, "_new_file", refuse)
    for n in range(200):
        expected[n % 2] = bytes([n % 256]) * (100 + n)
        kept.change(n % 2, expected[n % 2])
    assert [kept.read(n) for n in range(5)] == expected
    assert kept._file is not None
    size = os.fstat(kept._file.fileno()).st_size
    assert size > 10_000 if full else size < 3 * sum(map(len, expected))


def test_a_short_write_is_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    write: Callable[..., int] = os.pwrite
    monkeypatch.setattr("os.pwrite", lambda file, data, at: write(file, data[:3], at))
    kept = Records()
    kept.add(b"more than three")
    assert kept.read(0) == b"more than three"


# --- where things are ----------------------------------------------------------------------------------------------


def test_places_are_in_order_however_they_came() -> None:
    places = Places()
    for index in (5, 2, 9, 2, 7):
        places.note(index, Tool(0, "c", 1, "t", diff="d"), index)
    assert list(places.jumps("edit")) == list(places.jumps("tool")) == [2, 5, 7, 9]
    assert list(places.jumps("user")) == []
    assert [places.block_of(seq) for seq in (4, 5, 8, 9, 99)] == [-1, 5, 5, 9, 9]
    assert [places.first_since(seq) for seq in (1, 6, 10)] == [5, 9, -1]
