"""Events become blocks: what streams and what is stored end as the same."""

from __future__ import annotations

import pytest

from engine import events as ev
from engine.events import AnyEvent
from tests.tui.transcript_kit import EDIT, call, delta, result, said, stored
from tui.transcript.blocks import Blocks
from tui.transcript.kinds import Gone, Note, Question, Said, Thought, Tool, partial_title, source_text


def blocks_of(*events: AnyEvent) -> Blocks:
    blocks = Blocks()
    blocks.feed(events)
    return blocks


def shown(blocks: Blocks) -> list[object]:
    return [block for block in blocks if not isinstance(block, Gone)]


def tool(blocks: Blocks, at: int = -1) -> Tool:
    block = [block for block in blocks if isinstance(block, Tool)][at]
    assert isinstance(block, Tool)
    return block


WHOLE_TURN = stored(
    ev.UserMessage(text="do it"),
    ev.AssistantMessage(
        turn=1,
        model="m",
        blocks=(
            ev.ThinkingBlock(text="let me see"),
            ev.TextBlock(text="I will look."),
            call("c1", path="a.py"),
            ev.TextBlock(text="Then decide."),
        ),
    ),
)
STREAM = [
    delta("let me ", kind="thinking"),
    delta("see", kind="thinking"),
    delta("I will ", index=1),
    delta("look.", index=1),
    delta('{"path": "a', index=2, kind="tool_call", name="shell_run", call_id="c1"),
    delta('.py"}', index=2, kind="tool_call"),
    delta("Then decide.", index=3),
]


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_a_streamed_turn_ends_as_the_stored_one(batch: int) -> None:
    live = Blocks()
    events = [WHOLE_TURN[0], *STREAM, WHOLE_TURN[1]]
    for start in range(0, len(events), batch):
        live.feed(events[start : start + batch])
    assert list(live) == list(blocks_of(*WHOLE_TURN))


def test_while_it_streams_everything_is_shown_once() -> None:
    blocks = blocks_of(WHOLE_TURN[0], *STREAM)
    thought, first, running, last = shown(blocks)[1:]
    assert isinstance(thought, Thought) and thought.words == 3 and thought.open
    assert isinstance(first, Said) and first.text == "I will look." and first.head and first.open
    assert isinstance(running, Tool) and (running.state, running.title) == ("writing", "a.py")
    assert isinstance(last, Said) and not last.head


def test_changes_name_what_is_new_and_what_differs() -> None:
    blocks = blocks_of(WHOLE_TURN[0])
    changes = blocks.feed(STREAM[:2])
    assert (changes.first, changes.updated) == (1, set())
    changes = blocks.feed([delta(" more", kind="thinking")])
    assert (changes.first, changes.updated) == (2, {1})
    assert blocks.feed([ev.StateChanged(state=None)]).updated == set()


def test_a_retry_makes_void_what_was_streamed_and_the_next_try_has_its_head_again() -> None:
    blocks = blocks_of(delta("half an ans"), ev.StreamDropped(turn=1), delta("whole answer"))
    (answer,) = shown(blocks)
    assert isinstance(answer, Said) and answer.text == "whole answer" and answer.head


def test_blank_text_makes_no_block() -> None:
    blocks = blocks_of(delta("\n"), *stored(said("", 1, call()), said("  \n", 2)))
    assert [type(block) for block in shown(blocks)] == [Tool]


def test_an_answer_that_never_came_leaves_nothing_but_the_reason() -> None:
    blocks = blocks_of(delta("half"), *stored(ev.ModelFailed(turn=1, error="no route", suggestion="check the network")))
    (note,) = shown(blocks)
    assert isinstance(note, Note) and (note.level, note.text, note.detail) == (
        "danger",
        "no route",
        "check the network",
    )


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ({"aborted": True}, "(aborted)"),
        ({"stop": "length"}, "(cut off at the length limit)"),
        ({"stop": "error", "error": "boom"}, "(ended by an error) boom"),
    ],
)
def test_an_answer_cut_off_says_so_with_and_without_text(more: dict[str, object], note: str) -> None:
    with_text = said("half").model_copy(update=more)
    empty = ev.AssistantMessage(turn=1, model="m").model_copy(update=more)
    (block,) = blocks_of(*stored(with_text))
    assert isinstance(block, Said) and block.note == note
    (line,) = blocks_of(*stored(empty))
    assert isinstance(line, Note) and line.text == note


def test_a_call_goes_through_its_states() -> None:
    asked = ev.ApprovalRequested(
        id="a",
        digest="d",
        call_id="c1",
        tool="shell_run",
        kind="command",
        subject="ls",
        cwd="/",
        policy="p",
        risk="low",
    )
    steps: list[ev.Stored] = [
        said("", 1, call("c1", command="ls -la")),
        asked,
        ev.ApprovalDecided(id="a", digest="d", choice="once"),
        ev.ToolStarted(call_id="c1", turn=1, name="shell_run", title="ls -la"),
        result("c1", summary="3 lines", seconds=0.1),
    ]
    blocks = Blocks()
    states = []
    for event in stored(*steps):
        blocks.feed([event])
        states.append(tool(blocks).state)
    assert states == ["pending", "asks", "running", "running", "ok"]
    assert tool(blocks).title == "ls -la"
    assert tool(blocks).decision == "allowed once by you"


@pytest.mark.parametrize("status", ["ok", "error", "denied", "cancelled", "skipped"])
def test_a_result_says_what_became_of_the_call(status: str) -> None:
    blocks = blocks_of(*stored(said("", 1, call()), result(status=status)))
    assert tool(blocks).state == status


def test_a_denial_carries_its_reason() -> None:
    decided = ev.ApprovalDecided(id="gone", digest="d", choice="deny", by="timeout", reason="not now")
    (note,) = blocks_of(*stored(decided))
    assert isinstance(note, Note) and (note.label, note.right, note.detail) == (
        "denied",
        "no answer in time",
        "not now",
    )


def test_the_same_call_id_in_two_turns_is_two_calls() -> None:
    blocks = blocks_of(*stored(said("", 1, call("c")), result("c", 1, text="first"), said("", 2, call("c"))))
    assert [(tool(blocks, n).state, tool(blocks, n).text) for n in (0, 1)] == [("ok", "first"), ("pending", "")]


def test_calls_without_a_result_end_with_the_run() -> None:
    blocks = blocks_of(*stored(said("", 1, call()), ev.RunFinished(reason="interrupted")))
    assert (tool(blocks).state, tool(blocks).summary) == ("cancelled", "interrupted")


def test_a_person_is_told_that_it_was_they_who_interrupted() -> None:
    (note,) = blocks_of(*stored(ev.RunFinished(reason="interrupted", detail="by the person, after the calls that ran")))
    assert isinstance(note, Note) and note.text == "by you, after the calls that ran"


def test_a_result_or_a_start_without_a_call_is_shown_all_the_same() -> None:
    blocks = blocks_of(*stored(ev.ToolStarted(call_id="x", turn=1, name="shell_run", title="ls"), result("y", 2)))
    assert [block.state for block in blocks if isinstance(block, Tool)] == ["running", "ok"]


def test_progress_keeps_the_newest_output_only() -> None:
    blocks = blocks_of(*stored(said("", 1, call())), ev.ToolProgress(call_id="c1", text="x" * 50_000 + "end"))
    assert tool(blocks).tail.endswith("end") and len(tool(blocks).tail) <= 2_000


def test_retries_of_one_turn_share_a_line() -> None:
    retries = [ev.ModelRetry(turn=1, attempt=n, wait=2.0, error="overloaded") for n in (1, 2, 3)]
    (note,) = blocks_of(*stored(*retries))
    assert isinstance(note, Note) and note.label == "try 4"


def test_a_question_keeps_its_answer() -> None:
    asked = ev.QuestionAsked(id="q", call_id="c", question="Which?", options=("a", "b"))
    (question,) = blocks_of(*stored(asked, ev.QuestionAnswered(id="q", text="b")))
    assert isinstance(question, Question) and (question.answer, question.by) == ("b", "person")


def test_what_concerns_other_panes_makes_no_block() -> None:
    quiet = [
        ev.SessionStarted(cwd="/", model="m", app_version="1"),
        ev.RunStarted(),
        ev.RuntimeUpdate(kind="budget", text="x"),
        ev.TurnStarted(turn=1, model="m"),
        ev.MessageQueued(id="1", kind="steer", text="x"),
        ev.TodoChanged(text="", items=()),
        ev.PromptRendered(identity="", catalogue="", tools=(), digest=""),
    ]
    assert len(blocks_of(*stored(*quiet))) == 0


def test_an_event_leads_to_its_block() -> None:
    blocks = blocks_of(*stored(ev.UserMessage(text="a"), said("", 1, call()), result(), ev.UserMessage(text="b")))
    assert [blocks.block_of(seq) for seq in (0, 1, 2, 3, 4, 99)] == [-1, 0, 1, 1, 2, 2]


def test_jumps_find_failures_wherever_they_finish() -> None:
    turn = said("", 1, call("c1"), call("c2"))
    blocks = blocks_of(*stored(turn, result("c2", status="error"), result("c1", status="denied")))
    assert list(blocks.jumps("error")) == [0, 1]


def test_gaps_part_what_differs_and_keep_calls_together() -> None:
    blocks = blocks_of(
        *stored(ev.UserMessage(text="a"), said("b", 1, call("c1"), call("c2")), ev.UserMessage(text="c"))
    )
    assert [blocks.gap_before(n) for n in range(len(blocks))] == [False, True, True, False, True]


def test_the_title_of_a_call_is_read_from_half_written_arguments() -> None:
    assert partial_title('{"path": "src/au') == "src/au"
    assert partial_title('{"command": "echo \\"hi') == 'echo "hi'
    assert partial_title('{"old": 1') == ""


def test_all_text_of_a_block_can_be_searched_and_copied() -> None:
    blocks = blocks_of(*stored(said("", 1, call("c1", path="x.py")), result("c1", diff=EDIT)))
    assert "x.py" in source_text(blocks[0]) and "+a = 2" in source_text(blocks[0])


def test_a_persons_own_command_is_shown_while_it_runs_and_becomes_what_it_came_to() -> None:
    blocks = Blocks()
    blocks.feed([ev.ToolProgress(session="s", call_id="you-1", text="", title="ls -l")])
    blocks.feed([ev.ToolProgress(session="s", call_id="you-1", text="a.py\n")])
    running = blocks[0]
    assert isinstance(running, Tool) and (running.state, running.title, running.tail) == ("running", "ls -l", "a.py\n")
    blocks.feed([ev.PersonRan(seq=7, command="ls -l", status="ok", text="a.py\nb.py", exit_code=0)])
    assert len(blocks) == 1
    done = blocks[0]
    assert isinstance(done, Tool) and (done.name, done.state, done.text) == ("you ran", "ok", "a.py\nb.py")
    blocks.feed([ev.PersonRan(seq=9, command="false", status="error", text="", exit_code=1)])
    again = blocks[1]
    assert isinstance(again, Tool) and again.summary == "exit code 1" and again.command == "false"
