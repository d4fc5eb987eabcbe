"""The small rules of the wires, one by one."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.events import EVENT, AssistantMessage
from engine.models.sanitize import CALL_ID, CallIds, make_call, normal_stop, read_arguments, repair_arguments, tidy_name
from tests.fakes.asking import assistant, call, request_of, result, user


def test_stop_reasons_without_and_with_calls() -> None:
    assert normal_stop("", has_calls=False) == "end"
    assert normal_stop("", has_calls=True) == "tool_calls"
    assert normal_stop("tool_calls", has_calls=False) == "end"
    assert normal_stop("max_tokens", has_calls=True) == "length"


@given(st.text(st.characters(codec=None)))
@settings(max_examples=200, deadline=None)
def test_any_name_becomes_one_that_every_provider_accepts(name: str) -> None:
    tidy = tidy_name(name)
    assert 1 <= len(tidy) <= 64 and CALL_ID.fullmatch(tidy[:40]) and tidy_name(tidy) == tidy


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.one_of(st.text(max_size=40), JSON.map(json.dumps), JSON.map(lambda value: json.dumps(value)[:-2])), st.booleans()
)
@settings(max_examples=300, deadline=None)
def test_any_arguments_become_a_call_that_can_be_stored(raw: str, cut: bool) -> None:
    made = make_call("call_1", "fs_read", raw, cut=cut)
    assert not (made.input and made.bad_input)
    stored = AssistantMessage(turn=1, model="m", blocks=(made,))
    assert EVENT.validate_json(EVENT.dump_json(stored)) == stored


def test_good_arguments_are_read_exactly() -> None:
    good: dict[str, Any] = {"b": 1, "a": [1.5, None, True, {"ü": "👍"}], "big": 10**30}
    assert read_arguments(json.dumps(good)) == good
    assert list(read_arguments('{"z": 1, "a": 2}') or {}) == ["z", "a"]


def test_huge_damaged_arguments_are_not_guessed_at() -> None:
    assert repair_arguments('{"text": "' + "x" * 300_000) is None


def test_repair_finds_nothing_in_prose() -> None:
    assert repair_arguments("I would rather not.") is None


def test_short_ids_are_counters_and_are_replaced() -> None:
    ids = CallIds().for_turn(request_of())
    assert ids.give("call_0") != "call_0"
    assert ids.give("call_0123456789") == "call_0123456789"
    assert ids.give("call_0123456789") != "call_0123456789"


def test_ids_are_the_same_for_the_same_answers_and_differ_between_turns() -> None:
    def given_to(*messages: Any) -> list[str]:
        ids = CallIds().for_turn(request_of(*messages))
        return [ids.give(""), ids.give("")]

    one, two = user("a"), (user("a"), assistant(call("x")), user(result("x")))
    assert given_to(one) == given_to(one)
    assert len({*given_to(one), *given_to(*two), *given_to(user("b"))}) == 6


def test_sessions_do_not_share_ids() -> None:
    ids = CallIds()
    for session in ("one", "two"):
        assert ids.for_turn(request_of(session=session)).give("call_0123456789") == "call_0123456789"
