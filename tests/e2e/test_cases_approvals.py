"""What may happen unasked, through the whole app: rules, links, and keys that were meant for something else."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.desk import Desk, call, shell, turn

RIDERS = (
    "git log; rm -rf kept",
    "git log\nrm -rf kept",
    "git log && rm -rf kept",
    "git log $(rm -rf kept)",
    "git log `rm -rf kept`",
    "git log | sh",
    "git log > kept/bashrc",
    "git -c core.pager='rm -rf kept' log",
    "GIT_PAGER='rm -rf kept' git log",
    "git log & rm -rf kept",
    "(git log; rm -rf kept)",
)
SENTENCE = "yes, you may say so, and easily"


def allow(desk: Desk, *rules: str) -> None:
    desk.home.rules.write_text("".join(f"[[rule]]\ntext = '{rule}'\n" for rule in rules))


def test_what_rides_on_an_allowed_command_is_not_allowed_with_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (desk.folder / "kept").mkdir()
    allow(desk, "allow shell git log *", "allow shell git log")
    model = desk.script(*(turn(shell(line)) for line in (*RIDERS, "git log")), turn(text="That was all."))
    done = desk.run("run", "--model", model, "--approve", "rules", "Try them.")
    statuses = [result.status for result in desk.of("tool_result")]
    assert statuses[:-1] == ["denied"] * len(RIDERS), done.err
    assert statuses[-1] != "denied", "the rule itself does allow what it says"
    assert list((desk.folder / "kept").iterdir()) == []


def test_a_link_out_of_the_workspace_leads_nowhere(tmp_path: Path) -> None:
    desk, outside = Desk(tmp_path), tmp_path / "outside"
    outside.mkdir()
    (desk.folder / "outbox").symlink_to(outside)
    (desk.folder / "notes").symlink_to(outside / "new.txt")
    model = desk.script(
        turn(call("fs_write", path="outbox/x", content="x")),
        turn(call("fs_write", path="notes", content="x")),
        turn(shell("echo x > outbox/y")),
        turn(text="None of it worked."),
    )
    desk.run("run", "--model", model, "--approve", "sandboxed", "Write there.")
    results = desk.of("tool_result")
    assert len(results) == 3
    assert all(result.status in ("denied", "error") for result in results), [r.text for r in results]
    assert list(outside.iterdir()) == []


def test_typing_on_when_a_dialog_appears_approves_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    model = desk.script(
        turn(shell("until [ -e go ]; do sleep 0.02; done")), turn(shell("rm -rf kept")), turn(text="So be it.")
    )
    (desk.folder / "kept").mkdir()
    with desk.open("--model", model, "--approve", "ask", "Tidy up.") as term:
        desk.answer(term, "y")
        term.wait_for("type to steer")
        (desk.folder / "go").touch()
        for at, sign in enumerate(SENTENCE, 1):
            term.send(sign)
            term.wait_for(SENTENCE[:at].split(" ")[-1] or SENTENCE[:at].strip()[-5:])
            if at == len(SENTENCE) // 2:
                term.wait_for(lambda: len(desk.of("approval_requested")) == 2)
        assert "Approve?" not in term.text, "it waits until the person pauses"
        term.wait_for("Approve?")
        term.send("yes\r\r y")
        term.wait_for("keys count")
        assert len(desk.of("approval_decided")) == 1
        term.keys("ctrl+q")
        assert term.exit_code() == 0, "leaving with the dialog open is safe"
    (_, last) = desk.of("approval_decided")
    assert (last.choice, last.by) == ("deny", "close")
    assert (desk.folder / "kept").exists()

    with desk.open("--continue", "--model", model, "--approve", "ask") as term:
        term.wait_for("Tidy up.")
        term.say("Leave it, then.")
        term.wait_for("So be it.")
        term.keys("ctrl+q")
        assert term.exit_code() == 0
