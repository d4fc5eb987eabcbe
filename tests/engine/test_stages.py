"""A run ends only when its completion criteria hold; its stages follow one another by their conditions."""

from __future__ import annotations

from pathlib import Path

from engine import commands as cmd
from engine import events as ev
from engine.state import fold
from tests.engine.kit import Kit, Turn, make_kit, shell, text


async def carried_out(tmp_path: Path, turns: list[Turn], name: str, value: object) -> Kit:
    kit = make_kit(tmp_path, turns)
    kit.runner.change(cmd.ChangeSetting(kit.runner.session.id, name, value))
    kit.runner.send("do it", "steer")
    await kit.runner.idle()
    await kit.runner.close()
    return kit


def updates(kit: Kit, kind: str) -> list[str]:
    return [e.text for e in kit.events if e.type == "runtime_update" and e.kind == kind]


async def test_it_goes_on_until_the_tests_pass(tmp_path: Path) -> None:
    turns: list[Turn] = [[text("done")], [shell("c1", "pytest || true")], [text("done")], [shell("c2", "pytest")]]
    kit = await carried_out(tmp_path, [*turns, [text("done")]], "done_when", ["tests_pass == true"])
    assert kit.runner.session.state.stage == "finished"
    assert len(updates(kit, "not done")) == 2
    assert "now: unknown, no test has run since the last edit" in updates(kit, "not done")[0]


async def test_three_reminders_without_progress_are_a_failure(tmp_path: Path) -> None:
    kit = await carried_out(tmp_path, [[text("done")]] * 4, "done_when", ["tests_pass == true"])
    assert kit.runner.session.state.stage == "failed"
    assert "the completion criteria do not hold: tests_pass" in kit.runner.session.state.stage_detail
    assert len(kit.model.requests) == 4


async def test_the_model_reads_each_stage_it_enters(tmp_path: Path) -> None:
    stages = [{"name": "look", "until": "calls >= 1"}, {"name": "test", "until": "tests_pass"}]
    turns: list[Turn] = [[shell("c1", "ls")], [shell("c2", "pytest")], [text("done")]]
    kit = await carried_out(tmp_path, turns, "stages", stages)
    assert [e.stage for e in kit.events if isinstance(e, ev.StageChanged)] == ["test", ""]
    assert [said.splitlines()[0] for said in updates(kit, "stage")] == [
        "stage: look",
        "stage: test",
        "All stages are done.",
    ]
    assert "stage: test" in repr(kit.model.requests[1].messages)
    assert kit.runner.session.state.stage == "finished"


async def test_a_condition_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    kit = await carried_out(tmp_path, [[text("done")]], "done_when", ["tests_pas"])
    assert kit.runner.session.state.done_when == ()
    assert any(e.type == "notice" and "column 1" in e.text for e in kit.events)


async def test_stages_that_are_passed_already_are_passed_at_once(tmp_path: Path) -> None:
    stages = [
        {"name": "a", "until": "calls >= 0"},
        {"name": "b", "until": "turns >= 1"},
        {"name": "c", "until": "tests_pass"},
    ]
    kit = await carried_out(tmp_path, [[text("done")], [shell("c1", "pytest")], [text("done")]], "stages", stages)
    changed = [e for e in kit.events if isinstance(e, ev.StageChanged)]
    assert [e.stage for e in changed] == ["b", "c", ""]
    assert changed[0].seq < next(e.seq for e in kit.events if e.type == "turn_started")
    assert updates(kit, "not done") == [
        "The task is not done. What does not hold:\n"
        "- stage c: tests_pass (now: unknown, no test has run since the last edit)\nGo on with it."
    ]


async def test_a_command_that_may_write_makes_the_tests_unknown(tmp_path: Path) -> None:
    turns: list[Turn] = [[shell("c1", "pytest"), shell("c2", "git status"), shell("c3", "sed -i s/a/b/ x.py")]]
    kit = await carried_out(tmp_path, [*turns, [text("done")], [shell("c4", "pytest")]], "done_when", ["tests_pass"])
    state = kit.runner.session.state
    assert len(updates(kit, "not done")) == 1
    assert (state.stage, state.tests_pass) == ("finished", True)


def test_what_a_person_made_of_a_command_is_what_counts() -> None:
    asked = ev.ApprovalRequested(
        id="a", digest="", call_id="c", tool="shell_run", kind="command", subject="", cwd="", policy="", risk="high"
    )
    events: list[ev.Event] = [
        ev.AssistantMessage(turn=1, model="m", blocks=(shell("c", "pytest"),)),
        asked,
        ev.ApprovalDecided(id="a", digest="", choice="edit", command="true"),
        ev.ToolResult(call_id="c", turn=1, name="shell_run", status="ok", text="", exit_code=0),
    ]
    assert fold(events).tests_pass is None
    assert fold([*events[:2], *events[3:]]).tests_pass is True
