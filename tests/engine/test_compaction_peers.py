"""Ways in which compactions are known to go wrong, each with what is right; and one property of them together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import compaction
from engine import events as ev
from engine.compaction import undo
from engine.compaction.visible import last_summary, stand_ins
from engine.models.base import ModelError
from engine.prompt.build import build
from engine.prompt.repair import INTERRUPTED
from engine.prompt.request import ModelRequest, ResultPart
from engine.state import TaskState
from tests.engine.compaction_kit import Log, call, result
from tests.engine.kit import text
from tests.engine.test_compaction_handoff import NOTE, compactor, huge, kit_of, made
from tests.fakes.asking import FORMATS, TOOLS, problem_with
from tests.fakes.seals import seal

RULES = "You are careful. The project's rules: never touch `vendor/`."


def begun() -> Log:
    rendered = ev.PromptRendered(identity=RULES, catalogue="Skills: none.", tools=TOOLS, digest="")
    return Log(ev.SessionStarted(cwd="/", model="m", app_version="1"), rendered, ev.UserMessage(text="Fix it."))


def request(log: Log) -> ModelRequest:
    return build(log.events, TaskState(session="s"))


def problems(asked: ModelRequest) -> list[str]:
    return [found for format in FORMATS if (found := problem_with(format, asked))]


def worked(log: Log, n: int, size: int = 4000) -> Log:
    log.turn(n, call(f"w{n}", path=f"{n}.py"), text=f"Step {n}.")
    return log.add(result(f"w{n}", "x" * size, files_read=(f"{n}.py",)))


def shortened(log: Log, number: int) -> None:
    layers = compaction.choose_layers(log.events, recent=1, keep=lambda data: "d1gest")
    for n, layer in enumerate(layers):
        if layer.kind == "offload":
            log.add(ev.Compacted(number=number + n, kind="offload", reason="", offloaded=tuple(layer.texts)))
        else:
            log.add(ev.Compacted(number=number + n, kind=layer.kind, reason="", texts=layer.texts))


def summarised(log: Log, number: int, window: int = 8_000) -> bool:
    plan = compaction.plan_summary(log.events, window)
    if plan is None:
        return False
    ledger = plan.ledger_text
    log.add(
        ev.Compacted(number=number, kind="summary", reason="", keep_from=plan.keep_from, summary="s", ledger=ledger)
    )
    return True


# --- the request after a compaction, and the request for one ----------------------------------------------------------


def test_chained_compactions_leave_no_orphan_results() -> None:
    log = begun()
    for n in range(30):
        worked(log, n)
        if n % 7 == 6:
            shortened(log, 100 * n)
            assert summarised(log, 100 * n + 50)
        assert problems(request(log)) == []


def test_the_summary_request_holds_no_orphans_though_a_crash_left_a_call_open() -> None:
    log = worked(begun(), 1).turn(2, call("lost"), call("kept")).add(result("kept"))
    asked = compaction.summary_request(request(log), compaction.instruction())
    assert problems(asked) == []
    assert ResultPart("lost", "fs_read", INTERRUPTED, is_error=True) in asked.messages[-1].parts


@pytest.mark.parametrize("window", [1, 100, 1_000, 4_096, 8_192])
def test_no_reserve_is_larger_than_the_window_so_none_can_loop(window: int) -> None:
    at = compaction.thresholds(window)
    assert 0 < at.summary < max(window, 100) and not compaction.is_due(at.tail + 2 * at.ledger, window)


async def test_usage_from_before_a_compaction_does_not_call_for_the_next_one(tmp_path: Path) -> None:
    kit = kit_of(tmp_path, turns=30, size=4_000)
    session = kit.runner.session
    session.append(ev.TurnStarted(turn=99, model="script/played"))
    stale = ev.Usage(input_uncached=39_000, output=10)
    session.append(ev.AssistantMessage(turn=99, model="script/played", blocks=(text("so"),), usage=stale))
    one = compactor(kit)
    await one.make_room(kit.model)
    count = len(made(kit))
    assert count and one.size(kit.model) < 28_000
    await one.make_room(kit.model)
    assert len(made(kit)) == count


async def test_a_summary_is_counted_once(tmp_path: Path) -> None:
    kit = kit_of(tmp_path, turns=30, size=1_500)
    before = kit.runner.session.state.usage
    assert await compactor(kit).compact(kit.model, "asked for")
    (one,) = made(kit)
    assert one.usage == ev.Usage(input_uncached=100, output=10)
    assert kit.runner.session.state.usage == before + one.usage


@pytest.mark.parametrize(
    "bad", [[], [ev.ThinkingBlock(text="hm")], [text(NOTE), call("x")]], ids=["empty", "reasoning only", "a tool call"]
)
async def test_a_note_that_is_none_is_never_accepted(tmp_path: Path, bad: list[ev.Block]) -> None:
    kit = kit_of(tmp_path, turns=30, size=1_500)
    kit.model._turns = [bad, bad]
    assert await compactor(kit).compact(kit.model, "asked for")
    (one,) = made(kit)
    assert one.summary == "" and "Make it work." in one.ledger and not kit.broker.ran


async def test_a_summary_request_that_overflows_leaves_the_ledger(tmp_path: Path) -> None:
    kit = kit_of(tmp_path, turns=30, size=1_500)
    kit.model._turns = [ModelError("context_overflow", "too long")]
    assert await compactor(kit).compact(kit.model, "asked for")
    assert made(kit)[0].summary == "" and len(kit.model.requests) == 1


async def test_what_cannot_shrink_is_not_compacted_from_its_size_to_its_size_for_ever(tmp_path: Path) -> None:
    kit = kit_of(tmp_path, turns=0)
    kit.runner.session.say(huge(30_000))
    for _ in range(5):
        await compactor(kit).make_room(kit.model)
    assert made(kit) == [] and not kit.model.requests
    assert not compaction.is_due(750_000, 800_000, floor=749_000)


def test_the_rules_of_the_project_outlast_any_number_of_compactions() -> None:
    log = begun()
    before = request(log)
    for n in range(20):
        worked(log, n)
        if n % 5 == 4:
            summarised(log, n)
    assert request(log).identity == before.identity == RULES and request(log).tools == before.tools


def test_a_plan_that_was_called_off_is_not_revived() -> None:
    log = begun().add(
        ev.PlanProposed(id="p", text="Rewrite all of it."),
        ev.PlanDecided(id="p", choice="reject", reason="no"),
        ev.TodoChanged(text="", items=(ev.TodoItem(text="rewrite parser"),)),
        ev.TodoChanged(text="", items=(ev.TodoItem(text="explain"),)),
    )
    for n in range(20):
        worked(log, n)
    assert summarised(log, 1)
    ledger = log.events[-1].ledger
    assert "rewrite parser" not in ledger and "[pending] explain" in ledger
    rejected = ledger.split("## Rejected by the person: it stays rejected\n")[1]
    assert rejected.startswith("- rejected plan (“no”): Rewrite all of it.") and "approved plan" not in ledger


async def test_a_message_sent_while_room_is_made_stays_after_it_in_order(tmp_path: Path) -> None:
    kit = kit_of(tmp_path, turns=30, size=1_500)
    session = kit.runner.session

    def typed(_: ModelRequest) -> list[ev.Block]:
        session.say("first, stop that", kind="steer")
        session.say("then this", kind="steer")
        return [text(NOTE)]

    kit.model._turns = [typed]
    assert await compactor(kit).compact(kit.model, "asked for")
    sent = str(build(kit.events, session.state).messages)
    assert 0 < sent.index(NOTE.splitlines()[1]) < sent.index("first, stop that") < sent.index("then this")


# --- histories that have to be repaired ------------------------------------------------------------------------------


def test_a_session_that_ends_in_a_call_goes_on_with_a_result_that_says_so() -> None:
    asked = request(begun().turn(1, call("lost")))
    assert problems(asked) == [] and INTERRUPTED in str(asked.messages[-1])


def test_an_id_that_came_again_in_a_later_turn_is_paired_within_its_turn() -> None:
    log = begun().turn(1, call("call-1")).add(result("call-1", "first")).turn(2, call("call-1"))
    asked = request(log)
    assert problems(asked) == []
    assert "first" in str(asked.messages[2]) and INTERRUPTED in str(asked.messages[4])


def test_an_aborted_answer_without_content_is_stored_and_never_sent() -> None:
    log = worked(begun(), 1)
    before = request(log)
    log.add(ev.AssistantMessage(turn=2, model="m", aborted=True, stop="aborted"))
    assert request(log) == before and problems(before) == []


def test_an_empty_text_beside_a_call_is_dropped() -> None:
    log = begun().turn(1)
    blocks = (text(""), call("c"))
    log.add(ev.AssistantMessage(turn=2, model="m", blocks=blocks, stop="tool_calls"), result("c"))
    asked = request(log)
    assert problems(asked) == [] and asked.messages[1].parts == (call("c"),)


# --- all of it together ----------------------------------------------------------------------------------------------

STEPS = ["say", "work", "work", "again", "think", "aborted", "lost", "late", "shorten", "summary", "undo", "rewind"]


@settings(max_examples=120, deadline=None)
@given(st.lists(st.sampled_from(STEPS), min_size=1, max_size=40), st.booleans())
def test_after_anything_the_request_is_valid_and_compacting_again_changes_nothing(steps: list[str], on: bool) -> None:
    log = begun()
    if on:
        log.add(ev.Compacted(number=1, kind="handoff", reason="", ledger="## Goal, as the person put it\n- Fix it."))
    thoughts = []
    for n, step in enumerate(steps, 2):
        if step == "think":
            thought = f"thought {n}"
            block = {"type": "thinking", "thinking": thought, "signature": seal(thought)}
            thoughts.append(ev.ThinkingBlock(text=thought, opaque={"wire": "anthropic", "block": block}))
        _happens(log, n, step, thoughts[-1] if step == "think" else None)
        _check(log, n * 1000, step)
    asked = request(log)
    assert problems(asked) == []
    assert problems(compaction.summary_request(asked, compaction.instruction())) == []
    sent = [part for message in asked.messages for part in message.parts if isinstance(part, ev.ThinkingBlock)]
    assert all(block in thoughts for block in sent), "byte for byte, or gone with their turn"


def _happens(log: Log, n: int, step: str, thought: ev.ThinkingBlock | None) -> None:
    if step == "say":
        log.add(ev.UserMessage(text=f"and {n}"))
    elif step in ("work", "again"):
        log.turn(n, call(f"c{n}", path=f"{n if step == 'work' else 0}.py"), text="on it")
        log.add(result(f"c{n}", "x = 1\n" * 600, files_read=("0.py",)))
    elif thought is not None:
        made = call(f"c{n}", "shell_run", path="x")
        log.add(ev.AssistantMessage(turn=n, model="m", blocks=(thought, made), stop="tool_calls"))
        log.add(result(f"c{n}", "out\n" * 900, "shell_run", exit_code=1, status="error"))
    elif step == "aborted":
        log.add(ev.AssistantMessage(turn=n, model="m", blocks=(call(f"c{n}"),), aborted=True))
    elif step in ("lost", "late"):
        log.turn(n, call(f"c{n}"), call(f"d{n}"))
        log.add(*([result(f"d{n}", status="cancelled")] if step == "late" else []), ev.UserMessage(text="stop"))
    elif step == "rewind":
        said = [e.seq for e in log.events if e.type == "user_message"]
        log.add(ev.Rewound(to=said[-1], conversation=True))
        log.add(ev.UserMessage(text="instead"))


def _check(log: Log, number: int, step: str) -> None:
    """A compaction of that kind, if the step is one; then the same once more, which has nothing left to do."""
    talk = _Talk(log)
    if step == "shorten":
        shortened(talk, number)
        before = stand_ins(talk.events)
        assert compaction.choose_layers(talk.events, recent=1, keep=lambda data: "d1gest") == ()
        assert stand_ins(talk.events) == before
    elif step == "summary" and summarised(talk, number):
        now = last_summary(talk.events)
        again = compaction.plan_summary(talk.events, 8_000)
        assert now is not None and (again is None or again.keep_from > now.keep_from), "nothing is summarised twice"
    elif step == "undo":
        for one in reversed(undo.newest(talk.events)):
            log.add(ev.CompactionUndone(number=one.number))


class _Talk(Log):
    """What of a log is talked of still; what is added is added to the log."""

    def __init__(self, log: Log) -> None:
        self._log = log

    @property
    def events(self) -> list[Any]:  # type: ignore[override]
        from engine.rewound import talk

        return list(talk(self._log.events))

    def add(self, *events: ev.Stored) -> Log:
        return self._log.add(*events)
