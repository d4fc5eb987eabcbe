from __future__ import annotations

import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import events as ev
from engine.events import Event
from engine.log import LogStore
from engine.state import fold
from tests import strategies
from tests.engine.log_kit import bare, store_at

MODEST = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> LogStore:
    """One store for all examples: each gets a session of its own."""
    return store_at(tmp_path_factory.mktemp("log"))


@MODEST
@given(events=strategies.event_lists)
def test_what_was_appended_is_what_is_loaded(store: LogStore, events: list[Event]) -> None:
    with store.create() as writer:
        writer.append(ev.Notice(level="info", text="first"))
        appended = [writer.append(event) for event in events]
    loaded = store.load(writer.session)
    assert list(loaded.events[1:]) == appended
    assert bare(loaded.events[1:]) == events
    assert [event.seq for event in loaded.events] == list(range(1, len(events) + 2))
    assert loaded.skipped == ()
    assert store.list()[0].events == len(events) + 1


@MODEST
@given(events=strategies.event_lists)
def test_an_export_comes_back_the_same(store: LogStore, events: list[Event]) -> None:
    with store.create() as writer:
        for event in [ev.Notice(level="info", text="first"), *events]:
            writer.append(event)
    lines: list[str] = []
    assert store.export(writer.session, lines.append) == ()
    imported = store.import_from(io.BytesIO("".join(lines).encode("ascii")))
    assert imported.skipped == ()
    before, after = store.load(writer.session).events, store.load(imported.id).events
    assert [event.seq for event in before] == [event.seq for event in after]
    assert [event.at for event in before] == [event.at for event in after]
    assert bare(before) == bare(after)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(strategies.event_lists, st.integers(0, 8))
def test_folding_is_prefix_consistent(events: list[Event], cut: int) -> None:
    head, tail = events[:cut], events[cut:]
    assert fold(events) == fold(tail, start=fold(head))


def test_every_stored_event_type_has_a_strategy() -> None:
    tags = {kind.model_fields["type"].default for kind in strategies.by_type}
    assert len(tags) == len(strategies.EVENT_TYPES) > 20
