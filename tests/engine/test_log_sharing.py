"""Events in memory share what they have in common, and are the same events."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given

from engine import events as ev
from engine.log.rows import parse
from engine.log.sharing import shared
from tests.strategies import events


@given(events)
def test_a_shared_event_is_the_same_event(event: ev.Event) -> None:
    made = shared(event.model_copy(deep=True))
    assert made == event
    assert made.model_dump_json() == event.model_dump_json()
    assert hash(type(made)) == hash(type(event))
    assert made.model_copy(update={"seq": 7}).seq == 7
    assert made.seq == event.seq


def test_what_is_read_takes_half_the_room() -> None:
    event = ev.ToolResult(session="s", seq=1, call_id="c", turn=1, name="fs_read", status="ok", text="def area()")
    text = event.model_dump_json()
    plain, read = ev.EVENT.validate_json(text), parse(text.encode())
    assert read == plain
    assert size(read) * 2 < size(plain)
    assert read.__pydantic_fields_set__ is parse(text.encode()).__pydantic_fields_set__


def test_a_shared_event_stays_frozen() -> None:
    event = shared(ev.UserMessage(text="hello"))
    with pytest.raises(ValueError, match="frozen"):
        event.text = "other"  # type: ignore[misc]


def size(event: ev.Event) -> int:
    return sys.getsizeof(event.__dict__) + sys.getsizeof(event.__pydantic_fields_set__)
