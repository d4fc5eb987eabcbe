"""What people met with in tools of this kind, by hand in a real terminal: steering, interrupting, reading, grants."""

from __future__ import annotations

import re
from pathlib import Path

from engine import events as ev
from engine.log import LogStore
from tests.e2e.desk import Desk, shell, turn
from tests.e2e.terminal import Terminal
from tests.tui.replay_kit import long_session

HOLD = "touch begun; until [ -e go ]; do sleep 0.02; done"
CHINESE = "".join(chr(0x4E00 + n) for n in range(600))
ROWS = "\n".join(f"- row {n:03}" for n in range(120))


def leave(term: Terminal) -> None:
    term.keys("ctrl+q")
    assert term.exit_code() == 0


def began(desk: Desk) -> bool:
    return (desk.folder / "begun").exists()


def test_an_interrupt_ends_the_whole_batch_and_the_next_question_is_answered(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    model = desk.script(turn(shell(HOLD), shell("touch second")), turn(text="You stopped me.", label="why"))
    with desk.open("--model", model, "--approve", "sandboxed", "Do both.") as term:
        term.wait_for(lambda: began(desk))
        term.keys("escape")
        term.wait_for("Let it finish, then stop")
        term.keys("escape")
        term.wait_for(lambda: desk.has("run_finished", 1))
        term.say("Why did it end?")
        term.wait_for("You stopped me.")
        leave(term)
    assert [result.status for result in desk.of("tool_result")] == ["cancelled", "skipped"]
    assert not (desk.folder / "second").exists()
    assert [end.reason for end in desk.of("run_finished")] == ["interrupted", "finished"]


def test_each_message_is_delivered_once_in_its_turn(tmp_path: Path) -> None:
    """A steer goes before a follow-up, which waits until the steer's work is done; both are shown until then."""
    desk = Desk(tmp_path)
    model = desk.script(
        turn(shell(HOLD), shell("touch second")),
        turn(shell("touch third"), text="As you say."),
        turn(text="That was the steer."),
        turn(text="And the follow-up."),
    )
    with desk.open("--model", model, "--approve", "sandboxed", "Do both.") as term:
        term.wait_for(lambda: began(desk))
        term.send("then tidy up")
        term.wait_for("then tidy up")
        term.keys("alt+enter")
        term.wait_for("after this run")
        term.say("the other way")
        term.wait_for("after this tool")
        assert [message.kind for message in desk.of("user_message")] == ["prompt"]
        (desk.folder / "go").touch()
        term.wait_for("And the follow-up.")
        leave(term)
    told = [event for event in desk.events() if event.type in ("user_message", "assistant_message")]
    assert [getattr(event, "kind", "said") for event in told] == [
        "prompt", "said", "steer", "said", "said", "follow_up", "said",
    ]  # fmt: skip
    assert [result.status for result in desk.of("tool_result")] == ["ok", "skipped", "ok"]
    assert not (desk.folder / "second").exists()


def test_a_steer_that_was_taken_is_not_lost_by_quitting(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    model = desk.script(turn(shell(HOLD)), turn(text="I read all of it.", label="again"))
    with desk.open("--model", model, "--approve", "sandboxed", "Begin.") as term:
        term.wait_for(lambda: began(desk))
        term.say("keep the old name")
        term.wait_for("steer: keep the old name")
        leave(term)
    with desk.open("--continue", "--model", model, "--approve", "sandboxed") as term:
        term.wait_for("keep the old name")
        term.say("Go on.")
        term.wait_for("I read all of it.")
        term.wait_for(lambda: desk.of("run_finished")[-1].reason == "finished")
        leave(term)
    assert [message.text for message in desk.of("user_message")].count("keep the old name") == 1


def test_enter_in_another_pane_approves_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (desk.folder / "kept").mkdir()
    model = desk.script(turn(shell("rm -rf kept")), turn(text="So be it."))
    with desk.open("--model", model, "--approve", "ask", "Tidy up.") as term:
        term.wait_for("Approve?")
        term.wait_gone("keys count")
        while "Approve?" in term.text:
            term.keys("escape")
            term.wait_for(lambda: "keys count" in term.text or "Approve?" not in term.text)
            term.wait_gone("keys count")
        for key, focused in (("alt+1", "/ search"), ("alt+2", "▌TASK"), ("alt+5", "▌APPROVALS")):
            assert "Approve?" not in term.text
            term.keys(key)
            term.wait_for(focused)
            term.keys("enter")
        term.wait_for("Approve?")
        while "y does" not in term.text:
            term.wait_gone("keys count")
            term.keys("enter")
            term.wait_for(lambda: "keys count" in term.text or "y does" in term.text)
        assert desk.of("approval_decided") == []
        desk.answer(term, "n")
        term.wait_for("So be it.")
        leave(term)
    assert (desk.folder / "kept").exists()


def test_a_session_grant_is_for_the_kind_and_for_the_session(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    touches = [turn(shell(f"touch {name}")) for name in "abc"]
    model = desk.script(*touches, turn(text="All there."), turn(shell("touch d"), label="more"), turn(text="Well."))
    with desk.open("--model", model, "--approve", "ask", "Make three.") as term:
        desk.answer(term, "s")
        term.wait_for("All there.")
        leave(term)
    assert len(desk.of("approval_requested")) == 1
    with desk.open("--continue", "--model", model, "--approve", "ask") as term:
        term.wait_for("All there.")
        term.say("Another.")
        term.wait_for("Approve?")
        desk.answer(term, "n", number=2)
        leave(term)
    assert not (desk.folder / "d").exists()


def test_an_always_holds_elsewhere_until_it_is_taken_back(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    model = desk.script(turn(shell("touch a")), turn(text="Done."))
    with desk.open("--model", model, "--approve", "ask", "Make it.") as term:
        term.wait_for("Approve?")
        while "Enter stores" not in term.text:
            term.wait_gone("keys count")
            term.keys("a")
            term.wait_for(lambda: "keys count" in term.text or "Enter stores" in term.text)
        term.wait_for("would also have")
        term.keys("enter")
        term.wait_for("Done.")
        leave(term)
    (decided,) = desk.of("approval_decided")
    assert decided.choice == "rule"

    def unasked() -> bool:
        desk.run("run", "--model", model, "--approve", "rules", "Make it.")
        return bool(desk.of("tool_result")[-1].status == "ok")

    assert unasked()
    assert decided.rule in desk.run("sandbox", "rules").out
    assert desk.run("sandbox", "rules", "--revoke", decided.rule).code == 0
    assert not unasked()


def test_what_arrives_moves_nothing_for_someone_who_reads_and_clears_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    model = desk.script(turn(shell(HOLD), text=ROWS), turn(text=ROWS.replace("row", "line")))
    with desk.open("--model", model, "--approve", "sandboxed", "Say much.", size=(100, 30)) as term:
        term.wait_for(lambda: began(desk) and "row 119" in term.text)
        term.keys("alt+1")
        term.wait_for("i type")
        term.keys("home")
        term.wait_for("row 000")
        term.keys("pagedown")
        term.wait_for(lambda: "row 000" not in term.text and in_a_row(term))
        painted, reading = len(term.raw), rows(term)
        assert len(reading) > 5
        (desk.folder / "go").touch()
        term.wait_for(lambda: "finished" in term.text and desk.has("run_finished", 1))
        assert rows(term) == reading
        term.keys("end")
        term.wait_for("line 119")
        assert b"\x1b[2J" not in term.raw[painted:]
        assert term.raw.count(b"\x1b[?1049h") == 1
        leave(term)


def rows(term: Terminal) -> list[str]:
    """What is read of the first answer, and in which line of the screen."""
    return [f"{at} {line[:20]}" for at, line in enumerate(term.screen) if "row" in line]


def in_a_row(term: Terminal) -> bool:
    """Whether the page has been painted to its end: its rows follow one another."""
    numbers = [int(found[1]) for line in term.screen if (found := re.search(r"row (\d{3})", line))]
    return len(numbers) > 5 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def test_a_long_session_opens_at_its_end_and_can_be_read_back(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    events = long_session(1000)
    start = events[0].model_copy(update={"cwd": str(desk.folder)})
    writer = LogStore(desk.home).create()
    for event in (start, *events[1:], ev.Notice(level="info", text="the very last word")):
        writer.append(event)
    writer.close()
    with desk.open("--continue", "--model", desk.script(turn(text="Yes."))) as term:
        term.wait_for("the very last word")
        term.wait_for("step 1000")
        term.keys("alt+1")
        term.wait_for("i type")
        term.keys("home")
        term.wait_for("step 1")
        term.wait_gone("step 1000")
        term.keys("end")
        term.wait_for("the very last word")
        term.keys("i")
        term.wait_for("Enter send")
        term.say("Still there?")
        term.wait_for("Yes.")
        leave(term)


def test_wide_text_is_wrapped_once_at_any_width_while_it_streams(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    model = desk.script(turn(text=CHINESE, pace=0.005))
    env = {"AGENT_TUI_SCRIPT_WAITING": "1"}
    with desk.open("--model", model, "Speak.", size=(80, 60), env=env) as term:
        term.wait_for(CHINESE[:20])
        term.resize(61, 60)
        term.wait_for(lambda: desk.has("run_finished", 1))
        for size in ((61, 60), (95, 60), (80, 60)):
            term.resize(*size)
            term.wait_for(lambda: spoken(term) == CHINESE)
        leave(term)


def spoken(term: Terminal) -> str:
    return "".join(sign for line in term.screen for sign in line if "\u4e00" <= sign <= CHINESE[-1])
