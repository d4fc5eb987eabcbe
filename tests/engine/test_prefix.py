"""The model of the provider's prefix cache: ten deliberate breaks, each explained; appending never breaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import events as ev
from engine.prompt.build import build, digest
from engine.prompt.cache_rules import ANTHROPIC, OPENAI, PREFIX, SCRIPT, CacheRules, rules_for
from engine.prompt.causes import Sent, compare, differing_byte, sent
from engine.prompt.inspect import Inspector
from engine.prompt.layers import outdated, render
from engine.prompt.prefix import Block, cut, fitted, predict, shared, size
from engine.prompt.request import Message, ModelRequest, ResultPart
from engine.state import fold
from engine.tools.registry import specs

AT = datetime(2026, 11, 30, 10, 2, tzinfo=UTC)
CLAUDE = "anthropic/claude-sonnet-5"
RENDERED = render(specs(), "skill: release\nHow to release.")
LONG = "line of output\n" * 400


def numbered(events: Sequence[ev.Event], seconds: float = 10) -> list[ev.Event]:
    return [
        e.model_copy(update={"session": "s", "seq": n, "at": AT + timedelta(seconds=seconds * n)})
        for n, e in enumerate(events, 1)
    ]


def turn(number: int, *blocks: ev.Block, model: str = CLAUDE, usage: ev.Usage = ev.Usage()) -> list[ev.Event]:
    answer = ev.AssistantMessage(turn=number, model=model, blocks=blocks, usage=usage, cost=0.01)
    return [ev.TurnStarted(turn=number, model=model), answer]


def read(number: int, text: str = LONG) -> list[ev.Event]:
    """A turn that reads a file, and the result."""
    call = ev.ToolCall(id=f"c{number}", name="fs_read", input={"path": f"{number}.py"})
    result = ev.ToolResult(call_id=call.id, turn=number, name="fs_read", status="ok", text=text)
    return [*turn(number, ev.TextBlock(text="I look."), call), result]


def talk(turns: int = 3, rendered: ev.PromptRendered = RENDERED, model: str = CLAUDE) -> list[ev.Event]:
    events: list[ev.Event] = [ev.SessionStarted(cwd="/w", model=model, app_version="1"), rendered]
    events += [ev.UserMessage(text="Fix the test"), ev.RuntimeUpdate(kind="environment", text="date: 2026-11-30")]
    for number in range(1, turns + 1):
        events += read(number)
    return events


def last_of(events: Sequence[ev.Event]) -> Sent:
    """The request that would be sent after ``events``, as one that was."""
    after = numbered([*events, ev.TurnStarted(turn=99, model=CLAUDE)])
    return sent(after, len(after) - 1)


def cause(before: Sequence[ev.Event], now: Sequence[ev.Event]) -> str:
    found = compare(last_of(before), last_of(now))
    assert found.breaks
    return found.cause


def edited(rendered: ev.PromptRendered, **fields: object) -> list[ev.Event]:
    return talk(rendered=rendered.model_copy(update=fields))


def ticking(clock: str) -> str:
    return f"{RENDERED.identity}\nIt is {clock}."


def with_block(at: int, change: Callable[[Block], Block]) -> tuple[Sent, Sent]:
    """A request, and the same with one block changed by hand: what no event of ours could do."""
    now = last_of(talk())
    changed = change(now.blocks[at])
    blocks = [*now.blocks[:at], replace(changed, digest="other", key="other"), *now.blocks[at + 1 :]]
    return now, replace(now, blocks=tuple(replace(b, key=b.key if n < at else f"k{n}") for n, b in enumerate(blocks)))


# --- ten deliberate breaks --------------------------------------------------------------------------------------------


def test_1_tool_order() -> None:
    assert cause(talk(), edited(RENDERED, tools=RENDERED.tools[::-1])) == "tool order changed"


def test_1_a_tool_more_or_less_or_described_otherwise() -> None:
    assert cause(talk(), edited(RENDERED, tools=RENDERED.tools[1:])) == f"tools removed: {RENDERED.tools[0].name}"
    assert cause(edited(RENDERED, tools=RENDERED.tools[:-1]), talk()) == f"tools added: {RENDERED.tools[-1].name}"
    other = RENDERED.tools[0].model_copy(update={"description": "otherwise"})
    found = cause(talk(), edited(RENDERED, tools=(other, *RENDERED.tools[1:])))
    assert found == f"tool {other.name} is described otherwise"


@pytest.mark.parametrize(
    ("one", "other"), [("10:02:03", "10:02:04"), ("2026-11-30", "2026-12-01"), ("1764496800", "1764496801")]
)
def test_2_a_clock_in_the_identity(one: str, other: str) -> None:
    found = cause(edited(RENDERED, identity=ticking(one)), edited(RENDERED, identity=ticking(other)))
    assert found.startswith("clock in the identity, at byte ")


def test_3_skill_text() -> None:
    found = cause(talk(), edited(RENDERED, catalogue=RENDERED.catalogue + "!"))
    assert found == f"skill text changed at byte {len(RENDERED.catalogue)}"
    assert cause(talk(), edited(RENDERED, catalogue="")) == "skill text removed"


def test_4_a_rewritten_result() -> None:
    before = talk()
    result = before[6]
    assert result.type == "tool_result"
    now = [*before[:6], result.model_copy(update={"text": LONG[:50] + "X" + LONG[51:]}), *before[7:]]
    assert cause(before, now) == "a result was rewritten: fs_read, at byte 50"


def test_5_a_removed_block() -> None:
    before = talk()
    assert cause(before, [*before[:2], *before[3:]]) == "a block was removed: you"
    assert cause(before, before[:-1]).startswith("a result was rewritten")  # its place says it was interrupted
    assert cause([*before, ev.UserMessage(text="x")], before) == "a block was removed: you"


def test_6_compaction() -> None:
    before = numbered(talk())
    compacted = ev.Compacted(number=2, kind="summary", reason="full", keep_from=8, summary="so far", ledger="facts")
    assert cause(before, [*before, compacted]) == "history rewritten at compaction 2"
    assert last_of([*before, compacted]).blocks[len(RENDERED.tools) + 2].kind == "ledger"


def test_7_offload() -> None:
    offload = ev.Compacted(number=1, kind="offload", reason="full", offloaded=("c1",))
    assert cause(talk(), [*talk(), offload]) == "results put aside at compaction 1"


@pytest.mark.parametrize(
    ("kind", "words"), [("drop", "superseded results dropped"), ("digest", "results cut down to what mattered")]
)
def test_7_results_that_give_way_to_a_text(kind: str, words: str) -> None:
    made = ev.Compacted.model_validate({"number": 3, "kind": kind, "reason": "full", "texts": {"c2": "[gone]"}})
    assert cause(talk(), [*talk(), made]) == f"{words} at compaction 3"
    assert cause([*talk(), made], [*talk(), made, offload(4, "c2", "c1")]) == "results put aside at compaction 4"


def offload(number: int, *calls: str) -> ev.Compacted:
    return ev.Compacted(number=number, kind="offload", reason="full", offloaded=calls)


def test_7_a_compaction_that_was_taken_back() -> None:
    summary = ev.Compacted(number=2, kind="summary", reason="full", keep_from=8, summary="so far", ledger="facts")
    compacted = numbered([*talk(), offload(1, "c3"), summary])
    undone = [ev.CompactionUndone(number=n) for n in (2, 1)]
    assert cause(compacted, [*compacted, undone[0]]) == "history restored: compaction 2 was taken back"
    assert cause(compacted, [*compacted, *undone]) == "history restored: compactions 1 and 2 were taken back"
    again = summary.model_copy(update={"number": 3})
    assert cause([*compacted, undone[0]], [*compacted, undone[0], again]) == "history rewritten at compaction 3"
    assert not compare(last_of(talk()), last_of([*compacted, *undone])).breaks


def test_8_a_refresh_of_an_old_prompt_says_what_it_was_written_with() -> None:
    old = render(specs()[:-1], RENDERED.catalogue)
    reason = outdated(old, RENDERED)
    again = RENDERED.model_copy(update={"reason": f"refreshed: {reason}"})
    found = cause(talk(rendered=old), [*talk(rendered=old), again])
    assert found.startswith(f"the prompt was rendered again: refreshed: written with other tools: +{specs()[-1].name}")


def test_8_the_prompt_rendered_again() -> None:
    again = render(specs()[:-1], RENDERED.catalogue, reason="other tools")
    assert cause(talk(), [*talk(), again]).startswith("the prompt was rendered again: other tools (tools removed: ")
    same = render(specs(), RENDERED.catalogue, reason="asked")
    assert not compare(last_of(talk()), last_of([*talk(), same])).breaks


def test_9_another_model() -> None:
    before = last_of(talk())
    found = compare(before, replace(before, model="openai/gpt-5"))
    assert found.breaks and found.same == 0
    assert found.cause == f"another model: {CLAUDE}, then openai/gpt-5"


def test_10_a_changed_role() -> None:
    at = len(RENDERED.tools) + 2
    before, now = with_block(at, lambda block: replace(block, role="assistant"))
    assert compare(before, now).cause == "role changed: you, from user to assistant"


def test_an_edited_message_and_one_put_in_between() -> None:
    before = talk()
    edited_message = ev.UserMessage(text="Fix the tests")
    assert cause(before, [*before[:2], edited_message, *before[3:]]) == "an earlier block changed: you, at byte 12"
    between = [*before[:2], ev.UserMessage(text="Hello"), *before[2:]]
    assert cause(before, between) == "a block was put in between: you"


def test_the_first_request_has_nothing_to_break() -> None:
    assert not compare(None, last_of(talk())).breaks


def test_bytes_are_bytes() -> None:
    assert differing_byte("äb", "äc") == 2
    assert differing_byte("ab", "abc") == 2


# --- appending --------------------------------------------------------------------------------------------------------

more = st.lists(
    st.one_of(
        st.builds(ev.UserMessage, text=st.text(min_size=1)),
        st.builds(ev.RuntimeUpdate, kind=st.just("budget"), text=st.text(min_size=1)),
        st.builds(ev.Notice, level=st.just("info"), text=st.text()),
        st.integers(10, 50),
    ),
    max_size=6,
)


@given(more, st.sampled_from([ANTHROPIC, OPENAI, PREFIX, SCRIPT]))
@settings(max_examples=60, deadline=None)
def test_appending_events_never_breaks(added: list[ev.Event | int], rules: CacheRules) -> None:
    events, before = talk(), last_of(talk())
    for number, item in enumerate(added):
        events += read(100 + number, str(item)) if isinstance(item, int) else [item]
        now = last_of(events)
        found = compare(before, now)
        assert not found.breaks and found.cause in ("appended", "the same request again")
        assert found.same == len(before.blocks)
        assert predict(now.blocks, before.blocks, rules).read <= size(before.blocks)
        before = now


@given(st.lists(st.text(), max_size=9), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_fitted_blocks_are_together_what_was_reported(texts: list[str], total: int) -> None:
    message = Message("user", tuple(ev.TextBlock(text=text) for text in texts))
    blocks = cut(ModelRequest("s", "identity", "", (), (message,)))
    assert size(fitted(blocks, total)) == total
    assert all(block.tokens >= 0 for block in fitted(blocks, total))


# --- what the cache gives ---------------------------------------------------------------------------------------------


def blocks_of(events: Sequence[ev.Event]) -> tuple[Block, ...]:
    return last_of(events).blocks


def test_anthropic_reads_up_to_the_mark_before_and_writes_the_rest() -> None:
    before, now = blocks_of(talk(2)), blocks_of(talk(3))
    said = predict(now, before, ANTHROPIC, 60)
    assert (said.read, said.new) == (size(before), 0)
    assert said.read + said.write == size(now)


def test_anthropic_after_a_break_reads_up_to_the_last_mark_before_it() -> None:
    events = talk(3)
    prompt = len(RENDERED.tools) + 2
    now = blocks_of([*events[:2], ev.UserMessage(text="other"), *events[3:]])
    said = predict(now, blocks_of(events), ANTHROPIC)
    assert said.blocks == prompt and said.read == size(now[:prompt])


def test_anthropic_finds_an_entry_at_most_twenty_blocks_back() -> None:
    few = [*talk(1), *(ev.UserMessage(text=f"m{n}") for n in range(10))]
    many = [*talk(1), *(ev.UserMessage(text=f"m{n}") for n in range(30))]
    before, prompt = blocks_of(talk(1)), len(RENDERED.tools) + 2
    assert predict(blocks_of(few), before, ANTHROPIC).blocks == len(before)
    assert predict(blocks_of(many), before, ANTHROPIC).blocks == prompt + 2


def test_openai_reads_in_steps() -> None:
    before, now = blocks_of(talk(2)), blocks_of(talk(3))
    said = predict(now, before, OPENAI)
    assert said.read == size(before) // 128 * 128 and said.write == 0


@pytest.mark.parametrize("rules", [ANTHROPIC, OPENAI])
def test_a_short_prompt_is_not_cached_and_an_old_entry_is_gone(rules: CacheRules) -> None:
    short = cut(ModelRequest("s", "You help.", "", (), (Message("user", (ev.TextBlock(text="hi"),)),)))
    said = predict(short, short, rules)
    assert said.read == said.write == 0 and "1,024" in said.why
    late = predict(blocks_of(talk(3)), blocks_of(talk(2)), rules, 3600)
    assert late.read == 0 and "the cache was gone" in late.why


def test_minimum_depends_on_the_model() -> None:
    assert rules_for("anthropic/claude-haiku-4-5").minimum == 4096
    assert rules_for("anthropic/claude-sonnet-5").minimum == 1024
    assert rules_for("ollama/qwen3") is PREFIX


def test_shared_ends_at_the_first_difference_although_later_blocks_are_equal() -> None:
    part = ResultPart("c", "fs_read", "same")
    one = cut(ModelRequest("s", "a", "", (), (Message("user", (part,)),)))
    other = cut(ModelRequest("s", "b", "", (), (Message("user", (part,)),)))
    assert one[-1].digest == other[-1].digest and shared(one, other) == 0


# --- answers for the screen -------------------------------------------------------------------------------------------


def reported(turns: int) -> list[ev.Event]:
    """A session whose provider reported what an ideal cache gives."""
    events, whole = numbered(talk(turns)), 0
    made: list[ev.Event] = []
    for event in events:
        if event.type == "assistant_message":
            usage = ev.Usage(cache_read=whole, cache_write=2000)
            whole += 2000
            event = event.model_copy(update={"usage": usage})
        made.append(event)
    return made


def test_a_request_is_shown_as_predicted_when_it_was() -> None:
    found = Inspector().request(reported(4))
    assert found is not None
    assert (found.number, found.count, found.tokens) == (4, 4, 8000)
    assert found.as_predicted and found.predicted.read == 6000 and found.reported is not None
    assert sum(block.tokens for block in found.blocks) == 8000
    assert {block.state for block in found.blocks} == {"read", "new"}
    assert found.blocks[-1].title == "result fs_read" and found.blocks[-1].state == "new"


def test_a_cache_the_provider_lost_is_shown() -> None:
    events = [
        e.model_copy(update={"usage": ev.Usage(input_uncached=8000)})
        if e.type == "assistant_message" and e.turn == 4
        else e
        for e in reported(4)
    ]
    found = Inspector().request(events)
    assert found is not None and not found.as_predicted and not found.broken


def test_the_list_says_where_it_broke_and_goes_on_as_the_log_grows() -> None:
    events = reported(3)
    inspector = Inspector()
    assert [line.broken for line in inspector.requests("s", events)] == [False, False, False]
    more = numbered([*events, ev.Compacted(number=1, kind="offload", reason="full", offloaded=("c1",)), *read(4)])
    lines = inspector.requests("s", more)
    assert [line.broken for line in lines] == [False, False, False, True]
    assert lines[-1].cause == "results put aside at compaction 1"
    assert lines == Inspector().requests("s", more)


def test_blocks_paid_again_are_broken_and_what_is_new_is_new() -> None:
    events = [*reported(3), ev.Compacted(number=1, kind="offload", reason="full", offloaded=("c1",)), *read(4)]
    found = Inspector().request(numbered(events))
    assert found is not None and found.broken
    states = [block.state for block in found.blocks]
    assert states[found.same] == "broken" and states[-1] == "new"
    assert found.before == LONG and found.byte == 0


def test_a_long_pause_is_a_break_with_its_own_words() -> None:
    found = Inspector().requests("s", numbered(talk(3), seconds=200))
    assert found[1].broken and "the cache was gone" in found[1].cause


def test_the_request_of_a_turn_and_of_none() -> None:
    inspector = Inspector()
    found = inspector.request(reported(4), 2)
    assert found is not None and (found.turn, found.number) == (2, 2)
    assert inspector.request([]) is None
    assert inspector.request(numbered([ev.TurnStarted(turn=1, model=CLAUDE)])) is None
    assert inspector.requests("s", []) == ()


@given(st.lists(st.integers(0, 4), max_size=8))
@settings(max_examples=40, deadline=None)
def test_the_list_and_the_request_agree_on_what_broke(steps: list[int]) -> None:
    events = talk(2)
    for number, kind in enumerate(steps, 10):
        offload = ev.Compacted(number=number, kind="offload", reason="full", offloaded=("c1", f"c{number - 1}"))
        again = render(specs(), f"skills {number}", reason="asked")
        between: list[list[ev.Event]] = [[], [offload], [again], [ev.UserMessage(text="x")], []]
        events += [*between[kind], *read(number)] if kind < 4 else turn(number)
    stored = numbered(events, seconds=1)
    inspector = Inspector()
    for line in inspector.requests("s", stored):
        found = inspector.request(stored, line.turn)
        assert found is not None and (found.broken, found.cause) == (line.broken, line.cause)


def test_a_request_is_known_for_the_one_that_was_sent() -> None:
    events = numbered([*talk(2), ev.TurnStarted(turn=3, model=CLAUDE)])
    stored = digest(build(events[:-1], fold(events[:-1])))
    sent_so, otherwise = (
        Inspector().request([*events[:-1], events[-1].model_copy(update={"digest": d})]) for d in (stored, "0" * 64)
    )
    assert sent_so is not None and sent_so.exact is True
    assert otherwise is not None and otherwise.exact is False
