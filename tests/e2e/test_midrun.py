"""A person's hand in a run, in a real terminal with a scripted model: the queue, stopping, and a plan."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.desk import Desk, shell, turn

HOLD = "touch begun; until [ -e go ]; do sleep 0.02; done"


def began(desk: Desk) -> bool:
    return (desk.folder / "begun").exists()


def test_what_waits_is_edited_and_delivered_as_edited_and_a_late_edit_comes_back(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    model = desk.script(turn(shell(HOLD)), turn(shell("rm go begun; " + HOLD)), turn(text="All done."))
    with desk.open("--model", model, "--approve", "sandboxed", "Do both.") as term:
        term.wait_for(lambda: began(desk))
        term.say("the other way")
        term.wait_for("F12 shows all")
        term.keys("f12")
        term.wait_for("all before turn 2")
        term.keys("enter")
        term.wait_for("F5 keeps the text")
        term.send(", please")
        term.wait_for("way, please")
        term.keys("f5")
        term.wait_for(lambda: desk.has("queue_arranged", 1))
        term.wait_gone("F5 keeps the text")
        term.keys("enter")
        term.wait_for("F5 keeps the text")
        term.send(" and now")
        term.wait_for("please and now")
        (desk.folder / "go").touch()
        term.wait_for("delivered with turn 2")
        term.wait_for("What you wrote is in the composer")
        term.keys("escape")
        term.wait_for("› the other way, please and now")
        (desk.folder / "go").touch()
        term.wait_for(lambda: desk.has("run_finished", 1))
        term.keys("ctrl+q")
        assert term.exit_code() == 0
    assert [message.text for message in desk.of("user_message")] == ["Do both.", "the other way, please"]


def test_the_running_command_may_finish_and_nothing_else_is_started(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    model = desk.script(turn(shell(HOLD), shell("touch second")), turn(text="Not said."))
    with desk.open("--model", model, "--approve", "sandboxed", "Do both.") as term:
        term.wait_for(lambda: began(desk))
        term.keys("escape")
        term.wait_for("Let it finish, then stop")
        while "Stop the agent?" in term.text:
            term.wait_gone("keys count")
            term.keys("enter")
            term.wait_for(lambda: "keys count" in term.text or "Stop the agent?" not in term.text)
        (desk.folder / "go").touch()
        term.wait_for(lambda: desk.has("run_finished", 1))
        term.keys("ctrl+q")
        assert term.exit_code() == 0
    assert [result.status for result in desk.of("tool_result")] == ["ok", "skipped"]
    assert desk.of("run_finished")[0].reason == "interrupted"
    assert not (desk.folder / "second").exists()


def test_a_command_that_ends_while_a_person_thinks_is_not_followed_by_another(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    model = desk.script(turn(shell(HOLD)), turn(shell("until false; do sleep 0.02; done")))
    with desk.open("--model", model, "--approve", "sandboxed", "Do it.") as term:
        term.wait_for(lambda: began(desk))
        term.keys("escape")
        term.wait_for("Let it finish, then stop")
        (desk.folder / "go").touch()
        term.wait_gone("Stop the agent?")
        term.wait_for(lambda: desk.has("run_finished", 1) or "after the one that runs now" in term.text)
        if not desk.has("run_finished", 1):
            # The next one had begun, and the screen knew: it may finish, which takes for ever, or be stopped.
            term.keys("escape")
            term.wait_for("Stop it now")
            term.keys("escape")
        term.wait_for(lambda: desk.has("run_finished", 1))
        term.keys("ctrl+q")
        assert term.exit_code() == 0
    assert desk.of("run_finished")[0].reason == "interrupted"


def test_a_plan_is_read_and_carried_out_in_the_mode_that_was_chosen(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    model = desk.script(turn(text="## The plan\n\n1. make **it**"), turn(shell("touch made")), turn(text="It is made."))
    with desk.open("--model", model, "--approve", "ask") as term:
        term.wait_for("say what should be done")
        term.say("/approve plan")
        term.wait_for(lambda: desk.has("setting_changed", 1))
        term.say("Make it.")
        term.wait_for("Approve this plan?")
        assert "1. make it" in term.text
        while "Approve this plan?" in term.text:
            term.wait_gone("keys count")
            term.keys("c")
            term.wait_for(lambda: "keys count" in term.text or "Approve this plan?" not in term.text)
        term.wait_for("It is made.")
        term.wait_for("contained")
        term.keys("ctrl+q")
        assert term.exit_code() == 0
    assert (desk.folder / "made").exists()
    assert desk.of("approval_requested") == []
    assert [decided.choice for decided in desk.of("plan_decided")] == ["approve"]
