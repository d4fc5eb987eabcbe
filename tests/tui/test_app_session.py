"""What a person says reaches the engine, what the engine says reaches the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine import events as ev
from engine.commands import (
    ChangeSetting,
    Compact,
    EditTodo,
    Interrupt,
    OpenSession,
    SendMessage,
    TakeBack,
)
from engine.options import EngineOptions
from engine.queries import ArtifactPage, ReadArtifact
from tests.tui.bench import Bench, workbench
from tests.tui.fake_engine import FakeHandle
from tests.tui.placeholders import Composer
from tui.link import Link
from tui.transcript.kinds import CallKey


def begin(engine: FakeHandle, **started: Any) -> None:
    """A session with a run under way."""
    engine.tell(
        ev.SessionStarted(cwd="/src/shop", model="anthropic/claude-x", app_version="0", **started),
        ev.UserMessage(text="Fix the login test"),
        ev.RunStarted(limits=ev.Limits(turns=20)),
        ev.TurnStarted(turn=1, model="anthropic/claude-x"),
    )


def submit(bench: Bench, text: str, kind: str = "steer") -> None:
    composer = bench.app.bench.composer
    composer.post_message(Composer.Submitted(text, kind))


async def test_the_session_asked_for_is_opened_with_its_task(tmp_path: Path) -> None:
    async with workbench(tmp_path, task="do it", newest=True) as bench:
        assert bench.engine.commands(OpenSession) == [OpenSession("", True, "do it")]


async def test_a_message_is_sent_to_the_session_that_is_open(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        submit(bench, "hello", "follow_up")
        await bench.until(lambda: bench.engine.commands(SendMessage), "the message is sent")
        assert bench.engine.commands(SendMessage) == [SendMessage("s1", "hello", "follow_up")]


def test_what_is_said_before_the_session_is_open_is_sent_then_and_in_order() -> None:
    engine = FakeHandle()
    link = Link(lambda _: engine, engine.options, lambda: None)
    link.send(lambda session: SendMessage(session, "one"))
    link.start(OpenSession())
    link.send(lambda session: SendMessage(session, "two"))
    assert not engine.commands(SendMessage)
    link.take()
    assert engine.commands(SendMessage) == [SendMessage("s1", "one"), SendMessage("s1", "two")]


async def test_events_reach_the_transcript_once_and_in_order(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        for n in range(50):
            bench.engine.show(ev.StreamDelta(session="s1", turn=1, index=0, kind="text", text=f"{n} "))
        await bench.settled()
        said = bench.app.bench.transcript.events
        assert [e.type for e in said[:4]] == ["session_started", "user_message", "run_started", "turn_started"]
        assert "".join(e.text for e in said[4:]) == "".join(f"{n} " for n in range(50))


async def test_the_header_says_what_where_and_how(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine, approve="sandboxed")
        await bench.settled()
        first = bench.screen_text().splitlines()[0]
        for word in ("Fix the login test", "/src/shop", "claude-x", "contained", "turn 1", "thinking"):
            assert word in first


async def test_a_resumed_session_is_shown_from_its_past(tmp_path: Path) -> None:
    engine = FakeHandle(EngineOptions(cwd=tmp_path))
    engine.past = (
        ev.SessionStarted(session="old", seq=1, cwd="/src/shop", model="m/m", app_version="0"),
        ev.UserMessage(session="old", seq=2, text="An old task"),
    )
    async with workbench(tmp_path, engine=engine, resume="old") as bench:
        await bench.settled()
        assert [e.seq for e in bench.app.bench.transcript.events] == [1, 2]
        assert "An old task" in bench.screen_text()


async def test_rows_that_could_not_be_read_are_counted_on_the_screen(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.engine.show(ev.SessionOpened(session="s9", events=(), skipped=2, state=bench.engine.state))
        await bench.until(lambda: "2 stored rows could not be read" in bench.screen_text(), "the banner")


async def test_events_of_another_session_are_not_shown(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.engine.show(ev.Notice(session="other", seq=1, level="info", text="not here"))
        begin(bench.engine)
        await bench.settled()
        assert all(e.session == "s1" for e in bench.app.bench.transcript.events)


async def test_a_new_session_starts_empty_beside_the_other(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        bench.engine.tell(ev.RunFinished(reason="finished"))
        await bench.settled()
        await bench.pilot.press("ctrl+n")
        await bench.until(lambda: bench.app.link.session == "s2", "the new session")
        await bench.until(lambda: not bench.app.bench.transcript.events, "an empty transcript")
        above, below = bench.screen_text().split("\n", 2)[1:]
        assert "1 Fix the login test" in above and "Fix the login test" not in below


async def test_escape_interrupts_a_run_and_never_ends_the_app(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await bench.pilot.press("escape")
        assert not bench.engine.commands(Interrupt)
        begin(bench.engine)
        await bench.settled()
        await bench.pilot.press("escape")
        assert bench.engine.commands(Interrupt) == [Interrupt("s1")]
        assert bench.app.is_running


async def test_a_message_taken_back_returns_to_the_composer_only_when_it_was_withdrawn(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        bench.engine.tell(ev.MessageQueued(id="q1", kind="steer", text="also this"))
        await bench.settled()
        assert "also this" in bench.screen_text()
        await bench.pilot.press("alt+up")
        assert bench.engine.commands(TakeBack) == [TakeBack("s1", "q1")]
        composer = bench.app.bench.composer
        assert composer.text == ""
        composer.text = "half a thought"
        bench.engine.tell(ev.MessageWithdrawn(id="q1"))
        await bench.settled()
        assert composer.text == "also this\nhalf a thought"


async def test_a_message_already_delivered_is_not_given_back(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        bench.engine.tell(ev.MessageQueued(id="q1", kind="steer", text="also this"))
        await bench.settled()
        await bench.pilot.press("alt+up")
        bench.engine.tell(ev.UserMessage(kind="steer", text="also this", id="q1"))
        await bench.settled()
        assert bench.app.bench.composer.text == ""
        assert "sent at turn 2" in bench.screen_text()


async def test_shift_tab_goes_round_the_modes_and_quick_presses_count(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        await bench.settled()
        await bench.pilot.press("shift+tab", "shift+tab")
        asked = bench.engine.commands(ChangeSetting)
        assert [(c.name, c.value) for c in asked] == [("approve", "sandboxed"), ("approve", "plan")]
        for name in ("contained", "sandboxed", "no such mode"):
            bench.app.run_slash("approve", name)
        assert [c.value for c in bench.engine.commands(ChangeSetting)[2:]] == ["sandboxed", "sandboxed"]


@pytest.mark.parametrize(
    ("command", "argument", "expected"),
    [
        ("model", "openai/x", ChangeSetting("s1", "model", "openai/x")),
        ("title", "A [b]old title[/]", ChangeSetting("s1", "title", "A [b]old title[/]")),
        ("approve", "deny", ChangeSetting("s1", "approve", "deny")),
        ("compact", "the login", Compact("s1", "the login")),
        ("compact", "", Compact("s1", "")),
        ("new", "", OpenSession()),
    ],
)
async def test_slash_commands(tmp_path: Path, command: str, argument: str, expected: Any) -> None:
    async with workbench(tmp_path) as bench:
        bench.app.bench.composer.post_message(Composer.Slash(command, argument))
        await bench.until(lambda: expected in bench.engine.sent[1:], f"/{command} arrives")


async def test_limits_are_changed_one_by_one_and_nonsense_is_refused(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        await bench.settled()
        said: list[str] = []
        bench.app.say = lambda text, warn=False: said.append(text)  # type: ignore[method-assign]
        bench.app.run_slash("limits", "cost=1.50 turns=none")
        (change,) = bench.engine.commands(ChangeSetting)
        assert ev.Limits.model_validate(change.value) == ev.Limits(cost=1.5)
        for wrong in ("cost=lots", "turns=-1", "colour=red", "cost=nan"):
            bench.app.run_slash("limits", wrong)
        assert len(said) == 4
        assert len(bench.engine.commands(ChangeSetting)) == 1


async def test_a_condition_of_being_done_is_set_lifted_and_checked(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        await bench.settled()
        said: list[str] = []
        bench.app.say = lambda text, warn=False: said.append(text)  # type: ignore[method-assign]
        for text in ("tests_pass == true", "off", "tests_pas"):
            bench.app.run_slash("done", text)
        assert [c.value for c in bench.engine.commands(ChangeSetting)] == [["tests_pass == true"], []]
        assert "column 1: there is no fact tests_pas" in said[-1]
        bench.app.run_slash("done", "")
        await bench.until(lambda: bench.app.screen is not bench.app.bench, "the dialog")


async def test_an_unknown_slash_command_is_answered_with_a_near_miss(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        said: list[str] = []
        bench.app.say = lambda text, warn=False: said.append(text)  # type: ignore[method-assign]
        bench.app.run_slash("modle", "")
        assert "/model" in said[0]


async def test_the_model_is_asked_for_in_a_dialog(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        await bench.settled()
        bench.app.run_slash("model", "")
        await bench.until(lambda: bench.app.screen is not bench.app.bench, "the dialog")
        await bench.pilot.press("ctrl+u", *"a/b", "enter")
        await bench.until(lambda: bench.engine.commands(ChangeSetting), "the change")
        assert bench.engine.commands(ChangeSetting) == [ChangeSetting("s1", "model", "a/b")]


async def test_a_todo_edited_by_a_person_is_sent_and_a_draft_is_kept(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        bench.engine.tell(ev.TodoChanged(text="- [ ] one\n", items=(ev.TodoItem(text="one"),)))
        await bench.settled()
        await bench.pilot.press("alt+3")
        await bench.until(lambda: bench.app.bench.todo_pane.list.has_focus, "focus")
        await bench.pilot.press("e")
        await bench.until(lambda: bench.app.bench.todo_pane.editing, "the editor")
        await bench.pilot.press("X", "escape")
        await bench.until(lambda: not bench.app.bench.todo_pane.editing, "the list again")
        assert not bench.engine.commands(EditTodo)
        assert "draft" in bench.screen_text()
        await bench.pilot.press("e")
        await bench.until(lambda: bench.app.bench.todo_pane.editing, "the editor again")
        await bench.pilot.press("ctrl+s")
        await bench.until(lambda: bench.engine.commands(EditTodo), "it is saved")
        assert bench.engine.commands(EditTodo) == [EditTodo("s1", "X- [ ] one\n")]


async def test_a_todo_that_changes_under_an_edit_says_so(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        await bench.settled()
        await bench.app.bench.action_edit_todo()
        await bench.until(lambda: bench.app.bench.todo_pane.editing, "the editor")
        bench.engine.tell(ev.TodoChanged(text="- [ ] two\n", items=(ev.TodoItem(text="two"),)))
        await bench.settled()
        assert "changed meanwhile" in bench.screen_text()


async def test_a_session_chosen_in_the_list_is_opened(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await bench.pilot.press("ctrl+o")
        await bench.until(lambda: bench.app.screen is not bench.app.bench, "the list")
        await bench.pilot.press("enter")
        await bench.until(lambda: bench.app.link.session == "old-session", "the other session")


async def test_whole_output_is_fetched_when_a_call_is_unfolded(tmp_path: Path) -> None:
    shown: list[tuple[CallKey, str]] = []

    class Asks:
        digest, call = "abc", (7, "c1")

        class transcript:
            @staticmethod
            def show_artifact(call: CallKey, text: str) -> None:
                shown.append((call, text))

    async with workbench(tmp_path) as bench:
        bench.engine.answers[ReadArtifact] = ArtifactPage("all of it", 1)
        bench.app.bench.on_transcript_wants_artifact(Asks)
        await bench.until(lambda: shown, "the output")
        assert shown == [((7, "c1"), "all of it")]
