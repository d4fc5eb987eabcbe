"""States from any place, and what is fed to the transcript to show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.events import Event
from engine.queries import LoadedSession, Skipped
from engine.state import TaskState, fold
from tests import strategies
from tests.tui.replay_kit import demo_events, long_session, timed
from tui.replay import film as films
from tui.replay.film import EVERY, WINDOW, Film
from tui.replay.projector import NEAR, Projector
from tui.transcript.blocks import Blocks

few = settings(max_examples=40, deadline=None)


def film_of(events: Sequence[Event]) -> Film:
    return Film(LoadedSession("s", tuple(events)))


LONG = timed(long_session(700))


@few
@given(st.lists(strategies.events, max_size=12), st.lists(st.integers(-3, 15), max_size=12))
def test_jumping_back_and_forth_gives_the_state_of_folding(drawn: list[Event], places: list[int]) -> None:
    events = timed(drawn)
    film = film_of(events)
    for place in places:
        assert film.state_at(place) == fold(events[: max(0, place)])


@pytest.mark.parametrize("rounds", [0, 2, 99])
def test_states_are_the_same_however_much_is_folded_already(rounds: int) -> None:
    film = film_of(LONG)
    film.develop(rounds)
    for place in (len(LONG), 3, EVERY, EVERY + 1, 2 * EVERY - 1, 1200, 1199, 1200):
        assert film.state_at(place) == fold(LONG[:place])


def test_a_jump_folds_at_most_what_lies_between_two_kept_states(monkeypatch: pytest.MonkeyPatch) -> None:
    film = film_of(LONG)
    while film.develop():
        pass
    assert film.developed == len(LONG)
    folded: list[int] = []

    def counted(events: Sequence[Event], start: TaskState) -> TaskState:
        folded.append(len(events))
        return fold(events, start)

    monkeypatch.setattr(films, "fold", counted)
    for place in (2_700, 10, 1_999, 1_998, 2_000):
        film.state_at(place)
    assert max(folded) < EVERY
    assert folded[-1] == 2 or folded[-1] == 0


def test_facts_are_those_of_the_whole_session() -> None:
    events = timed(demo_events())
    facts = Film(LoadedSession("s", events, (Skipped(3, "hurt"), Skipped(4, "hurt")))).facts()
    assert (facts.title, facts.turns, facts.calls, facts.approvals, facts.skipped) == ("Fix the login test", 4, 3, 2, 2)
    assert facts.cost == pytest.approx(0.04)


def test_a_clock_set_back_does_not_end_a_session_before_it_began() -> None:
    facts = film_of(timed(demo_events(), [*range(24), -9_000])).first_facts
    assert facts.started is not None and facts.ended is not None
    assert facts.ended >= facts.started


@few
@given(st.integers(0, len(LONG)))
def test_what_is_drawn_is_bounded_and_ends_where_we_are(position: int) -> None:
    start, end = film_of(LONG).window(position)
    assert end == position
    assert end - start <= 2 * WINDOW
    assert start == 0 or (position - start >= WINDOW and LONG[start].type in ("turn_started", "user_message"))


# --- the projector ----------------------------------------------------------------------------------------------------


class Paper:
    """Keeps what it was fed, and what would be shown of it."""

    def __init__(self) -> None:
        self.blocks = Blocks()
        self.fed = self.rewound = 0

    def feed(self, events: Sequence[Any]) -> None:
        self.fed += len(events)
        self.blocks.feed(events)

    def rewind(self, events: Sequence[Any]) -> None:
        self.rewound += 1
        self.blocks = Blocks()
        self.blocks.feed(events)

    def action_go_to_end(self) -> None:
        pass


class Hand:
    """A timer that goes off when told to."""

    def __init__(self) -> None:
        self.waiting: Callable[[], None] | None = None

    def later(self, seconds: float, call: Callable[[], None]) -> Hand:
        self.waiting = call
        return self

    def stop(self) -> None:
        self.waiting = None

    def ring(self) -> None:
        if self.waiting is not None:
            self.waiting()


def projector_of(events: Sequence[Event]) -> tuple[Projector, Paper, Hand]:
    paper, hand = Paper(), Hand()
    return Projector(film_of(events), paper, hand.later), paper, hand


DEMO = timed(demo_events())
moves = st.lists(st.integers(0, len(DEMO)) | st.floats(0.01, 1.5), max_size=15)


@few
@given(moves)
def test_however_one_gets_there_the_transcript_is_that_of_the_prefix(moves: list[int | float]) -> None:
    projector, paper, hand = projector_of(DEMO)
    for move in moves:
        if isinstance(move, int):
            projector.go_to(move)
        else:
            projector.advance(move)
    projector.go_to(projector.position)
    hand.ring()
    expected = Blocks()
    expected.feed(DEMO[: projector.position])
    shown = [block for block in paper.blocks if type(block).__name__ != "Gone"]
    assert shown == list(expected)


def test_a_step_forward_feeds_and_a_step_back_draws_anew_later() -> None:
    projector, paper, hand = projector_of(LONG)
    projector.go_to(NEAR)
    assert (paper.fed, paper.rewound) == (NEAR, 0)
    for _ in range(50):
        projector.go_to(projector.position - 1)
    assert paper.rewound == 0 and not projector.settled
    hand.ring()
    assert paper.rewound == 1 and projector.settled


def test_what_is_left_out_of_a_long_session_is_said() -> None:
    projector, paper, hand = projector_of(LONG)
    projector.go_to(len(LONG))
    hand.ring()
    first = paper.blocks[0]
    assert "earlier events not drawn here" in getattr(first, "text", "")
