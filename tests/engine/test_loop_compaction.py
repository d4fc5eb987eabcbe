"""Compaction within the loop: asked for at any moment, and when the window leaves no room to ask for a summary."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import commands as cmd
from engine import events as ev
from engine.models.base import ModelError
from engine.prompt import tokens
from tests.engine.kit import Gate, Kit, make_kit, shell, text
from tests.engine.long_kit import asks_for_summary
from tests.fakes import validate_anthropic

LONG = "words " * 1500
NOTE = "## Goal\nGo on.\n## Next\nThe next step."


def long_turns(count: int) -> list[list[ev.Block]]:
    return [[text(f"{n} {LONG}"), shell(f"c{n}", f"step {n}")] for n in range(count)]


def compactions(kit: Kit) -> list[ev.Compacted]:
    return [e for e in kit.events if e.type == "compacted"]


async def test_one_asked_for_during_the_last_answer_is_made_when_the_run_ends(tmp_path: Path) -> None:
    gate = Gate()
    kit = make_kit(tmp_path, [*long_turns(6), gate, [text("done")], [text(NOTE)]])
    kit.model.context_window = 40_000
    kit.runner.send("do it", "steer")
    await gate.reached.wait()
    kit.runner.compact(cmd.Compact(kit.runner.session.id))
    gate.passed.set()
    await kit.runner.idle()
    (made,) = compactions(kit)
    assert (made.kind, made.summary) == ("summary", NOTE)
    assert kit.runner.session.state.stage == "finished"
    await kit.runner.close()


async def test_a_summary_request_that_does_not_fit_leaves_the_ledger_and_the_run_goes_on(tmp_path: Path) -> None:
    full = ModelError("context_overflow", "too long")
    kit = make_kit(tmp_path, [*long_turns(6), full, full, [text("went on")]])
    kit.model.context_window = 40_000
    kit.runner.send("do it", "steer")
    await kit.runner.idle()
    assert kit.runner.session.state.stage == "finished"
    (made,) = compactions(kit)
    assert made.summary == "" and "do it" in made.ledger
    assert any(asks_for_summary(request) for request in kit.model.requests)
    await kit.runner.close()


async def test_the_request_after_a_compaction_is_valid_and_begins_with_what_is_known(tmp_path: Path) -> None:
    from engine.models.wire_anthropic_params import anthropic_params

    kit = make_kit(tmp_path, [*long_turns(6), [text("done")], [text(NOTE)], [text("and on")]])
    kit.model.context_window = 40_000
    kit.runner.send("do it", "steer")
    await kit.runner.idle()
    kit.runner.compact(cmd.Compact(kit.runner.session.id, focus="the paths"))
    await kit.runner.idle()
    kit.runner.send("go on", "steer")
    await kit.runner.idle()
    after = kit.model.requests[-1]
    assert validate_anthropic(anthropic_params(after, "claude-x")) is None
    first = after.messages[0].parts[0]
    assert first.kind == "text" and "do it" in first.text and NOTE.splitlines()[1] in first.text  # type: ignore[union-attr]
    asked = next(r for r in kit.model.requests if asks_for_summary(r))
    before = kit.model.requests[kit.model.requests.index(asked) - 1]
    assert asked.messages[: len(before.messages)] == before.messages, "the summary is asked for on the hot prefix"
    await kit.runner.close()


# --- what may go wrong with the answer -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [
        [ev.ThinkingBlock(text="only thought about it")],
        [],
        [text("a note"), shell("c-note", "ls")],
    ],
    ids=["reasoning only", "empty", "a tool call"],
)
async def test_an_unusable_note_is_asked_for_once_more_and_then_the_ledger_goes_on_alone(
    tmp_path: Path, bad: list[ev.Block]
) -> None:
    for name, second, summary in (("good", [text(NOTE)], NOTE), ("bad", bad, "")):
        kit = make_kit(tmp_path / name, [*long_turns(6), [text("done")], bad, second])
        kit.model.context_window = 40_000
        kit.runner.send("do it", "steer")
        await kit.runner.idle()
        kit.runner.compact(cmd.Compact(kit.runner.session.id))
        await kit.runner.idle()
        (made,) = compactions(kit)
        assert made.summary == summary and "do it" in made.ledger
        assert "c-note" not in str(kit.broker.ran) and "ls" not in kit.broker.ran
        assert sum(asks_for_summary(request) for request in kit.model.requests) == 2
        await kit.runner.close()


# --- what comes meanwhile --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["steer", "follow_up"])
@pytest.mark.parametrize("interrupted", [False, True])
async def test_messages_sent_while_an_idle_session_is_compacted_are_answered_in_order(
    tmp_path: Path, kind: str, interrupted: bool
) -> None:
    gate = Gate()
    kit = make_kit(tmp_path, [*long_turns(6), [text("done")], gate, [text(NOTE)]])
    kit.model.context_window = 40_000
    kit.runner.send("do it", "steer")
    await kit.runner.idle()
    kit.runner.compact(cmd.Compact(kit.runner.session.id))
    await gate.reached.wait()
    kit.runner.send("first", kind)
    kit.runner.send("second", kind)
    kit.runner.interrupt() if interrupted else gate.passed.set()
    await kit.until(lambda: not kit.runner.session.state.pending)
    await kit.runner.idle()
    assert [e.text for e in kit.events if e.type == "user_message"] == ["do it", "first", "second"]
    assert kit.runner.session.state.stage == "finished"
    assert len(compactions(kit)) == (not interrupted)
    for request in kit.model.requests:
        assert request.messages[-1].role == "user", "no turn without anything new"
    await kit.runner.close()


async def test_a_message_sent_during_a_compaction_in_a_run_is_in_the_next_request(tmp_path: Path) -> None:
    gate = Gate()
    kit = make_kit(tmp_path, [*long_turns(11), gate, [text(NOTE)], [text("understood")]])
    kit.model.context_window = 40_000
    kit.runner.send("do it", "steer")
    await gate.reached.wait()
    assert asks_for_summary(kit.model.requests[-1])
    kit.runner.send("stop that plan", "steer")
    gate.passed.set()
    await kit.runner.idle()
    after = kit.model.requests[-1].messages[-1].parts
    assert any(isinstance(part, ev.TextBlock) and part.text == "stop that plan" for part in after)
    assert len(compactions(kit)) == 1
    await kit.runner.close()


async def test_what_a_summary_took_out_of_the_runtime_context_is_said_again(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [*long_turns(6), [text("done")], [text(NOTE)], [text("and on")]])
    kit.model.context_window = 40_000
    kit.runner.send("do it", "steer")
    await kit.runner.idle()
    kit.runner.compact(cmd.Compact(kit.runner.session.id))
    await kit.runner.idle()
    kit.runner.send("go on", "steer")
    await kit.runner.idle()
    said = [e for e in kit.events if e.type == "runtime_update" and e.kind == "environment"]
    assert len(said) == 2
    assert "working folder" in str(kit.model.requests[-1].messages[-1])
    await kit.runner.close()


# --- what does not fit -----------------------------------------------------------------------------------------------


async def test_results_that_together_overflow_the_window_are_moved_out_before_the_request(tmp_path: Path) -> None:
    reads = [ev.ToolCall(id=f"read{n}", name="fs_read", input={"path": f"f{n}.txt"}) for n in range(7)]
    kit = make_kit(tmp_path, [[text("done")]])
    kit.model.context_window = 60_000
    session = kit.runner.session
    session.say("read all")
    session.append(ev.AssistantMessage(turn=1, model=kit.model.spec, blocks=tuple(reads), stop="tool_calls"))
    for call in reads:
        words = f"{call.id} " * 10_000
        session.append(ev.ToolResult(call_id=call.id, turn=1, name="fs_read", status="ok", text=words))
    kit.runner.start()
    await kit.runner.idle()
    assert session.state.stage == "finished"
    assert [e.kind for e in compactions(kit)] == ["offload"]
    (request,) = kit.model.requests
    assert tokens.count(str(request.messages)) < 60_000
    assert "read6 read6" in str(request.messages[-1]), "the newest stays"
    await kit.runner.close()


async def test_long_answers_are_compacted_before_the_window_is_full(tmp_path: Path) -> None:
    answers = [[text(f"{n} " + "word " * 20_000), shell(f"c{n}", f"step {n}")] for n in range(20)]
    turns = [lambda request, n=n: [text(NOTE)] if asks_for_summary(request) else answers.pop(0) for n in range(24)]
    kit = make_kit(tmp_path, turns)  # type: ignore[arg-type]
    kit.runner.send("do it", "steer")
    await kit.until(lambda: not answers or not kit.runner.running)
    kit.runner.interrupt()
    await kit.runner.idle()
    assert not answers and len(compactions(kit)) >= 2
    assert max(tokens.count(str(request.messages)) for request in kit.model.requests[::3]) < 200_000
    await kit.runner.close()


async def test_what_cannot_be_made_smaller_is_said_once_and_ends_the_run_only_when_it_does_not_fit(
    tmp_path: Path,
) -> None:
    steps = [[shell(f"s{n}", f"step {n}")] for n in range(5)]
    kit = make_kit(tmp_path / "tight", [*steps, [text("done")]])
    kit.model.context_window = 4_100
    kit.runner.send("do it", "steer")
    await kit.runner.idle()
    assert kit.runner.session.state.stage == "finished"
    notices = [e for e in kit.events if e.type == "notice" and "nearly full" in e.text]
    assert len(notices) == 1 and "larger window" in notices[0].hint
    await kit.runner.close()
    kit = make_kit(tmp_path / "over", [[text("never asked")]])
    kit.model.context_window = 20_000
    kit.runner.send("word " * 30_000, "steer")
    await kit.runner.idle()
    assert kit.runner.session.state.stage == "failed" and not kit.model.requests
    assert "larger window" in kit.runner.session.state.stage_detail
    assert not compactions(kit)
    await kit.runner.close()


async def test_a_provider_that_always_says_overflow_ends_the_run(tmp_path: Path) -> None:
    full = ModelError("context_overflow", "too long")
    kit = make_kit(tmp_path, [*long_turns(6), *[full] * 20])
    kit.runner.send("do it", "steer")
    await kit.runner.idle()
    assert kit.runner.session.state.stage == "failed"
    assert len(compactions(kit)) <= 3
    await kit.runner.close()
