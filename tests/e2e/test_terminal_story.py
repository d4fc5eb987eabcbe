"""A person's first hour with it, from an empty home to the replay, in one terminal after another."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.desk import Desk, call, shell, turn
from tests.e2e.terminal import MOUSE_AND_SCREEN, Terminal

WAITS = "until [ -e go ]; do sleep 0.02; done; echo it went"
STEER = "also keep the old name"
REASON = "nothing leaves this machine today"
TODO = [{"text": "find the sum", "status": "done"}, {"text": "publish it", "status": "active"}]


def story(desk: Desk) -> str:
    """Looks, reads, edits, runs something long, is steered, wants to push, takes a no, and goes on another day."""
    return desk.script(
        turn(call("fs_list"), call("fs_read", path="shop.py"), text="I look around first."),
        turn(call("fs_edit", path="shop.py", old="a - b", new="a + b"), text="The sign is wrong."),
        turn(call("todo_write", items=TODO), shell(WAITS), to=[{"when": {"says": STEER}, "goto": "steered"}]),
        turn(text="Nobody steered me."),
        turn(shell("git push origin main"), label="steered", text="The old name stays."),
        turn(text="I was told why.", label="why"),
        turn(text="Welcome back.", label="again"),
        next=[
            {"when": {"status": "error", "contains": REASON}, "goto": "why"},
            {"when": {"says": "another day"}, "goto": "again"},
        ],
    )


def test_first_run_task_approve_steer_deny_quit_continue_replay(tmp_path: Path) -> None:
    desk = Desk(tmp_path, settled=False)
    (desk.folder / "shop.py").write_text("def total(a, b):\n    return a - b\n")
    model = story(desk)
    with desk.open("--model", model, "--approve", "ask") as term:
        term.wait_for("try it now with no model")
        term.keys("enter")
        term.wait_for("say what should be done")
        term.say("Mend the sum, please.")

        term.wait_for("Approve?")
        term.wait_for("a + b")
        term.wait_for("return a - b")
        assert (desk.folder / "shop.py").read_text().endswith("a - b\n"), "nothing was written before the answer"
        desk.answer(term, "y")
        term.wait_for(lambda: (desk.folder / "shop.py").read_text().endswith("a + b\n"))

        term.wait_for("until [ -e go ]")
        desk.answer(term, "y", number=2)
        term.wait_for(lambda: "publish it" in term.text and "find the sum" in term.text)
        steer(term, desk)

        term.wait_for("git push origin main")
        desk.answer(term, "d", number=3)
        term.wait_for("Enter sends, Esc returns")
        term.say(REASON)
        term.wait_for("I was told why.")
        term.wait_for("something was denied")
        term.keys("ctrl+q")
        assert term.exit_code() == 0
        assert term.modes & MOUSE_AND_SCREEN == set()
        term.wait_for("agent-tui --continue")
    (denial,) = [e for e in desk.of("tool_result") if e.status == "denied"]
    assert REASON in denial.text

    go_on(desk, model)
    watch_again(desk)


def steer(term: Terminal, desk: Desk) -> None:
    """Say something while the command runs: it is shown as waiting, then delivered after it."""
    term.wait_for(lambda: any(e.title.startswith("until") for e in desk.of("tool_started")))
    term.wait_gone("Approve?")
    term.say(STEER)
    term.wait_for(lambda: f"steer: {STEER}" in term.text and "after this tool" in term.text)
    assert desk.of("user_message")[-1].kind == "prompt", "it has not been delivered yet"
    (desk.folder / "go").touch()
    term.wait_for(lambda: desk.of("user_message")[-1].text == STEER)
    term.wait_for("The old name stays.")


def go_on(desk: Desk, model: str) -> None:
    """Another day: what was said is there, and the model goes on from it."""
    with desk.open("--continue", "--model", model) as term:
        term.wait_for("I was told why.")
        term.say("It is another day.")
        term.wait_for("Welcome back.")
        term.keys("ctrl+q")
        assert term.exit_code() == 0
    assert len(desk.sessions) == 1, "the same session went on"


def watch_again(desk: Desk) -> None:
    """The list, then the player: stepping back and on through the same conversation."""
    with desk.open("replay") as term:
        term.wait_for("Mend the sum, please.")
        term.keys("enter")
        term.wait_for("event  3 / ")
        term.keys("end")
        term.wait_for("Welcome back.")
        term.keys("home")
        term.wait_gone("Welcome back.")
        term.keys("right", "right", "right")
        term.wait_for("event  3 / ")
        term.keys("n")
        term.wait_for("asked (medium): shop.py")
        term.keys("ctrl+q")
        assert term.exit_code() == 0
        assert term.modes & MOUSE_AND_SCREEN == set()
