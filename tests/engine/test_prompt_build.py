"""The request as a view of the log: pure, append-only, valid for all three wires whatever the log holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import events as ev
from engine.compaction import plan_summary
from engine.models.wire_anthropic_params import anthropic_params
from engine.models.wire_chat_params import chat_params
from engine.models.wire_responses_params import responses_params
from engine.prompt import layers, runtime
from engine.prompt.build import build, digest
from engine.prompt.instructions import read_instructions
from engine.state import TaskState, fold
from engine.tools.registry import specs
from tests.fakes import validate_anthropic, validate_chat, validate_responses

HEAD = (ev.SessionStarted(cwd="/w", model="m", app_version="1"), layers.render(specs(), "skills"))


def numbered(events: Sequence[ev.Event]) -> list[ev.Event]:
    return [e.model_copy(update={"seq": n, "session": "s"}) for n, e in enumerate(events, 1)]


@st.composite
def talks(draw: st.DrawFn) -> list[ev.Event]:
    """A conversation as the loop stores it: turns with calls and results, messages between, some cut or skipped."""
    events: list[ev.Event] = [*HEAD, ev.UserMessage(text=draw(st.text(min_size=1)) or "x")]
    for turn in range(1, draw(st.integers(1, 6)) + 1):
        if draw(st.booleans()):
            events.append(ev.RuntimeUpdate(kind="environment", text=draw(st.text(min_size=1))))
        events.append(ev.TurnStarted(turn=turn, model="m"))
        names = draw(st.lists(st.sampled_from(["fs_read", "shell_run"]), max_size=3))
        calls = tuple(ev.ToolCall(id=f"c{turn}-{n}", name=name, input={"n": n}) for n, name in enumerate(names))
        words = draw(st.text(max_size=20))
        blocks = (*((ev.TextBlock(text=words),) if words else ()), *calls)
        aborted = draw(st.booleans()) and not calls
        events.append(ev.AssistantMessage(turn=turn, model="m", blocks=blocks, aborted=aborted))
        for call in draw(st.permutations(calls)):
            status = draw(st.sampled_from(["ok", "error", "denied", "cancelled", "skipped"]))
            events.append(
                ev.ToolResult(call_id=call.id, turn=turn, name=call.name, status=status, text=draw(st.text(max_size=9)))
            )
        events.append(ev.UserMessage(kind="steer", text=draw(st.text(min_size=1))))
    return numbered(events)


def requests_of(events: list[ev.Event]) -> list[list[str]]:
    """The parts of the request at every point where one is sent, as text."""
    points = [n for n, e in enumerate(events) if e.type == "turn_started"] + [len(events)]
    built = [build(events[:n], fold(events[:n])) for n in points]
    return [
        [json.dumps(asdict(p) if not hasattr(p, "model_dump") else p.model_dump()) for p in parts(r)] for r in built
    ]


def parts(request: object) -> list[object]:
    return [part for message in request.messages for part in message.parts]  # type: ignore[attr-defined]


@given(talks())
@settings(max_examples=60, deadline=None)
def test_each_request_begins_with_the_one_before(events: list[ev.Event]) -> None:
    sent = requests_of(events)
    assert all(after[: len(before)] == before for before, after in zip(sent, sent[1:], strict=False))


@given(talks(), st.integers(500, 4000))
@settings(max_examples=60, deadline=None)
def test_the_request_is_valid_for_all_three_wires_also_after_a_compaction(events: list[ev.Event], window: int) -> None:
    plan = plan_summary(events, window)
    if plan:
        events = numbered([*events, ev.Compacted(number=1, kind="summary", reason="t", keep_from=plan.keep_from,
                                                 summary="so far", ledger=plan.ledger_text)])  # fmt: skip
        events.append(ev.UserMessage(text="go on", seq=len(events) + 1))
    request = build(events, fold(events))
    assert validate_anthropic(anthropic_params(request, "claude-x")) is None
    assert validate_chat(chat_params(request, "x")) is None
    assert validate_responses(responses_params(request, "x")) is None


@given(talks())
@settings(max_examples=20, deadline=None)
def test_building_is_pure(events: list[ev.Event]) -> None:
    state = fold(events)
    assert digest(build(events, state)) == digest(build(list(events), state))


def test_the_digest_tells_requests_apart_whose_text_is_only_cut_elsewhere() -> None:
    one = numbered([*HEAD, ev.UserMessage(text="ab"), ev.UserMessage(text="c")])
    other = numbered([*HEAD, ev.UserMessage(text="a"), ev.UserMessage(text="bc")])
    assert digest(build(one, fold(one))) != digest(build(other, fold(other)))


def test_an_aborted_answer_is_never_sent() -> None:
    events = numbered([
        *HEAD,
        ev.UserMessage(text="hi"),
        ev.AssistantMessage(turn=1, model="m", blocks=(ev.TextBlock(text="half"),), aborted=True, stop="aborted"),
        ev.UserMessage(text="again"),
    ])  # fmt: skip
    (message,) = build(events, fold(events)).messages
    assert [p.text for p in message.parts] == ["hi", "again"]  # type: ignore[union-attr]


def test_layers_know_no_clock_no_folder_and_no_order() -> None:
    assert layers.render(specs(), "x").digest == layers.render(tuple(reversed(specs())), "x").digest


def test_what_an_old_prompt_was_written_with_is_said_in_words() -> None:
    tools = [ev.ToolSpec(name=name, description="d", schema_={}) for name in ("fs_read", "memory_save")]
    other = ev.ToolSpec(name="fs_read", description="other", schema_={})
    stored = layers.render([tools[0]], "x", [("AGENTS.md", "Use tabs.")], memory=[("user", "Likes tea.")])
    assert layers.outdated(stored, stored.model_copy(update={"reason": "asked", "seq": 7})) == ""

    def now(**changed: object) -> str:
        given = {"instructions": [("AGENTS.md", "Use tabs.")], "memory": [("user", "Likes tea.")], "catalogue": "x"}
        tools_now = changed.pop("tools", [tools[0]])
        return layers.outdated(stored, layers.render(tools_now, **(given | changed)))  # type: ignore[arg-type]

    assert now(tools=[other, tools[1]]) == "written with other tools: +memory_save, fs_read changed"
    assert now(tools=[tools[1]]) == "written with other tools: +memory_save, -fs_read"
    assert now(catalogue="y", memory=[]) == "written with other skills; other memory"
    assert now(instructions=[]) == "written with other project rules"
    assert now(memory=[("user", "Likes coffee.")]) == "written with other memory"
    stale = stored.model_copy(update={"identity": "You help." + stored.identity})
    assert layers.outdated(stale, stored) == "written with other rules of the app"


def test_memory_comes_last_in_the_identity_and_is_no_instruction() -> None:
    rendered = layers.render(
        (), "", [("AGENTS.md", "Use tabs.")], memory=[("project", "Tests run with make."), ("user", " ")]
    )
    before, notes = rendered.identity.split("Notes from earlier sessions")
    assert before.rstrip().endswith("Use tabs.") and "not instructions" in notes
    assert notes.endswith("(project)\nTests run with make.") and "(user)" not in notes
    assert layers.render((), "", memory=[("user", "")]) == layers.render((), "")


def test_a_log_without_a_prompt_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="no rendered prompt"):
        build([ev.UserMessage(text="hi")], TaskState())


def test_runtime_context_is_said_once_and_again_when_it_changed() -> None:
    around = runtime.Surroundings("2026-11-30", "/w", "Linux", "bwrap")
    first = runtime.updates(TaskState(), around, [])
    assert [u.kind for u in first] == ["environment"]
    assert runtime.updates(TaskState(), around, first) == ()
    edited = ev.TodoChanged(text="- [ ] mine", items=(), by="person")
    assert [u.kind for u in runtime.updates(TaskState(), around, [*first, edited])] == ["todo"]
    tight = TaskState(limits=ev.Limits(turns=10), run_turns=8)
    assert "80 %" in runtime.updates(tight, around, first)[0].text


def test_instructions_are_read_once_when_one_file_is_a_link_to_the_other(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs.")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    assert read_instructions(tmp_path) == (("AGENTS.md", "Use tabs."),)
