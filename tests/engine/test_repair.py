"""Any history, repaired, is one that all three providers accept; and what was sent before is never changed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.events import TextBlock, ThinkingBlock, ToolCall
from engine.prompt.repair import INTERRUPTED, NO_OUTPUT, OPENING, repair
from engine.prompt.request import Message, ResultPart
from tests.fakes.asking import FORMATS, assistant, call, problem_with, request_of, result, user
from tests.fakes.seals import encrypt, seal

TEXTS = st.sampled_from(["", " ", "\n\t", "hello", "a\0b", "lone \ud83d half", "[/bold]", "…", "x" * 50])
IDS = st.sampled_from(["", "call-1", "call-2", "call_1", "call_2", "functions.read:0", "x" * 41, "ü", "a b"])
NAMES = st.sampled_from(["fs_read", "shell_run", "", "a.b/c", "x" * 130, "<|tool|>"])
INPUTS = st.sampled_from([{}, {"path": "a"}, {"n": 1, "deep": {"list": [1, None, "\0"]}}])
OPAQUES = st.sampled_from(
    [
        {},
        {"wire": "anthropic", "block": {"type": "thinking", "thinking": "so", "signature": seal("so")}},
        {"wire": "anthropic", "block": {"type": "redacted_thinking", "data": encrypt("hidden")}},
        {
            "wire": "openai",
            "item": {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": encrypt("x")},
        },
        {"wire": "openai-chat"},
        {"wire": "another"},
    ]
)
PARTS = st.one_of(
    st.builds(lambda text: TextBlock(text=text), TEXTS),
    st.builds(lambda text, opaque: ThinkingBlock(text=text, opaque=opaque), TEXTS, OPAQUES),
    st.builds(lambda i, name, given: ToolCall(id=i, name=name, input=given), IDS, NAMES, INPUTS),
    st.builds(ResultPart, IDS, NAMES, TEXTS, st.booleans()),
)
MESSAGES = st.builds(Message, st.sampled_from(["user", "assistant"]), st.lists(PARTS, max_size=4).map(tuple))
HISTORIES = st.lists(MESSAGES, max_size=8).map(tuple)


def flat(messages: tuple[Message, ...]) -> list[object]:
    return [(message.role, part) for message in messages for part in message.parts]


@given(HISTORIES)
@settings(max_examples=150, deadline=None)
def test_every_provider_accepts_any_repaired_history(history: tuple[Message, ...]) -> None:
    repaired = repair((*history, user("go on")))
    for format in FORMATS:
        assert problem_with(format, request_of(*repaired)) is None


@given(HISTORIES)
@settings(max_examples=150, deadline=None)
def test_repairing_twice_changes_nothing(history: tuple[Message, ...]) -> None:
    assert repair(repair(history)) == repair(history)


@given(HISTORIES)
@settings(max_examples=150, deadline=None)
def test_a_longer_history_begins_with_what_was_sent(history: tuple[Message, ...]) -> None:
    whole = flat(repair(history))
    for end, message in enumerate(history):
        if message.role == "assistant":
            sent = flat(repair(history[:end]))
            assert whole[: len(sent)] == sent


@given(HISTORIES)
@settings(max_examples=100, deadline=None)
def test_calls_and_texts_survive(history: tuple[Message, ...]) -> None:
    def said(messages: tuple[Message, ...]) -> list[object]:
        calls = [p.input for m in messages if m.role == "assistant" for p in m.parts if isinstance(p, ToolCall)]
        texts = [p.text for m in messages for p in m.parts if isinstance(p, TextBlock) and p.text.strip()]
        return [calls, [text for text in texts if text != OPENING]]

    assert said(repair(history)) == said(history)


def test_a_clean_history_stays_as_it_is() -> None:
    history = (
        user("hi"),
        assistant(ThinkingBlock(text="t", opaque={"wire": "x"}), "reading", call("call-1"), call("call-2")),
        user(result("call-1"), result("call-2"), "and faster"),
        assistant("done"),
        user("thanks"),
    )
    assert repair(history) == history


def test_a_call_that_was_never_answered_is_closed_truthfully() -> None:
    history = repair((user("hi"), assistant(call("call-1"), call("call-2")), user(result("call-2"), "stop")))
    parts = history[-1].parts
    assert parts[0] == ResultPart("call-1", "fs_read", INTERRUPTED, is_error=True)
    assert parts[1] == result("call-2")
    assert parts[2] == TextBlock(text="stop")


def test_a_history_that_ends_in_a_call_gets_its_result() -> None:
    assert repair((user("hi"), assistant(call("call-1"))))[-1].parts == (
        ResultPart("call-1", "fs_read", INTERRUPTED, is_error=True),
    )


def test_an_id_used_in_two_turns_is_two_calls() -> None:
    history = repair(
        (
            user("hi"),
            assistant(call("call-1", path="a")),
            user(result("call-1", "first")),
            assistant(call("call-1", path="b")),
            user("well?"),
        )
    )
    second = history[3].parts[0]
    assert isinstance(second, ToolCall) and second.id != "call-1"
    assert history[2].parts == (result("call-1", "first"),)
    assert history[4].parts[0] == ResultPart(second.id, "fs_read", INTERRUPTED, is_error=True)


def test_the_same_id_twice_in_one_turn_pairs_by_order() -> None:
    history = repair((user("hi"), assistant(call("x"), call("x")), user(result("x", "one"), result("x", "two"))))
    first, second = history[1].parts
    assert isinstance(first, ToolCall) and isinstance(second, ToolCall) and first.id != second.id
    assert history[2].parts == (result(first.id, "one"), result(second.id, "two"))


def test_results_go_into_call_order_and_before_text() -> None:
    history = repair((user("hi"), assistant(call("a"), call("b")), user("hurry"), user(result("b")), user(result("a"))))
    assert history[2].parts == (result("a"), result("b"), TextBlock(text="hurry"))


def test_results_without_a_call_and_second_results_go() -> None:
    history = repair((user(result("x"), "hi"), assistant(call("a")), user(result("a", "1"), result("a", "2"))))
    assert history[0].parts == (TextBlock(text="hi"),)
    assert history[2].parts == (result("a", "1"),)


def test_empty_things_go_and_neighbours_join() -> None:
    history = repair(
        (user("a"), assistant(""), assistant(), user(" "), user("b"), assistant("c"), user(), assistant("d"))
    )
    assert history == (user("a", "b"), assistant("c", "d"))


def test_an_empty_result_says_so() -> None:
    assert repair((user("a"), assistant(call("x")), user(result("x", "\n"))))[2].parts == (result("x", NO_OUTPUT),)


def test_the_assistant_never_speaks_first() -> None:
    assert repair((assistant("hello"),)) == (user(OPENING), assistant("hello"))


def test_thinking_that_was_cut_goes_and_finished_thinking_stays() -> None:
    kept = ThinkingBlock(text="plan", opaque={"wire": "x"})
    history = repair((user("a"), assistant(kept, "b", ThinkingBlock(text="cut")), user("c")))
    assert history[1] == assistant(kept, "b")
