"""What the model is told of now: the open todo list again and again, and only its stage's tools are its to call."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import commands as cmd
from engine import events as ev
from engine.prompt.build import build
from engine.prompt.layers import render
from engine.prompt.runtime import Surroundings, updates
from engine.state import TaskState, fold
from engine.tools.registry import specs
from tests.engine.kit import Turn, make_kit, shell, text
from tests.fakes.asking import FORMATS, params_for, problem_with
from tests.fakes.turns import Format
from tests.strategies import events as any_event

AROUND = Surroundings("2030-01-01", "/src", "Linux", "none")
OPEN = (ev.TodoItem(text="one", status="done"), ev.TodoItem(text="two"))
LIST = "- [x] one\n- [ ] two\n"


def written(by: str = "model", items: tuple[ev.TodoItem, ...] = OPEN) -> ev.TodoChanged:
    return ev.TodoChanged.model_validate({"text": LIST, "items": items, "by": by})


def turns(first: int, last: int) -> list[ev.Event]:
    return [ev.TurnStarted(turn=n, model="m") for n in range(first, last + 1)]


def numbered(events: list[ev.Event]) -> list[ev.Event]:
    return [event.model_copy(update={"seq": n}) for n, event in enumerate(events, start=1)]


def told(events: list[ev.Event]) -> str:
    made = numbered(events)
    return next((u.text for u in updates(fold(made), AROUND, made) if u.kind == "todo"), "")


def test_an_open_list_is_said_again_every_eight_turns() -> None:
    events: list[ev.Event] = [*turns(1, 1), written()]
    said = []
    for turn in range(2, 30):
        if words := told(events):
            said.append(turn)
            assert words == f"todo.md as it stands before turn {turn}, 1 of 2 open:\n{LIST}"
            events.append(ev.RuntimeUpdate(kind="todo", text=words))
        events += turns(turn, turn)
    assert said == [10, 18, 26]


@pytest.mark.parametrize("kind", ["summary", "handoff"])
def test_a_compaction_brings_it_back_once_unless_it_was_just_written(kind: str) -> None:
    made = ev.Compacted.model_validate({"number": 1, "kind": kind, "reason": "full"})
    assert told([*turns(1, 1), written(), *turns(2, 3), made]) == ""
    long_ago: list[ev.Event] = [*turns(1, 1), written(), *turns(2, 4), made]
    words = told(long_ago)
    assert words.startswith("todo.md as it stands before turn 5")
    assert told([*long_ago, ev.RuntimeUpdate(kind="todo", text=words)]) == ""
    assert told([*turns(1, 1), written(), *turns(2, 4), ev.Compacted(number=1, kind="offload", reason="full")]) == ""


def test_a_finished_list_is_not_said_again() -> None:
    done = (ev.TodoItem(text="one", status="done"),)
    assert told([*turns(1, 1), written(items=done), *turns(2, 20)]) == ""


def test_what_a_person_edited_is_said_once() -> None:
    events: list[ev.Event] = [*turns(1, 1), written("person")]
    words = told(events)
    assert words.startswith("The person edited todo.md.")
    assert told([*events, ev.RuntimeUpdate(kind="todo", text=words), *turns(2, 3)]) == ""


def masked_state(tools: tuple[str, ...]) -> tuple[list[ev.Event], TaskState]:
    stage = ev.Stage(name="look", until="files_read >= 1", tools=tools)
    events = numbered([
        ev.SessionStarted(cwd="/src", model="m", app_version="t", stages=(stage,)),
        render(specs(), ""),
        ev.UserMessage(text="do it"),
    ])  # fmt: skip
    return events, fold(events)


@pytest.mark.parametrize("format", FORMATS)
def test_masked_tools_stay_in_the_request_byte_for_byte(format: Format) -> None:
    whole, masked = build(*masked_state(())), build(*masked_state(("fs_read", "fs_l")))
    assert whole.allowed_tools is None
    assert masked.allowed_tools == ("fs_list", "fs_read")
    assert params_for(format, masked)["tools"] == params_for(format, whole)["tools"]
    assert problem_with(format, masked) is None


async def test_a_masked_tool_called_anyway_is_refused_in_words(tmp_path: Path) -> None:
    written_first = ev.ToolCall(id="c0", name="todo_write", input={"text": "- [ ] one"})
    plays: list[Turn] = [[shell("c1", "ls"), written_first], [text("done")]]
    kit = make_kit(tmp_path, plays)
    stages = [{"name": "look", "until": "calls >= 2", "tools": ["todo_"]}]
    kit.runner.change(cmd.ChangeSetting(kit.runner.session.id, "stages", stages))
    kit.runner.send("do it", "steer")
    await kit.runner.idle()
    results = {e.call_id: e for e in kit.events if e.type == "tool_result"}
    assert results["c1"].text.startswith("not in this stage: shell_run may not be called in the stage look")
    assert "you can call: todo_write" in results["c1"].text
    assert kit.broker.ran == []
    assert results["c0"].status == "ok" or "not in this stage" not in results["c0"].text
    assert [request.allowed_tools for request in kit.model.requests] == [("todo_write",), None]
    assert kit.runner.session.state.stage == "finished"
    await kit.runner.close()


CONDITIONS = st.sampled_from(["tests_pass", "calls >= 1", "todo_open == 0", "nonsense"])
STAGES = st.lists(st.builds(lambda name, until: {"name": name, "until": until}, st.sampled_from("abc"), CONDITIONS))
CALLED = st.builds(
    lambda id, line: ev.AssistantMessage(turn=1, model="m", blocks=(shell(id, line),)),
    st.sampled_from("xyz"),
    st.sampled_from(["pytest", "ls", "rm a", "pytest; true"]),
)
RESULT = st.builds(
    lambda id, code: ev.ToolResult(call_id=id, turn=1, name="shell_run", status="ok", text="", exit_code=code),
    st.sampled_from("xyz"),
    st.sampled_from([0, 1, None]),
)
CHANGED = st.builds(lambda value: ev.SettingChanged(name="done_when", value=value), st.lists(CONDITIONS)) | st.builds(
    lambda value: ev.SettingChanged(name="stages", value=value), STAGES
)
ASKED = st.builds(
    lambda id: ev.ApprovalRequested(
        id=id, digest="", call_id=id, tool="shell_run", kind="command", subject="", cwd="", policy="", risk="high"
    ),
    st.sampled_from("xyz"),
)
DECIDED = st.builds(
    lambda id, line: ev.ApprovalDecided(id=id, digest="", choice="edit", command=line),
    st.sampled_from("xyz"),
    st.sampled_from(["pytest", "true"]),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(CALLED | RESULT | CHANGED | ASKED | DECIDED | any_event, max_size=14), st.data())
def test_the_state_after_a_part_goes_on_to_the_state_of_all(events: list[ev.Event], data: st.DataObject) -> None:
    made = numbered(events)
    cut = data.draw(st.integers(0, len(made)))
    assert fold(made[cut:], fold(made[:cut])) == fold(made)
