"""The time line, the clock and the playhead, without a screen."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import events as ev
from engine.events import Event
from tests import strategies
from tests.tui.replay_kit import AT, TRACK, call, demo_events, long_session, result, said, timed
from tui.replay.clock import BEAT, SPEEDS, faster, gap, scene_of
from tui.replay.moments import RANK, Moment, find_moments
from tui.replay.playhead import MOST, Playhead
from tui.replay.stream import IDLE, pieces_of
from tui.replay.track import cell_of, make_track, position_of, tenth

few = settings(max_examples=60, deadline=None)
moments = st.builds(Moment, st.integers(1, 500), st.sampled_from(RANK))


# --- moments and their place on the line ------------------------------------------------------------------------------


def test_the_moments_of_a_session_are_marked_where_they_are() -> None:
    found = find_moments(timed(demo_events()))
    kinds = [(m.kind, m.position) for m in found.marks if m.kind != "call"]
    assert kinds == [
        ("user", 2), ("error", 7), ("approval", 12), ("user", 15), ("compaction", 16), ("approval", 20),
        ("denied", 21), ("stop", 25),
    ]  # fmt: skip
    assert found.count("call") == 3


def test_a_denial_without_a_person_is_marked_too() -> None:
    assert [m.kind for m in find_moments(timed([result("c1", 1, "denied")])).marks] == ["denied"]


@few
@given(st.lists(moments, max_size=60), st.integers(1, 250))
def test_no_approval_and_no_denial_is_lost_on_the_line(marks: list[Moment], width: int) -> None:
    track = make_track(marks, 500, width)
    for mark in marks:
        shown = track.cells[cell_of(mark.position, 500, width)].kind
        assert shown is not None
        assert RANK.index(shown) <= RANK.index(mark.kind)
        if mark.kind == "approval":
            assert shown in ("approval", "denied")
    assert sum(cell.calls for cell in track.cells) == sum(mark.kind == "call" for mark in marks)


@few
@given(st.integers(1, 100_000), st.integers(1, 300), st.data())
def test_a_cell_and_its_position_agree(length: int, width: int, data: st.DataObject) -> None:
    position = data.draw(st.integers(1, length))
    cell = cell_of(position, length, width)
    assert 0 <= cell < width
    back = position_of(cell, length, width)
    assert position <= back <= length
    assert cell_of(back, length, width) == cell or width == 1
    assert cell_of(length, length, width) == (width - 1 if length > 1 else 0)


@few
@given(st.integers(-5, 400), st.integers(0, 300), st.integers(0, 300))
def test_wherever_one_points_there_is_a_position(cell: int, length: int, width: int) -> None:
    assert 0 <= position_of(cell, length, width) <= length


def test_a_crowd_of_calls_is_drawn_by_number() -> None:
    many = [Moment(n, "call") for n in range(1, 500)]
    assert make_track(many, 500, 100).crowded
    assert not make_track(many[:20], 500, 100).crowded


def test_tenths_begin_at_the_first_event() -> None:
    assert [tenth(n, 50) for n in (1, 5, 9)] == [5, 25, 45]
    assert tenth(1, 3) == 1
    assert tenth(5, 0) == 0


@few
@given(st.lists(moments, max_size=30).map(lambda found: sorted(found, key=lambda m: m.position)), st.integers(0, 500))
def test_jumps_go_to_the_nearest_goal_and_never_stay(marks: list[Moment], start: int) -> None:
    events: list[Event] = []
    for _ in range(500):
        events.append(ev.Notice(level="info", text=""))
    for mark in marks:
        events[mark.position - 1] = ev.UserMessage(text="u")
    found = find_moments(events)
    users = {n for n, event in enumerate(events, 1) if event.type == "user_message"}
    assert found.next("user", start) == min((n for n in users if n > start), default=None)
    assert found.next("user", start, -1) == max((n for n in users if n < start), default=None)


# --- the clock --------------------------------------------------------------------------------------------------------


def test_long_waits_are_shortened_and_counted() -> None:
    events = timed([ev.UserMessage(text="a"), ev.UserMessage(text="b")], [0, 134])
    scene = scene_of(events, 1)
    assert (scene.length, scene.cut) == (IDLE, 134 - IDLE)


@pytest.mark.parametrize("times", [[0, 0, 0, 0], [9, 6, 3, 0], [0, 7200, 1, 2], [5, -3600, 5, 5]])
def test_a_clock_that_jumps_never_makes_a_negative_wait_or_another_order(times: list[float]) -> None:
    events = timed([ev.UserMessage(text=str(n)) for n in range(4)], times)
    for index in range(4):
        assert gap(events, index) >= 0
        assert BEAT <= scene_of(events, index).length <= IDLE
    head = Playhead(events)
    assert [event.seq for event in _played(head, 0.5)] == [1, 2, 3, 4]


@few
@given(st.lists(st.tuples(strategies.events, st.integers(-10_000, 10_000)), max_size=8))
def test_every_scene_is_finite_and_its_pieces_lie_within_it(drawn: list[tuple[Event, int]]) -> None:
    events = [event.model_copy(update={"at": AT + timedelta(seconds=after)}) for event, after in drawn]
    for index in range(len(events)):
        scene = scene_of(events, index)
        assert 0 <= scene.cut < float("inf")
        assert 0 <= scene.length < float("inf")
        assert all(a.at <= b.at for a, b in pairwise(scene.pieces))
        assert all(0 <= piece.at <= scene.length for piece in scene.pieces)


def test_speeds_end_at_both_ends() -> None:
    assert faster(1, -1) == 1
    assert faster(SPEEDS[-1], 1) == 32
    assert [faster(speed, 1) for speed in SPEEDS[:-1]] == list(SPEEDS[1:])


# --- streaming again --------------------------------------------------------------------------------------------------


def test_text_comes_again_as_it_came() -> None:
    timing = ev.Timing(first_token=0.4, total=1.5, track=((0, 4), (500, 12), (1000, 24)))
    message = said(1, "abcdefghijklmnopqrstuvwx", timing=timing)
    assert [(round(p.at, 3), p.delta.text) for p in pieces_of(message)] == [
        (0.4, "abcd"),
        (0.9, "efghijkl"),
        (1.4, "mnopqrstuvwx"),
    ]


def test_waits_within_an_answer_are_shortened_too() -> None:
    timing = ev.Timing(first_token=30, total=100, track=((0, 1), (60_000, 2), (60_100, 3)))
    message = said(1, "abc", timing=timing)
    assert [round(p.at, 3) for p in pieces_of(message)] == [2.0, 4.0, 4.1]
    scene = scene_of((message,), 0)
    assert scene.length + scene.cut == pytest.approx(100)


tracks = st.lists(st.tuples(st.integers(0, 90_000), st.integers(0, 5_000)), max_size=12).map(tuple)


@few
@given(st.lists(strategies.model(ev.TextBlock) | strategies.model(ev.ThinkingBlock), max_size=4).map(tuple), tracks)
def test_pieces_are_the_text_and_nothing_else(blocks: tuple[ev.Block, ...], track: tuple[tuple[int, int], ...]) -> None:
    message = ev.AssistantMessage(turn=1, model="m", blocks=blocks, timing=ev.Timing(track=track))
    found: dict[int, str] = {}
    for piece in pieces_of(message):
        found[piece.delta.index] = found.get(piece.delta.index, "") + piece.delta.text
    if found:
        assert found == {n: b.text for n, b in enumerate(blocks) if not isinstance(b, ev.ToolCall) and b.text}


def test_a_call_is_written_with_its_name() -> None:
    message = said(1, "x", call("c1", "fs_read", path="a.py"), timing=ev.Timing(track=((0, 1), (10, 30))))
    deltas = [piece.delta for piece in pieces_of(message)]
    assert [(d.kind, d.name, d.call_id) for d in deltas] == [("text", "", ""), ("tool_call", "fs_read", "c1")]
    assert deltas[1].text == '{"path": "a.py"}'


# --- the playhead -----------------------------------------------------------------------------------------------------


def _played(head: Playhead, step: float) -> list[Event]:
    found: list[Event] = []
    for _ in range(20_000):
        found += [event for event in head.advance(step) if isinstance(event, ev.Stored)]
        if head.at_end:
            return found
    raise AssertionError("it does not end")


@few
@given(st.lists(strategies.events, max_size=6), st.floats(0.01, 5))
def test_playing_shows_every_event_once_and_in_order(drawn: list[Event], step: float) -> None:
    events = timed(drawn)
    assert _played(Playhead(events), step) == list(events)


@few
@given(st.lists(st.floats(0, 0.5), min_size=1, max_size=20))
def test_pieces_come_before_their_message_and_never_after(steps: list[float]) -> None:
    timing = ev.Timing(first_token=0.4, total=1.5, track=TRACK)
    events = timed([said(1, "abcdefghijklmnopqrstuvwx", timing=timing), ev.UserMessage(text="u")])
    head, shown, whole = Playhead(events), "", False
    for step in steps:
        for event in head.advance(step):
            if event.type == "stream_delta":
                assert not whole
                shown += event.text
            elif event.type == "assistant_message":
                whole = True
    assert "abcdefghijklmnopqrstuvwx".startswith(shown)
    assert head.writing == (bool(shown) and not whole)


def test_a_burst_at_one_moment_is_played_over_several_frames() -> None:
    events = timed(long_session(300), [0.0] * len(long_session(300)))
    head = Playhead(events)
    assert 0 < len(head.advance(32 / 30)) < 60


def test_what_takes_no_time_is_played_over_several_frames_too() -> None:
    head = Playhead(timed([ev.TurnStarted(turn=n, model="m") for n in range(3 * MOST)], [0.0] * 3 * MOST))
    assert [len(head.advance(1)) for _ in range(3)] == [MOST] * 3
    assert head.at_end


def test_seeking_forgets_what_was_half_written() -> None:
    timing = ev.Timing(first_token=0.4, total=1.5, track=TRACK)
    head = Playhead(timed([said(1, "abcdefghijklmnopqrstuvwx", timing=timing)]))
    head.advance(0.5)
    assert head.writing
    head.seek(0)
    assert not head.writing
    assert head.advance(0.1) == []
    head.seek(99)
    assert head.at_end and head.position == 1
