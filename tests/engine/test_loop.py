"""The loop: what a person types, denies or interrupts may arrive at any point, and nothing is lost, twice or false."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import commands as cmd
from engine import events as ev
from engine.models.base import ModelError
from engine.prompt.build import build
from tests.engine.kit import Gate, Kit, make_kit, shell, text


def results(kit: Kit) -> dict[str, str]:
    return {e.call_id: e.status for e in kit.events if e.type == "tool_result"}


def said(kit: Kit) -> list[tuple[str, str]]:
    return [(e.kind, e.text) for e in kit.events if e.type == "user_message"]


def check_valid(kit: Kit) -> None:
    """Each call has exactly one result right after it, and the request ends with the user."""
    messages = build(kit.events, kit.runner.session.state).messages
    for before, after in zip(messages, (*messages[1:], None), strict=True):
        calls = [p.id for p in before.parts if p.kind == "tool_call"] if before.role == "assistant" else []
        if calls:
            assert after is not None
            answered = [p.call_id for p in after.parts if hasattr(p, "call_id")]
            assert answered == calls
    stored = [e.call_id for e in kit.events if e.type == "tool_result"]
    assert len(stored) == len(set(stored)) == sum(len(e.calls) for e in kit.events if e.type == "assistant_message")


async def test_a_task_with_calls_runs_to_its_end(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[text("I look"), shell("c1", "ls"), shell("c2", "fail")], [text("done")]])
    kit.runner.send("do it", "steer")
    await kit.runner.idle()
    assert results(kit) == {"c1": "ok", "c2": "error"}
    assert kit.runner.session.state.stage == "finished"
    check_valid(kit)
    await kit.runner.close()


async def test_requests_are_append_only(tmp_path: Path) -> None:
    turns = [[shell(f"c{i}", f"step {i}")] for i in range(6)]
    kit = make_kit(tmp_path, [*turns, [text("done")]])
    kit.runner.send("do it", "steer")
    await kit.runner.idle()
    kit.runner.send("and more", "steer")
    await kit.runner.idle()
    flat = [[p for m in r.messages for p in m.parts] for r in kit.model.requests]
    assert len(flat) == 8
    assert all(after[: len(before)] == before for before, after in zip(flat, flat[1:], strict=False))
    await kit.runner.close()


async def test_steering_during_a_tool_enters_after_it_and_skips_the_rest(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "hold 1"), shell("c2", "never")], [text("as you say")]])
    kit.runner.send("do it", "steer")
    await kit.broker.gate("hold 1").reached.wait()
    kit.runner.send("other way", "steer")
    kit.broker.gate("hold 1").passed.set()
    await kit.runner.idle()
    assert results(kit) == {"c1": "ok", "c2": "skipped"}
    assert "never" not in kit.broker.ran
    assert said(kit) == [("prompt", "do it"), ("steer", "other way")]
    assert kit.model.requests[1].messages[-1].parts[-1] == text("other way")
    check_valid(kit)
    await kit.runner.close()


async def test_steering_while_the_answer_streams_is_answered_in_the_same_run(tmp_path: Path) -> None:
    gate = Gate()
    kit = make_kit(tmp_path, [gate, [text("first")], [text("second")]])
    kit.runner.send("do it", "steer")
    await gate.reached.wait()
    kit.runner.send("wait, this", "steer")
    gate.passed.set()
    await kit.runner.idle()
    assert said(kit) == [("prompt", "do it"), ("steer", "wait, this")]
    assert len(kit.of(ev.RunFinished)) == 1
    assert len(kit.model.requests) == 2
    await kit.runner.close()


async def test_steering_while_calls_stream_skips_them_all(tmp_path: Path) -> None:
    gate = Gate()
    kit = make_kit(tmp_path, [gate, [shell("c1", "ls")], [text("ok")]])
    kit.runner.send("do it", "steer")
    await gate.reached.wait()
    kit.runner.send("stop that", "steer")
    gate.passed.set()
    await kit.runner.idle()
    assert results(kit) == {"c1": "skipped"}
    assert kit.broker.ran == []
    check_valid(kit)
    await kit.runner.close()


async def test_a_follow_up_waits_for_the_end_and_a_steer_goes_first(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "hold 1")], [text("one")], [text("two")]])
    kit.runner.send("do it", "steer")
    await kit.broker.gate("hold 1").reached.wait()
    kit.runner.send("later", "follow_up")
    kit.runner.send("now", "steer")
    kit.broker.gate("hold 1").passed.set()
    await kit.runner.idle()
    assert said(kit) == [("prompt", "do it"), ("steer", "now"), ("follow_up", "later")]
    assert kit.runner.session.state.pending == ()
    await kit.runner.close()


async def test_a_message_can_be_taken_back_before_it_is_delivered(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "hold 1")], [text("one")]])
    kit.runner.send("do it", "steer")
    await kit.broker.gate("hold 1").reached.wait()
    kit.runner.send("keep", "follow_up")
    kit.runner.send("oops", "steer")
    kit.runner.take_back(cmd.TakeBack(kit.runner.session.id))
    kit.broker.gate("hold 1").passed.set()
    await kit.runner.idle()
    assert said(kit) == [("prompt", "do it"), ("follow_up", "keep")]
    assert results(kit) == {"c1": "ok"}
    await kit.runner.close()


@pytest.mark.parametrize("where", ["stream", "tool", "approval"])
async def test_interrupt_stops_there_and_the_next_request_is_valid(tmp_path: Path, where: str) -> None:
    gate = Gate()
    turns = {
        "stream": [gate, [shell("c1", "ls")]],
        "tool": [[shell("c1", "hold 1"), shell("c2", "ls")]],
        "approval": [[shell("c1", "ask 1"), shell("c2", "ls")]],
    }[where]
    kit = make_kit(tmp_path, [*turns, [text("new answer")]] if where != "stream" else turns)
    kit.runner.send("do it", "steer")
    reached = {
        "stream": gate.reached.is_set,
        "tool": kit.broker.gate("hold 1").reached.is_set,
        "approval": lambda: bool(kit.of(ev.ApprovalRequested)),
    }[where]
    await kit.until(reached)
    kit.runner.interrupt()
    await kit.runner.idle()
    assert kit.runner.session.state.stage == "interrupted"
    if where == "stream":
        assert [e.aborted for e in kit.events if e.type == "assistant_message"] == [True]
    else:
        assert results(kit) == {"c1": "cancelled" if where == "tool" else "skipped", "c2": "skipped"}
    if where == "approval":
        decided = kit.of(ev.ApprovalDecided)
        assert [(e.choice, e.by) for e in decided if e.type == "approval_decided"] == [("deny", "interrupt")]
    kit.runner.send("go on", "steer")
    await kit.runner.idle()
    assert kit.runner.session.state.stage == "finished"
    check_valid(kit)
    await kit.runner.close()


async def test_what_a_cut_command_had_said_is_kept_with_how_long_it_ran(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "hold it")]])
    kit.runner.send("go", "steer")
    await kit.broker.gate("hold it").reached.wait()
    kit.runner.interrupt()
    await kit.runner.idle()
    (result,) = kit.of(ev.ToolResult)
    assert result.type == "tool_result" and result.status == "cancelled"
    assert result.text.startswith("so far\n[Interrupted while it was running.")
    assert 0 < result.seconds < 60
    await kit.runner.close()


async def test_a_tool_that_ended_at_the_interrupt_keeps_its_real_result(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "hold 1")]])
    kit.runner.send("do it", "steer")
    await kit.broker.gate("hold 1").reached.wait()
    kit.broker.gate("hold 1").passed.set()
    kit.runner.interrupt()
    await kit.runner.idle()
    assert results(kit)["c1"] in ("ok", "cancelled")
    assert kit.runner.session.state.stage == "interrupted"
    await kit.runner.close()


async def test_denial_with_a_reason_reaches_the_model_and_ends_the_run_as_denied(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "ask 1")], [text("then not")]])
    kit.runner.send("do it", "steer")
    await kit.until(lambda: bool(kit.of(ev.ApprovalRequested)))
    kit.runner.decide(cmd.Decide(kit.runner.session.id, "a-c1", "digest", "deny", reason="not now"))
    await kit.runner.idle()
    assert results(kit) == {"c1": "denied"}
    assert "not now" in next(e.text for e in kit.events if e.type == "tool_result")
    assert kit.runner.session.state.stage == "denied"
    await kit.runner.close()


async def test_an_answer_for_other_bytes_than_were_shown_approves_nothing(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "ask 1")], [text("ok")]])
    kit.runner.send("do it", "steer")
    await kit.until(lambda: bool(kit.of(ev.ApprovalRequested)))
    kit.runner.decide(cmd.Decide(kit.runner.session.id, "a-c1", "another", "once"))
    assert not kit.of(ev.ApprovalDecided)
    kit.runner.decide(cmd.Decide(kit.runner.session.id, "a-c1", "digest", "once"))
    await kit.runner.idle()
    assert results(kit) == {"c1": "ok"}
    await kit.runner.close()


@pytest.mark.parametrize(
    ("limits", "word"),
    [
        (ev.Limits(turns=2), "turns"),
        (ev.Limits(tool_calls=2), "tool calls"),
        (ev.Limits(tokens=220), "tokens"),
        (ev.Limits(repeats=2), "times in a row"),
    ],
)
async def test_each_limit_stops_the_run_with_its_reason(tmp_path: Path, limits: ev.Limits, word: str) -> None:
    kit = make_kit(tmp_path, [[shell(f"c{i}", "same")] for i in range(9)], limits)
    kit.runner.send("do it", "steer")
    await kit.runner.idle()
    state = kit.runner.session.state
    assert state.stage == "limit"
    assert word in state.stage_detail
    assert state.run_turns <= 3
    check_valid(kit)
    await kit.runner.close()


async def test_the_limit_of_tool_calls_holds_within_one_batch(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell(f"c{i}", f"step {i}") for i in range(5)], [text("x")]], ev.Limits(tool_calls=2))
    kit.runner.send("do it", "steer")
    await kit.runner.idle()
    assert kit.broker.ran == ["step 0", "step 1"]
    assert list(results(kit).values()) == ["ok", "ok", "skipped", "skipped", "skipped"]
    await kit.runner.close()


async def test_the_limit_of_seconds_cuts_a_running_tool(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "hold forever")]], ev.Limits(seconds=0.3))
    kit.runner.send("do it", "steer")
    await kit.runner.idle()
    assert kit.runner.session.state.stage == "limit"
    assert results(kit) == {"c1": "cancelled"}
    await kit.runner.close()


async def test_a_failing_model_ends_the_run_with_what_to_do(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [ModelError("auth", "the key was refused", suggestion="set ANTHROPIC_API_KEY")])
    kit.runner.send("do it", "steer")
    await kit.runner.idle()
    state = kit.runner.session.state
    assert (state.stage, state.last_error) == ("failed", "the key was refused")
    assert "ANTHROPIC_API_KEY" in state.stage_detail
    await kit.runner.close()


async def test_a_session_closed_during_a_call_goes_on_after_it_is_opened_again(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "hold 1")]])
    kit.runner.send("do it", "steer")
    await kit.broker.gate("hold 1").reached.wait()
    await kit.runner.close()
    again = make_kit(tmp_path, [[text("where were we")]], resume=kit.runner.session.id)
    assert results(again) == {"c1": "cancelled"}
    again.runner.send("go on", "steer")
    await again.runner.idle()
    assert again.runner.session.state.stage == "finished"
    check_valid(again)
    await again.runner.close()
