"""A run ends only when its completion criteria hold; its stages follow one another by their conditions."""

from __future__ import annotations

from pathlib import Path

from engine import commands as cmd
from engine import events as ev
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
