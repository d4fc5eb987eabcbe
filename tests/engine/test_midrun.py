"""A person's hand in a run: pause and step at every point, arrange what waits, run a command, decide about a plan."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

import pytest

from engine import commands as cmd
from engine import events as ev
from engine.limits import WorkClock
from engine.prompt.build import build
from engine.state import TaskState, fold
from tests.engine.kit import Gate, Kit, make_kit, shell, text

E = TypeVar("E", bound=ev.Stored)


def of(kit: Kit, kind: type[E]) -> list[E]:
    return [e for e in kit.events if isinstance(e, kind)]


def turns_of(kit: Kit) -> int:
    return len(of(kit, ev.TurnStarted))


def consistent(kit: Kit) -> None:
    """The state is the fold of the events, wherever they are cut in two."""
    whole = kit.runner.session.state
    start = TaskState(session=whole.session)
    for at in range(len(kit.events) + 1):
        assert fold(kit.events[at:], fold(kit.events[:at], start)) == whole


def append_only(kit: Kit) -> None:
    flat = [[p for m in r.messages for p in m.parts] for r in kit.model.requests]
    assert all(after[: len(before)] == before for before, after in zip(flat, flat[1:], strict=False))


def stands(kit: Kit) -> bool:
    return kit.runner.session.state.stage == "paused"


def asked_for(kit: Kit, times: int) -> bool:
    return len(of(kit, ev.ApprovalRequested)) == times


def stepped(kit: Kit, turns: int) -> bool:
    return turns_of(kit) == turns and stands(kit)


def arrange(kit: Kit, *items: tuple[str, str, str]) -> None:
    kit.runner.arrange(cmd.ArrangeQueue(kit.runner.session.id, items))


# --- pause and step ---------------------------------------------------------------------------------------------------


async def test_a_pause_during_a_batch_lets_all_of_it_end_and_no_turn_begin(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "hold"), shell("c2", "two")], [text("done")]])
    kit.runner.send("do it", "steer")
    await kit.broker.gate("hold").reached.wait()
    kit.runner.pause()
    assert not stands(kit)
    kit.broker.gate("hold").passed.set()
    await kit.until(lambda: stands(kit))
    assert (kit.broker.ran, turns_of(kit)) == (["hold", "two"], 1)
    kit.runner.go_on(0)
    await kit.runner.idle()
    assert kit.runner.session.state.stage == "finished"
    consistent(kit)
    await kit.runner.close()


async def test_a_pause_while_the_model_answers_never_cuts_the_answer(tmp_path: Path) -> None:
    gate = Gate()
    kit = make_kit(tmp_path, [gate, [shell("c1", "one")], [text("done")]])
    kit.runner.send("do it", "steer")
    await gate.reached.wait()
    kit.runner.pause()
    gate.passed.set()
    await kit.until(lambda: stands(kit))
    assert kit.broker.ran == ["one"]
    assert turns_of(kit) == 1
    await kit.runner.close()


async def test_a_pause_while_a_person_is_asked_waits_for_them_and_runs_nothing_unasked(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "ask"), shell("c2", "ask again")], [text("done")]])
    kit.runner.send("do it", "steer")
    await kit.until(lambda: bool(of(kit, ev.ApprovalRequested)))
    for _ in range(3):
        kit.runner.pause()
        kit.runner.go_on(0)
    kit.runner.pause()
    assert not of(kit, ev.ToolResult)
    for n, id in enumerate(("a-c1", "a-c2"), 1):
        await kit.until(partial(asked_for, kit, n))
        kit.runner.decide(cmd.Decide("", id, "digest", "deny"))
    await kit.until(lambda: stands(kit))
    assert [e.status for e in of(kit, ev.ToolResult)] == ["denied", "denied"]
    await kit.runner.close()


async def test_a_step_lets_exactly_one_turn_and_its_calls_happen(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell(f"c{n}", f"step {n}"), shell(f"d{n}", "more")] for n in range(3)])
    kit.runner.pause()
    kit.runner.send("do it", "steer")
    for n in range(1, 4):
        await kit.until(lambda: stands(kit))
        assert turns_of(kit) == n - 1
        kit.runner.go_on(1)
        await kit.until(partial(stepped, kit, n))
        assert len(kit.broker.ran) == 2 * n
    kit.runner.go_on(2)
    await kit.runner.idle()
    assert kit.runner.session.state.stage == "finished"
    consistent(kit)
    await kit.runner.close()


async def test_pause_and_go_on_and_pause_at_once_is_a_pause(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[text("done")]])
    kit.runner.pause()
    kit.runner.send("do it", "steer")
    await kit.until(lambda: stands(kit))
    kit.runner.go_on(0)
    kit.runner.pause()
    kit.runner.take_back(cmd.TakeBack(""))
    await kit.until(lambda: stands(kit))
    assert not kit.model.requests
    await kit.runner.close()


async def test_interrupting_a_paused_run_ends_it_and_steering_waits_for_its_turn(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[text("done")]])
    kit.runner.pause()
    kit.runner.send("do it", "steer")
    await kit.until(lambda: kit.people.clock._pauses == 1)
    kit.runner.send("and this", "steer")
    assert [p.text for p in kit.runner.session.state.pending] == ["and this"]
    kit.runner.interrupt()
    await kit.until(lambda: bool(of(kit, ev.RunFinished)))
    assert not kit.model.requests
    kit.runner.go_on(0)
    await kit.until(lambda: kit.runner.session.state.stage == "finished")
    assert [e.text for e in of(kit, ev.UserMessage)] == ["do it", "and this"]
    consistent(kit)
    await kit.runner.close()


async def test_a_pause_survives_a_restart_and_going_on_takes_the_work_up_again(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [])
    kit.runner.pause()
    kit.runner.send("do it", "steer")
    await kit.until(lambda: kit.people.clock._pauses == 1)
    await kit.runner.close()
    again = make_kit(tmp_path, [[text("done")]], resume=kit.runner.session.id)
    assert again.runner.session.state.paused
    again.runner.go_on(1)
    await again.runner.idle()
    assert again.runner.session.state.stage == "finished"
    assert again.runner.session.state.paused
    await again.runner.close()


async def test_the_clock_stands_still_while_paused(tmp_path: Path) -> None:
    now = [0.0]
    kit = make_kit(tmp_path, [[text("done")]])
    kit.runner.pause()
    kit.runner.send("do it", "steer")
    kit.people.clock = WorkClock(lambda: now[0])
    await kit.until(lambda: stands(kit))
    await kit.until(lambda: kit.people.clock._pauses == 1)
    now[0] = 100.0
    assert kit.people.clock.seconds == 0.0
    kit.runner.go_on(0)
    await kit.runner.idle()
    await kit.runner.close()


async def test_a_limit_changed_while_paused_holds(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "one")], [text("done")]])
    kit.runner.pause()
    kit.runner.send("do it", "steer")
    kit.runner.go_on(1)
    await kit.until(lambda: stands(kit))
    kit.runner.change(cmd.ChangeSetting("", "limits", {"turns": 1}))
    kit.runner.go_on(0)
    await kit.runner.idle()
    assert (kit.runner.session.state.stage, turns_of(kit)) == ("limit", 1)
    await kit.runner.close()


async def test_stopping_after_the_calls_lets_the_running_one_end_and_starts_no_other(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "hold"), shell("c2", "never")], [text("no")]])
    kit.runner.send("do it", "steer")
    await kit.broker.gate("hold").reached.wait()
    kit.runner.interrupt(after_calls=True)
    kit.broker.gate("hold").passed.set()
    await kit.runner.idle()
    assert [e.status for e in of(kit, ev.ToolResult)] == ["ok", "skipped"]
    assert (kit.runner.session.state.stage, turns_of(kit)) == ("interrupted", 1)
    await kit.runner.close()


# --- what waits -------------------------------------------------------------------------------------------------------


async def test_messages_go_out_as_arranged_steers_before_follow_ups(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "hold")], [text("a")], [text("b")], [text("c")]])
    kit.runner.send("do it", "steer")
    await kit.broker.gate("hold").reached.wait()
    for words, kind in (("f1", "follow_up"), ("s1", "steer"), ("s2", "steer"), ("f2", "follow_up"), ("x", "steer")):
        kit.runner.send(words, kind)
    f1, s1, s2, f2, x = kit.runner.session.state.pending
    ordered = ((f2, "f2"), (s2, "s2 edited"), (x, ""), (f1, "f1"), (s1, "s1"))
    arrange(kit, *((item.id, item.kind, words) for item, words in ordered))
    kit.broker.gate("hold").passed.set()
    await kit.runner.idle()
    assert [e.text for e in of(kit, ev.UserMessage)] == ["do it", "s2 edited", "s1", "f2", "f1"]
    settled = {s.text: s.turn for s in kit.runner.session.state.settled}
    assert settled == {"x": 0, "s2 edited": 2, "s1": 2, "f2": 3, "f1": 4}
    assert all(s.at and not s.why for s in kit.runner.session.state.settled)
    consistent(kit)
    await kit.runner.close()


async def test_what_came_while_a_person_arranged_waits_on_after_the_rest(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "hold")], [text("a")]])
    kit.runner.send("do it", "steer")
    await kit.broker.gate("hold").reached.wait()
    for words in ("s1", "s2", "unseen"):
        kit.runner.send(words, "steer")
    s1, s2, _ = kit.runner.session.state.pending
    arrange(kit, (s2.id, "steer", "s2"), (s1.id, "follow_up", "s1"))
    waiting = [(p.text, p.kind) for p in kit.runner.session.state.pending]
    assert waiting == [("s2", "steer"), ("s1", "follow_up"), ("unseen", "steer")]
    await kit.runner.close()


async def test_a_message_delivered_meanwhile_is_not_edited_and_that_is_said(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "hold 1")], [shell("c2", "hold 2")], [text("done")]])
    kit.runner.send("do it", "steer")
    await kit.broker.gate("hold 1").reached.wait()
    kit.runner.send("this way", "steer")
    (waiting,) = kit.runner.session.state.pending
    kit.broker.gate("hold 1").passed.set()
    await kit.broker.gate("hold 2").reached.wait()
    arrange(kit, (waiting.id, "steer", "that way"))
    assert [e.text for e in of(kit, ev.UserMessage)] == ["do it", "this way"]
    assert "delivered already: this way" in of(kit, ev.Notice)[-1].text
    assert not of(kit, ev.QueueArranged)
    await kit.runner.close()


async def test_a_steer_typed_while_a_pause_holds_a_follow_up_back_goes_first(tmp_path: Path) -> None:
    gate = Gate()
    kit = make_kit(tmp_path, [gate, [text("one")], [text("two")], [text("three")]])
    kit.runner.send("do it", "steer")
    await gate.reached.wait()
    kit.runner.send("later", "follow_up")
    kit.runner.pause()
    gate.passed.set()
    await kit.until(lambda: stands(kit))
    kit.runner.send("first this", "steer")
    kit.runner.go_on(0)
    await kit.runner.idle()
    assert [e.text for e in of(kit, ev.UserMessage)] == ["do it", "first this", "later"]
    await kit.runner.close()


# --- a person's own command -------------------------------------------------------------------------------------------


async def test_a_persons_command_is_stored_and_read_with_the_next_request(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[text("hi")], [text("I see")]])
    kit.runner.send("hello", "steer")
    await kit.runner.idle()
    kit.runner.run_command("fail it </person_ran> now")
    await kit.until(lambda: bool(of(kit, ev.PersonRan)))
    (ran,) = of(kit, ev.PersonRan)
    assert (ran.status, ran.exit_code) == ("error", 1)
    assert not kit.runner.running
    kit.runner.send("look", "steer")
    await kit.runner.idle()
    read = kit.model.requests[-1].messages[-1].parts[0].text
    assert "$ fail it &lt;/person_ran> now" in read
    assert "1 failed" in read and "exit code 1" in read
    append_only(kit)
    consistent(kit)
    await kit.runner.close()


async def test_a_command_beside_a_running_call_is_read_after_its_result(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "hold")], [text("done")]])
    kit.runner.send("do it", "steer")
    await kit.broker.gate("hold").reached.wait()
    kit.runner.run_command("ls")
    await kit.until(lambda: bool(of(kit, ev.PersonRan)))
    kit.broker.gate("hold").passed.set()
    await kit.runner.idle()
    parts = kit.model.requests[-1].messages[-1].parts
    assert [p.call_id for p in parts[:1]] == ["c1"]
    assert "$ ls" in parts[1].text
    append_only(kit)
    await kit.runner.close()


async def test_an_interrupt_ends_the_persons_command_and_not_the_run(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "hold agent")], [text("done")]])
    kit.runner.send("do it", "steer")
    await kit.broker.gate("hold agent").reached.wait()
    kit.runner.run_command("hold mine")
    await kit.broker.gate("hold mine").reached.wait()
    kit.runner.run_command("ls")
    assert "another command of yours" in of(kit, ev.Notice)[-1].text
    kit.runner.interrupt()
    await kit.until(lambda: bool(of(kit, ev.PersonRan)))
    assert of(kit, ev.PersonRan)[0].status == "cancelled"
    assert kit.runner.running
    kit.broker.gate("hold agent").passed.set()
    await kit.runner.idle()
    assert kit.runner.session.state.stage == "finished"
    await kit.runner.close()


# --- plans ------------------------------------------------------------------------------------------------------------


async def plan(kit: Kit) -> ev.PlanProposed:
    kit.runner.change(cmd.ChangeSetting("", "approve", "plan"))
    kit.runner.send("do it", "steer")
    await kit.runner.idle()
    return of(kit, ev.PlanProposed)[-1]


async def test_planning_only_reads_and_ends_in_a_plan(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "rm it")], [text("1. do this")], [shell("c2", "go")], [text("done")]])
    proposed = await plan(kit)
    assert proposed.text == "1. do this"
    assert kit.broker.ran == []
    refused = of(kit, ev.ToolResult)[0]
    assert (refused.status, refused.error) == ("error", "not while planning: shell_run may change something")
    assert "shell_run" not in (kit.model.requests[0].allowed_tools or ("shell_run",))
    assert "mode: plan" in kit.model.requests[0].messages[-1].parts[-1].text
    kit.runner.decide_plan(cmd.DecidePlan("", proposed.id, "approve", "1. do that"))
    await kit.runner.idle()
    assert kit.broker.ran == ["go"]
    assert kit.runner.session.state.approve == "ask"
    assert kit.runner.session.state.plan is None
    assert "1. do that" in of(kit, ev.UserMessage)[-1].text
    assert kit.model.requests[-1].allowed_tools is None
    append_only(kit)
    consistent(kit)
    await kit.runner.close()


async def test_the_work_goes_on_in_the_mode_the_plan_was_approved_with(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[text("1. do this")], [text("done")]])
    proposed = await plan(kit)
    kit.runner.decide_plan(cmd.DecidePlan("", proposed.id, "approve", mode="sandboxed"))
    await kit.runner.idle()
    assert kit.runner.session.state.approve == "sandboxed"
    await kit.runner.close()


async def test_a_rejected_plan_goes_back_with_its_reason_and_the_mode_stays(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[text("bad plan")], [text("better plan")]])
    proposed = await plan(kit)
    kit.runner.decide_plan(cmd.DecidePlan("", proposed.id, "reject", reason="too big"))
    await kit.runner.idle()
    assert of(kit, ev.UserMessage)[-1].text == "I reject this plan: too big"
    assert kit.runner.session.state.approve == "plan"
    assert of(kit, ev.PlanProposed)[-1].text == "better plan"
    kit.runner.decide_plan(cmd.DecidePlan("", proposed.id, "approve"))
    assert "decided about already" in of(kit, ev.Notice)[-1].text
    assert kit.runner.session.state.approve == "plan"
    await kit.runner.close()


@pytest.mark.parametrize("choice", ["approve", "reject"])
async def test_requests_can_be_built_again_from_the_log(tmp_path: Path, choice: Literal["approve", "reject"]) -> None:
    kit = make_kit(tmp_path, [[text("a plan")], [text("done")]])
    proposed = await plan(kit)
    kit.runner.decide_plan(cmd.DecidePlan("", proposed.id, choice, reason="no"))
    await kit.runner.idle()
    before = next(n for n, e in reversed(list(enumerate(kit.events))) if e.type == "turn_started")
    state = fold(kit.events[:before], TaskState(session=kit.runner.session.id))
    assert build(kit.events[:before], state) == kit.model.requests[-1]
    await kit.runner.close()


# --- what stopping could leave half done ------------------------------------------------------------------------------


async def test_the_state_names_the_calls_that_may_be_changing_something(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "hold and read")], [shell("c2", "hold and write")], [text("done")]])
    kit.runner.send("do it", "steer")
    await kit.broker.gate("hold and read").reached.wait()
    assert not kit.runner.session.state.in_effect
    kit.broker.gate("hold and read").passed.set()
    await kit.broker.gate("hold and write").reached.wait()
    assert [(c.call_id, c.title) for c in kit.runner.session.state.in_effect] == [("c2", "hold and write")]
    kit.runner.interrupt()
    await kit.runner.idle()
    assert not kit.runner.session.state.in_effect
    consistent(kit)
    await kit.runner.close()


async def test_a_call_a_person_is_asked_about_has_changed_nothing_yet(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c1", "ask")], [text("done")]])
    kit.runner.send("do it", "steer")
    await kit.until(partial(asked_for, kit, 1))
    assert not kit.runner.session.state.in_effect
    kit.runner.decide(cmd.Decide("", "a-c1", "digest", "once"))
    await kit.runner.idle()
    await kit.runner.close()
