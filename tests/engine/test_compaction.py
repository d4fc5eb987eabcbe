"""Compaction: when it is due, where it cuts, what stays exact, and that no call is ever parted from its result."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine import compaction
from engine import events as ev
from engine.compaction.visible import chars, in_request
from engine.prompt.markers import COMPACTION_MARKER
from engine.prompt.request import Message, ModelRequest, ResultPart
from tests.engine.compaction_kit import Log, call, result, working

# --- when ------------------------------------------------------------------------------------------------------------


@given(st.integers(1, 3_000_000))
def test_thresholds_are_within_any_window(window: int) -> None:
    at = compaction.thresholds(window)
    assert 0 < at.summary < max(window, 100)
    # What a summary leaves, a summary of its own size included, does not call for the next one.
    assert at.tail + 2 * at.ledger < at.summary * 3 // 4
    assert at.gain > 0


def test_room_is_made_once_the_window_is_nearly_full() -> None:
    at = compaction.thresholds(200_000)
    assert not compaction.is_due(at.summary - 1, 200_000)
    assert compaction.is_due(at.summary, 200_000)
    assert compaction.worth_offloading(at.summary, 200_000, 3_000) == at.summary - 3_000 - at.tail - at.ledger


def test_a_floor_that_cannot_be_reduced_ends_the_loop_and_is_named() -> None:
    assert not compaction.is_due(750_000, 800_000, floor=749_000)
    assert "750,000" in compaction.stuck(750_000, 800_000) and "larger window" in compaction.stuck(750_000, 800_000)
    assert compaction.stuck(100_000, 800_000) == ""
    log = Log(
        ev.PromptRendered(identity="i" * 70_000, catalogue="", tools=(), digest=""),
        ev.Compacted(number=1, kind="summary", reason="", tokens_after=9_000),
    )
    assert compaction.floor(log.events) == 20_000
    log.add(ev.Compacted(number=2, kind="summary", reason="", tokens_after=30_000))
    assert compaction.floor(log.events) == 30_000
    log.add(ev.Compacted(number=3, kind="offload", reason="", tokens_after=90_000))
    assert compaction.floor(log.events) == 30_000, "what an offload left a summary can still free"


# --- offload ---------------------------------------------------------------------------------------------------------


def test_old_large_results_become_pointers_in_one_batch() -> None:
    log = working(10)
    chosen = compaction.choose(log.events, gain=1000)
    assert chosen.call_ids == tuple(f"c{n}" for n in range(6)), "the newest turns stay"
    assert "src/0.py" in chosen.pointers[0] and chosen.tokens_saved > 5000
    log.add(ev.Compacted(number=1, kind="offload", reason="", offloaded=chosen.call_ids))
    assert compaction.choose(log.events, gain=1000) == compaction.Offload(), "not twice"


def test_offload_is_not_worth_it_for_little() -> None:
    assert compaction.choose(working(10).events, gain=100_000).call_ids == ()
    assert compaction.choose(working(10, size=100).events, gain=1).call_ids == ()
    assert compaction.choose((), gain=1).call_ids == ()


def test_offload_keeps_what_could_not_be_had_again() -> None:
    log = Log(ev.UserMessage(text="go"))
    large = "y" * 9000
    results = [
        result("a", large, name="shell_run"),
        result("b", large, name="shell_run", artifact="d1gest"),
        result("c", large, name="user_ask", artifact="d2"),
        result("d", large, items=({"path": "skill:x/SKILL.md"},)),
        result("e", large, name="fs_search"),
    ]
    for n, one in enumerate(results):
        log.turn(n, call(one.call_id, one.name)).add(one)
    for n in range(5, 9):
        log.turn(n, text="thinking aloud")
    chosen = compaction.choose(log.events, gain=1)
    assert chosen.call_ids == ("b", "e")
    assert "artifact:d1gest" in chosen.pointers[0]
    assert "shell_run: exit code 1" in compaction.pointer_text(result("b", large, "shell_run", summary="exit code 1"))


# --- where to cut ----------------------------------------------------------------------------------------------------


def test_the_cut_leaves_about_the_tail() -> None:
    log = working(20)
    cut = compaction.keep_from(log.events, tail=5000)
    kept = [e for e in log.events if e.seq >= cut]
    assert kept[0].type == "turn_started"
    assert sum(chars(e) for e in kept) / 3.5 <= 5000
    assert sum(e.type == "tool_result" for e in kept) == 4


def test_an_unanswered_message_is_never_cut_off() -> None:
    log = working(5).turn(5, text="done").add(ev.UserMessage(text="and now this " * 5000))
    cut = compaction.keep_from(log.events, tail=10)
    assert cut == log.events[-1].seq
    log.add(ev.UserMessage(text="and that"))
    assert compaction.keep_from(log.events, tail=10) == cut


def test_nothing_to_cut_off() -> None:
    assert compaction.keep_from((), tail=10) == 0
    assert compaction.keep_from(Log(ev.UserMessage(text="x" * 9000)).events, tail=10) == 0
    assert compaction.plan_summary(Log(ev.UserMessage(text="x" * 9000)).events, 1000) is None


def test_results_larger_than_any_tail_can_go_once_they_are_whole() -> None:
    log = Log(ev.UserMessage(text="go")).turn(1, call("a"), call("b")).add(result("a", "x" * 100_000))
    assert compaction.keep_from(log.events, tail=10) in (0, 2), "the batch is not whole yet"
    log.add(result("b", "x" * 100_000))
    assert compaction.keep_from(log.events, tail=10) == log.events[-1].seq + 1


STEPS = ["prompt", "steer", "answer", "calls1", "calls3", "aborted", "lost", "offload", "summary", "runtime"]
happenings = st.lists(st.sampled_from(STEPS), min_size=1, max_size=40)


@settings(max_examples=300, deadline=None)
@given(happenings, st.integers(1, 3000), st.randoms(use_true_random=False))
def test_after_any_compaction_every_call_has_its_result(steps: list[str], tail: int, random: Any) -> None:
    log = _history(steps, tail, random)
    cut = compaction.keep_from(log.events, tail)
    if not cut:
        return
    before = in_request(log.events)
    after = [e for e in before if e.seq >= cut]
    assert len(after) < len(before), "a cut takes something away"
    assert _pairs(after) == [pair for pair in _pairs(before) if pair[0] >= cut]
    assert not _orphans(after) - _orphans(before)
    last_answer = max((e.seq for e in before if e.type == "assistant_message" and not e.aborted), default=0)
    unanswered = [e for e in before if e.type == "user_message" and e.seq > last_answer]
    assert all(e.seq >= cut for e in unanswered)


def _history(steps: list[str], tail: int, random: Any) -> Log:
    """A log as the loop writes it, crashes and chained compactions among it."""
    log = Log(ev.UserMessage(text="start"))
    for n, step in enumerate(steps):
        if step in ("prompt", "steer"):
            log.add(ev.UserMessage(text="word " * random.randint(1, 300)))
        elif step == "runtime":
            log.add(ev.RuntimeUpdate(kind="budget", text="half"))
        elif step == "answer":
            log.turn(n, text="answer " * random.randint(1, 300))
        elif step == "aborted":
            log.add(
                ev.TurnStarted(turn=n, model="m"),
                ev.AssistantMessage(turn=n, model="m", blocks=(call(f"{n}-x"),), aborted=True),
            )
        elif step == "offload":
            chosen = compaction.choose(log.events, gain=1)
            log.add(ev.Compacted(number=n, kind="offload", reason="", offloaded=chosen.call_ids))
        elif step == "summary":
            if cut := compaction.keep_from(log.events, tail):
                log.add(ev.Compacted(number=n, kind="summary", reason="", keep_from=cut, summary="s", ledger="l"))
        else:
            ids = [f"{n}-{i}" for i in range(3 if step == "calls3" else 1)]
            log.turn(n, *(call(id) for id in ids))
            for id in ids if step != "lost" else ids[1:]:
                log.add(ev.ToolStarted(call_id=id, turn=n, name="fs_read"), result(id, "r" * random.randint(1, 4000)))
    return log


def _pairs(events: list[Any]) -> list[tuple[int, str]]:
    called = {c.id: e.seq for e in events if e.type == "assistant_message" and not e.aborted for c in e.calls}
    return [(called[e.call_id], e.call_id) for e in events if e.type == "tool_result" and e.call_id in called]


def _orphans(events: list[Any]) -> set[str]:
    called = {c.id for e in events if e.type == "assistant_message" and not e.aborted for c in e.calls}
    return {e.call_id for e in events if e.type == "tool_result"} - called


# --- the ledger ------------------------------------------------------------------------------------------------------


def _eventful() -> Log:
    log = Log(
        ev.UserMessage(text="Fix the login test.\nKeep `load()` public."),
        ev.RuntimeUpdate(kind="environment", text="date: 2026-11-30\nworking folder: /src/shop"),
    )
    log.turn(1, call("a", "shell_run", command="pytest -q\n"), call("b", path="nope.py"))
    log.add(
        result("a", "1 failed", "shell_run", status="error", exit_code=1, error="exit code 1"),
        result("b", "no", status="error", error="nope.py does not exist"),
    )
    log.turn(2, call("c", "fs_edit", path="a.py", old="x", new="y"), call("d", "shell_run", command="git push"))
    log.add(
        ev.ApprovalRequested(
            id="r1", digest="", call_id="d", tool="shell_run", kind="command", subject="git push", cwd="", policy="",
            risk="high",
        ),
        ev.ApprovalDecided(id="r1", digest="", choice="deny", reason="not before review"),
        result("c", "Edited", "fs_edit", files_written=("a.py",)),
        result("d", "Denied", "shell_run", status="denied", error="A person did not allow it."),
        ev.UserMessage(kind="steer", text="also keep the old name"),
    )  # fmt: skip
    log.turn(3, call("e", "shell_run", command="pytest -q\n"), call("f", path="a.py"))
    log.add(
        result("e", "ok", "shell_run", exit_code=0),
        result("f", "text", files_read=("a.py", "b.py")),
        ev.QuestionAsked(id="q", call_id="z", question="Which branch?"),
        ev.QuestionAnswered(id="q", text="main"),
        ev.TodoChanged(text="", items=(ev.TodoItem(text="old plan"),)),
        ev.TodoChanged(text="", items=(ev.TodoItem(text="find it", status="done"), ev.TodoItem(text="explain"))),
    )
    return log


def test_the_ledger_holds_what_must_stay_exact() -> None:
    ledger = compaction.extract(_eventful().events)
    assert ledger.said == ("Fix the login test.\nKeep `load()` public.", "also keep the old name")
    assert (ledger.read, ledger.written) == (("b.py",), ("a.py",))
    assert [(c.text, c.ended, c.times) for c in ledger.commands] == [("pytest -q\n", "exit 0", 2)]
    assert any("nope.py does not exist" in f for f in ledger.failures)
    assert any("git push" in f and "denied" in f for f in ledger.failures)
    assert "denied: shell_run git push (“not before review”)" in ledger.rejected
    assert any("Which branch?" in d and "main" in d for d in ledger.decisions)
    text = ledger.text()
    for exact in ("Keep `load()` public.", "exit 0, 2 times: pytest -q", "[pending] explain"):
        assert exact in text
    assert "/src/shop" not in text, "runtime context is said anew after a summary, it would be old here"
    assert "old plan" not in text, "a plan that was given up does not come back"
    assert text == compaction.extract(_eventful().events).text()


def test_a_command_changed_by_a_person_is_kept_as_it_ran() -> None:
    log = Log(ev.UserMessage(text="go")).turn(1, call("a", "shell_run", command="rm -r build"))
    log.add(
        ev.ApprovalRequested(
            id="r", digest="", call_id="a", tool="shell_run", kind="command", subject="rm -r build", cwd="", policy="",
            risk="high",
        ),
        ev.ApprovalDecided(id="r", digest="", choice="edit", command="ls build"),
        result("a", "", "shell_run", exit_code=0),
    )  # fmt: skip
    assert [c.text for c in compaction.extract(log.events).commands] == ["ls build"]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=3000), min_size=1, max_size=30), st.integers(2000, 20_000))
def test_the_ledger_keeps_to_its_budget_and_says_what_it_left_out(said: list[str], budget: int) -> None:
    done = (ev.TodoItem(text=f"step {n}", status="done") for n in range(60))
    ledger = compaction.Ledger(said=tuple(said), todo=(*done, ev.TodoItem(text="last step")))
    text = ledger.text(budget)
    assert len(text) <= budget
    assert ledger.missing_in(text) == ()
    assert "[pending] last step" in text
    if len(text) < sum(map(len, said)):
        assert "left out" in text


# --- the summary -----------------------------------------------------------------------------------------------------


def _plan() -> compaction.SummaryPlan:
    log = working(20)
    log.add(ev.TodoChanged(text="", items=(ev.TodoItem(text="explain the cause"),)))
    plan = compaction.plan_summary(log.events, 20_000)
    assert plan is not None
    return plan


def _reply(text: str = "## Goal\nFix it", **fields: Any) -> ev.AssistantMessage:
    blocks = (ev.TextBlock(text=text),) if text else ()
    return ev.AssistantMessage(**{"turn": 9, "model": "m", "blocks": blocks, **fields})


def test_a_good_summary_passes_and_each_fault_is_named() -> None:
    plan = _plan()
    assert compaction.check(_reply(), plan) == ()
    assert compaction.check(_reply(""), plan) == ("it has no text",)
    thinking = _reply(blocks=(ev.ThinkingBlock(text="hm"),))
    assert "it has no text" in compaction.check(thinking, plan)
    called = _reply(blocks=(ev.TextBlock(text="ok"), call("x")))
    assert compaction.check(called, plan) == ("it called a tool",)
    assert compaction.check(_reply(stop="length"), plan) == ("it is not whole (length)",)
    assert compaction.check(_reply("x" * plan.replaced), plan) == ("it is not smaller than what it replaces",)


def test_the_plan_takes_the_todo_list_as_it_is_now() -> None:
    plan = _plan()
    assert "explain the cause" in plan.ledger_text and "Fix the login test" in plan.ledger_text
    assert plan.shrinks()


def test_the_summary_request_only_appends() -> None:
    parts = (ev.TextBlock(text="hi"),)
    asked = ModelRequest("s", "identity", "skills", (), (Message("user", parts),))
    text = compaction.instruction("the parser", ("it called a tool",))
    assert text.startswith(COMPACTION_MARKER) and "the parser" in text and "it called a tool" in text
    made = compaction.summary_request(asked, text)
    assert (made.identity, made.catalogue, made.tools, made.allowed_tools) == ("identity", "skills", (), None)
    assert made.messages == (Message("user", (*parts, ev.TextBlock(text=text))),)
    answered = ModelRequest("s", "", "", (), (*asked.messages, Message("assistant", parts)))
    assert compaction.summary_request(answered, text).messages[:2] == answered.messages
    results = ModelRequest("s", "", "", (), (Message("user", (ResultPart("c", "fs_read", "x"),)),))
    assert compaction.summary_request(results, text).messages[0].parts[0] == results.messages[0].parts[0]


def test_what_the_model_reads_after_a_compaction() -> None:
    done = ev.Compacted(number=1, kind="summary", reason="", ledger="## Goal\n- Fix it", summary="Half way.")
    text = compaction.summary_message_text(done)
    assert "## Goal\n- Fix it" in text and "Half way." in text
    assert not text.startswith(COMPACTION_MARKER)
    without = compaction.summary_message_text(done.model_copy(update={"summary": " "}))
    assert "could not be made" in without and "Fix it" in without
