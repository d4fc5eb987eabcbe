"""The scripted model through its one public door: a request in, a stream of parts out."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.events import TextBlock, ToolCall, ToolSpec
from engine.models.base import BlockDelta, BlockEnd, BlockStart, Done, ModelError, Part, Start
from engine.models.script import ScriptModel
from engine.models.script_file import load, parse
from engine.prompt.markers import COMPACTION_MARKER
from engine.prompt.request import Message, ModelRequest, ResultPart

TOOL = ToolSpec(name="shell_run", description="Run a command.", schema_={"type": "object"})


def script(text: str, **more: object) -> ScriptModel:
    return ScriptModel("script/test", parse(tomllib.loads(text)), waiting=0, **more)  # type: ignore[arg-type]


def request(*messages: Message) -> ModelRequest:
    return ModelRequest("s1", "identity " * 40, "catalogue", (TOOL,), messages)


def user(*texts: str, results: Sequence[ResultPart] = ()) -> Message:
    return Message("user", (*results, *(TextBlock(text=t) for t in texts)))


async def parts(model: ScriptModel, *messages: Message) -> list[Part]:
    return [part async for part in model.stream(request(*messages))]


async def answer(model: ScriptModel, *messages: Message) -> Done:
    done = (await parts(model, *messages))[-1]
    assert isinstance(done, Done)
    return done


def said(done: Done) -> str:
    return "".join(b.text for b in done.blocks if isinstance(b, TextBlock))


def calls(done: Done) -> list[ToolCall]:
    return [b for b in done.blocks if isinstance(b, ToolCall)]


def results(done: Done, text: str = "fine", error: bool = False) -> list[ResultPart]:
    return [ResultPart(c.id, c.name, text, error) for c in calls(done)]


def reply(done: Done) -> Message:
    return Message("assistant", done.blocks)


class Talk:
    """A conversation that grows as a loop would grow it."""

    def __init__(self, model: ScriptModel, goal: str = "go") -> None:
        self.model = model
        self.messages: list[Message] = [user(goal)]

    async def turn(self, *texts: str, result: str = "fine", error: bool = False) -> Done:
        """Answer; then what comes back: results of its calls and further texts of the person."""
        done = await answer(self.model, *self.messages)
        back = user(*texts, results=results(done, result, error))
        self.messages += [reply(done), back] if back.parts else [reply(done)]
        return done


BRANCHES = """
[[turn]]
text = "running"
[[turn.call]]
tool = "shell_run"
input = { command = "make test" }
[[turn.next]]
when = { tool = "shell_run", status = "error", contains = "1 FAILED" }
goto = "mend"
[[turn.next]]
when = { says = "stop" }
goto = "end"

[[turn]]
label = "good"
text = "all good"

[[turn]]
label = "mend"
text = "mending"
[[turn.next]]
goto = "end"
"""


async def test_an_answer_streams_in_pieces_that_join_to_its_blocks() -> None:
    model = script("""
        chunk = 3
        [[turn]]
        thinking = "hmm, let me see"
        text = "first line"
        [[turn.call]]
        tool = "fs_read"
        input = { path = "a", limit = 3 }
        [[turn.call]]
        tool = "fs_list"
    """)
    got = await parts(model, user("go"))
    done = got[-1]
    assert isinstance(got[0], Start) and isinstance(done, Done)
    assert [p.kind for p in got if isinstance(p, BlockStart)] == ["thinking", "text", "tool_call", "tool_call"]
    streamed = ["".join(p.text for p in got if isinstance(p, BlockDelta) and p.index == i) for i in range(4)]
    assert streamed == ["hmm, let me see", "first line", '{"path": "a", "limit": 3}', "{}"]
    assert [p.block for p in got if isinstance(p, BlockEnd)] == list(done.blocks)
    assert done.stop == "tool_calls" and len({c.id for c in calls(done)}) == 2


@pytest.mark.parametrize(
    ("result", "error", "text", "says"),
    [
        ("x 1 failed y", True, "mending", ""),
        ("1 failed", False, "all good", ""),
        ("ok", False, "The script ends", "STOP"),
    ],
)
async def test_conditions_on_results_and_on_words_choose_the_next_turn(
    result: str, error: bool, text: str, says: str
) -> None:
    talk = Talk(script(BRANCHES))
    await talk.turn(*([says] if says else []), result=result, error=error)
    assert said(await talk.turn()).startswith(text)


async def test_runtime_notes_are_not_what_a_person_says() -> None:
    talk = Talk(script(BRANCHES))
    await talk.turn('<runtime kind="budget">\nstop soon\n</runtime>')
    assert said(await talk.turn()) == "all good"


LOOP = """
[[next]]
when = { says = "hurry" }
goto = "last"
times = 1

[[turn]]
label = "again"
text = "once more"
[[turn.call]]
tool = "shell_run"
input = { command = "true" }
[[turn.next]]
goto = "again"
times = 3

[[turn]]
text = "middle"
[[turn.next]]
goto = "last"

[[turn]]
label = "last"
text = "done"
"""


async def test_a_bounded_loop_ends_and_its_ids_stay_unique() -> None:
    talk = Talk(script(LOOP))
    dones = [await talk.turn() for _ in range(4)]
    assert [said(d) for d in dones] == ["once more"] * 3 + ["middle"]
    ids = [c.id for d in dones for c in calls(d)]
    assert len(set(ids)) == 3


async def test_a_rule_for_the_whole_script_holds_at_any_turn_but_only_so_often() -> None:
    talk = Talk(script(LOOP))
    await talk.turn()
    await talk.turn("please hurry")
    assert said(await talk.turn("hurry, I said")) == "done"
    assert said(await talk.turn()).startswith("The script ends here")


@given(cut=st.integers(0, 9))
@settings(max_examples=10, deadline=None)
async def test_a_restart_at_any_point_goes_on_with_the_same_answer(cut: int) -> None:
    async def run(fresh_at: int) -> list[Done]:
        talk, seen = Talk(script(LOOP)), []
        for n in range(7):
            if n == fresh_at:
                talk.model = script(LOOP)
            seen.append(await talk.turn(*(["go on"] if n >= 3 else [])))
        return seen

    assert [d.blocks for d in await run(cut)] == [d.blocks for d in await run(99)]


@given(at=st.integers(0, 6), kept=st.integers(0, 8))
@settings(max_examples=40, deadline=None)
async def test_a_compaction_at_any_point_with_any_tail_loses_no_place(at: int, kept: int) -> None:
    whole, talk = Talk(script(LOOP)), Talk(script(LOOP))
    for n in range(7):
        expected = await whole.turn("go on", result=f"r{n}")
        assert (await talk.turn("go on", result=f"r{n}")).blocks == expected.blocks
        if n == at:
            summary = await answer(talk.model, *talk.messages, user(f"{COMPACTION_MARKER} Summarise."))
            assert said(summary) and summary.stop == "end"
            tail = talk.messages[-kept:] if kept else talk.messages[-1:]
            while tail and tail[0].role == "assistant":
                tail = tail[1:]
            whole_calls = {c.id for m in tail for c in m.parts if isinstance(c, ToolCall)}
            first = tuple(p for p in tail[0].parts if not isinstance(p, ResultPart) or p.call_id in whole_calls)
            talk.messages = [Message("user", (TextBlock(text=said(summary)), *first)), *tail[1:]]
            talk.model = script(LOOP)


async def test_a_summary_request_is_answered_and_moves_nothing() -> None:
    model = script('summary = "Kept: everything."\n' + LOOP)
    first = await answer(model, user("go"))
    summary = await answer(model, user("go"), reply(first), user(COMPACTION_MARKER, results=results(first)))
    assert said(summary).startswith("Kept: everything.") and not calls(summary)
    again = await answer(model, user("go"), reply(first), user(results=results(first)))
    assert said(again) == "once more"


async def test_a_result_can_be_quoted_in_the_next_call() -> None:
    talk = Talk(
        script("""
            [[turn]]
            [[turn.call]]
            tool = "shell_run"
            input = { command = "serve", background = true }
            [[turn]]
            text = "handle is {{result:handle (\\\\w+)}}, port is {{result:port (\\\\d+)}}."
            [[turn.call]]
            tool = "shell_run"
            input = { handle = "{{result:handle (\\\\w+)}}", list = ["{{result:handle (\\\\w+)}}"] }
        """)
    )
    await talk.turn(result="started, handle bg1")
    done = await talk.turn()
    assert said(done) == "handle is bg1, port is ."
    assert calls(done)[0].input == {"handle": "bg1", "list": ["bg1"]}


async def test_a_failure_happens_so_often_and_then_the_answer_comes() -> None:
    model = script("""
        [[turn]]
        text = "at last"
        error = { kind = "rate_limit", message = "slow down", retry_after = 1.5, times = 2 }
    """)
    for _ in range(2):
        with pytest.raises(ModelError, match="slow down") as caught:
            await answer(model, user("go"))
        assert caught.value.retryable and caught.value.retry_after == 1.5
    assert said(await answer(model, user("go"))) == "at last"


async def test_a_failure_may_come_in_the_middle_of_an_answer() -> None:
    model = script("""
        chunk = 4
        [[turn]]
        text = "half of this is lost"
        error = { kind = "network", after = 6 }
    """)
    got: list[Part] = []
    with pytest.raises(ModelError):
        async for part in model.stream(request(user("go"))):
            got.append(part)
    assert "".join(p.text for p in got if isinstance(p, BlockDelta)) == "half o"
    assert not any(isinstance(p, Done | BlockEnd) for p in got)


async def test_arguments_may_be_broken_on_purpose() -> None:
    model = script("""
        [[turn]]
        [[turn.call]]
        tool = "fs_read"
        raw = '{"path": '
    """)
    (call,) = calls(await answer(model, user("go")))
    assert call.bad_input == '{"path": ' and call.input == {}


async def test_usage_shows_what_the_prompt_did_to_the_cache() -> None:
    talk = Talk(script(LOOP))
    first = (await talk.turn(result="x" * 700)).usage
    second = (await talk.turn()).usage
    assert first.cache_read == 0 and first.cache_write > 0 and first.output > 0
    assert second.cache_read == first.cache_write, "all that was written is read when the prompt only grew"
    changed = ModelRequest("s1", "another identity", "catalogue", (TOOL,), tuple(talk.messages))
    done = [p async for p in talk.model.stream(changed)][-1]
    assert isinstance(done, Done) and done.usage.cache_read == 0


async def test_a_prompt_longer_than_the_window_is_refused() -> None:
    model = script(LOOP, context_window=100)
    with pytest.raises(ModelError) as caught:
        await answer(model, user("word " * 1000))
    assert caught.value.kind == "context_overflow" and caught.value.suggestion


async def test_answers_of_another_model_are_passed_over() -> None:
    other = Message("assistant", (TextBlock(text="I am somebody else"), ToolCall(id="call_9", name="fs_list")))
    back = user("now you", results=[ResultPart("call_9", "fs_list", "a")])
    assert said(await answer(script(LOOP), user("go"), other, back)) == "once more"


async def test_the_offline_model_says_so_every_time() -> None:
    talk = Talk(ScriptModel.open("offline", waiting=0))
    for _ in range(3):
        assert "No model is connected" in said(await talk.turn("and now?"))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[[turn]]\ntext = ?\n", "line 2"),
        ("title = 'no turns'", "turn"),
        ("[[turn]]\ntext = 'a'\nwait = 3", "turn 1, wait"),
        ("[[turn]]\ntext = 'a'\n[[turn]]\n[[turn.call]]\ninput = {}", "turn 2, call 1, tool"),
        ("[[turn]]\ntext = 'a'\n[[turn.next]]\ngoto = 'nowhere'", "nowhere"),
        ("[[turn]]\nlabel = 'x'\ntext = 'a'\n[[turn]]\nlabel = 'x'\ntext = 'b'", "more than one"),
        ("[[turn]]\nthinking = 'a'", "text or a call"),
        ("[[turn]]\ntext = 'a {{result:none}}'", "no group"),
        ("[[turn]]\ntext = 'a {{result:(}}'", "turn 1, text"),
        ("[[turn]]\n[[turn.call]]\ntool = 'x'\ninput = {a = ['{{result:)}}']}", "turn 1, call 1, input"),
    ],
)
def test_a_bad_script_is_refused_with_the_place(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "turns.toml"
    path.write_text(text)
    with pytest.raises(ModelError) as caught:
        load(path)
    assert str(path) in str(caught.value) and named in str(caught.value)


def test_a_missing_or_binary_script_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="No such file"):
        ScriptModel.open(str(tmp_path / "none.toml"))
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ModelError, match="UTF-8"):
        ScriptModel.open(str(tmp_path / "b.toml"))


def test_the_example_of_the_documentation_can_be_played() -> None:
    text = (Path(__file__).parents[2] / "docs" / "script-model.md").read_text()
    example = text.split("```toml\n")[1].split("```")[0]
    assert len(parse(tomllib.loads(example)).turn) == 3
