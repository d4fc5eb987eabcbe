"""What the ledger takes from the log besides words and commands, how a session that goes on knows it again, and the
questions a compaction has to answer with yes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import compaction
from engine import events as ev
from engine.compaction import checks
from engine.compaction.facts import Command, Ledger
from engine.compaction.ledger_text import Section, parsed, written
from tests.engine.compaction_kit import Log, call, result, working

SHA = "0123456789abcdef" * 4
PAGE = ev.External(source="web", url="https://a.example/x", at="2026-11-02T10:00:00")
DIFF = "--- a/c.py\n+++ b/c.py\n@@ -1,2 +1,2 @@\n-def total(a):\n+def total(a, tax=0):\n     pass\n"


def run(log: Log, id: str, command: str, code: int, text: str = "") -> Log:
    log.turn(1, call(id, "shell_run", command=command))
    return log.add(result(id, text, "shell_run", exit_code=code, status="error" if code else "ok"))


def edited(log: Log, id: str, diff: str = DIFF) -> Log:
    log.turn(1, call(id, "fs_edit", path="c.py"))
    rows = ({"path": "c.py", "sha256": SHA},)
    return log.add(result(id, "ok", "fs_edit", files_written=("c.py",), items=rows, diff=diff))


def eventful() -> Log:
    log = Log(ev.UserMessage(text="Fix the cart.\nKeep `total()`."), ev.UserMessage(kind="steer", text="Never push."))
    run(log, "t1", "pytest -q", 1, "FAILED tests/test_a.py::test_x - assert 1 == 2\n1 failed, 3 passed in 0.1s")
    edited(log, "e1")
    run(log, "t2", "pytest -q", 0, "4 passed in 0.1s")
    run(log, "t3", "make -k \\\n  all\n", 2, "c.c:1: error: no such thing")
    log.turn(1, call("n", path="nope.py")).add(result("n", "", status="error", error="nope.py does not exist"))
    log.turn(1, call("w", "fs_write", path="new.py", content="def load(a: int) -> str:\n    return ''\n"))
    log.add(result("w", "ok", "fs_write", files_written=("new.py",)))
    log.turn(1, call("u", "skill_run", url="x"))
    log.add(
        result("u", "page", "skill_run", external=PAGE),
        ev.PlanProposed(id="p1", text="Rewrite it all."),
        ev.PlanDecided(id="p1", choice="reject", reason="too much"),
        ev.PlanProposed(id="p2", text="Change one line."),
        ev.PlanDecided(id="p2", choice="approve"),
        ev.QuestionAsked(id="q1", call_id="z", question="Which branch?"),
        ev.ApprovalRequested(
            id="r1", digest="", call_id="d", tool="shell_run", kind="command", subject="git push", cwd="", policy="",
            risk="high",
        ),
        ev.ApprovalDecided(id="r1", digest="", choice="deny", reason="not (yet)"),
        ev.PersonRan(command="make check", status="error", text="FAILED check", exit_code=1),
        ev.TodoChanged(text="", items=(ev.TodoItem(text="find it", status="done"), ev.TodoItem(text="explain"))),
    )  # fmt: skip
    return log


def test_each_list_holds_its_facts_exactly() -> None:
    ledger = compaction.extract(eventful().events)
    assert ledger.written == (f"c.py, sha256 {SHA[:12]}", "new.py")
    assert ledger.symbols == ("c.py: def total(a, tax=0)", "new.py: def load(a: int) -> str")
    assert ledger.fixed == (
        "pytest -q failed with FAILED tests/test_a.py::test_x - assert 1 == 2; fixed after changing c.py",
    )
    assert ledger.rejected == (
        "rejected plan (“too much”): Rewrite it all.",
        "denied: shell_run git push (“not (yet)”)",
    )
    assert ledger.questions == ("Which branch?",)
    assert ledger.sources == ("https://a.example/x (2026-11-02)",)
    assert any("approved plan" in one and "Change one line." in one for one in ledger.decisions)
    assert [(one.text.strip(), one.ended) for one in ledger.commands] == [
        ("pytest -q", "exit 0"),
        ("make -k \\\n  all", "exit 2"),
        ("make check", "exit 1, run by the person"),
    ]


def test_a_proposal_that_was_allowed_later_is_rejected_no_more_and_an_answered_question_not_open() -> None:
    log = eventful().add(
        ev.ApprovalDecided(id="r1", digest="", choice="once"), ev.QuestionAnswered(id="q1", text="main")
    )
    ledger = compaction.extract(log.events)
    assert not any("git push" in one for one in ledger.rejected) and ledger.questions == ()
    assert "asked 'Which branch?', answered: main" in ledger.decisions


def gone_on(ledger: str, artifact: str = "") -> Log:
    """A session that goes on from ``ledger``."""
    return Log(ev.Compacted(number=1, kind="handoff", reason="", ledger=ledger, artifact=artifact))


def test_a_session_that_goes_on_writes_the_same_ledger_again() -> None:
    text = compaction.extract(eventful().events).text()
    again = compaction.extract(gone_on(text).events).text()
    assert again == text
    assert compaction.extract(gone_on(again).events).text() == text


def test_a_session_that_goes_on_knows_its_facts_by_what_they_are_about() -> None:
    log = gone_on(compaction.extract(eventful().events).text(), "d1gest")
    run(log, "t4", "make -k \\\n  all", 2)
    edited(log, "e2", DIFF.replace("tax=0", "tax=1"))
    run(log, "t5", "make -k \\\n  all", 0)
    log.turn(1, call("n", path="nope.py")).add(result("n", "now it is", files_read=("nope.py",)))
    log.turn(1, call("u", "skill_run", url="x"))
    external = ev.External(source="web", url="https://a.example/x", at="2026-12-24T10:00:00")
    log.add(
        result("u", "page", "skill_run", external=external),
        ev.ApprovalRequested(
            id="r9", digest="", call_id="d", tool="shell_run", kind="command", subject="git push", cwd="", policy="",
            risk="high",
        ),
        ev.ApprovalDecided(id="r9", digest="", choice="once"),
    )  # fmt: skip
    ledger = compaction.extract(log.events)
    assert ledger.failures == () and ledger.sources == ("https://a.example/x (2026-12-24)",)
    assert [one for one in ledger.symbols if "total" in one] == ["c.py: def total(a, tax=1)"]
    assert [(one.ended, one.times) for one in ledger.commands if "make -k" in one.text] == [("exit 0", 3)]
    assert any("make -k" in one and "fixed after changing c.py" in one for one in ledger.fixed)
    assert not any("git push" in one for one in ledger.rejected)
    assert any("artifact:d1gest" in one for one in ledger.earlier)


ENTRIES = st.lists(st.text(min_size=1, max_size=60).filter(lambda t: t.strip()), max_size=5)


@settings(max_examples=150, deadline=None)
@given(ENTRIES, ENTRIES)
def test_reading_the_lists_is_the_inverse_of_writing_them(one: list[str], other: list[str]) -> None:
    text = written((Section("One", tuple(one), 1), Section("Other", tuple(other), 2)), 100_000)
    assert parsed(text) == {
        name: [entry.strip() for entry in entries] for name, entries in (("One", one), ("Other", other)) if entries
    }


LINES = st.text(alphabet="ab :,-#\\\n", min_size=1, max_size=30).filter(lambda t: t.strip())


@settings(max_examples=150, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=4, unique_by=str.strip), st.integers(0, 3))
def test_commands_of_any_number_of_lines_come_through_as_they_were(commands: list[str], code: int) -> None:
    made = tuple(Command(text, f"exit {code}", 2, ("FAILED x",) if code else ()) for text in commands)
    text = Ledger(said=("go",), commands=made).text()
    again = compaction.extract(gone_on(text).events)
    assert [one.text for one in again.commands] == [one.text.strip() for one in made]
    assert again.text() == text


# --- the questions ---------------------------------------------------------------------------------------------------


def planned(**fields: Any) -> tuple[Log, compaction.SummaryPlan]:
    log = working(20)
    log.add(ev.TodoChanged(text="", items=(ev.TodoItem(text="explain the cause"),)))
    plan = compaction.plan_summary(log.events, 20_000)
    assert plan is not None
    return log, replace(plan, **fields)


def test_a_good_plan_answers_all_questions_with_yes_and_so_does_what_is_made_of_it() -> None:
    log, plan = planned()
    assert checks.failed(checks.checks(plan, log.events)) == ()
    made = ev.Compacted(number=1, kind="summary", reason="", keep_from=plan.keep_from, ledger=plan.ledger_text)
    log.add(made)
    assert checks.failed(checks.checks(log.events[-1], log.events)) == ()


FACTS = Ledger(
    said=("Fix it", "Never push\nnor tag"),
    failures=("fs_read x: error, gone",),
    sources=("https://a.example (2026-11-02)",),
    todo=(ev.TodoItem(text="explain"),),
)


@pytest.mark.parametrize(
    ("lost", "question"),
    [
        ("Fix it", checks.GOAL),
        ("nor tag", checks.CONSTRAINTS),
        ("fs_read x", checks.OUTCOMES),
        ("https://a.example", checks.SOURCES),
        ("explain", checks.TODO),
    ],
)
def test_each_thing_that_is_lost_is_found_missing(lost: str, question: str) -> None:
    log, plan = planned(ledger=FACTS, ledger_text=FACTS.text().replace(lost, "something"))
    assert checks.failed(checks.checks(plan, log.events)) == (question,)


def test_an_empty_or_larger_ledger_and_a_call_cut_from_its_result_are_found() -> None:
    log, plan = planned(ledger=Ledger(), ledger_text=" ")
    assert checks.failed(checks.checks(plan, log.events)) == (checks.FILLED,)
    log, plan = planned(replaced=10)
    assert checks.failed(checks.checks(plan, log.events)) == (checks.SMALLER,)
    log, plan = planned()
    between = next(e.seq for e in log.events if e.type == "tool_result" and e.seq > plan.keep_from)
    parted = replace(plan, keep_from=between)
    assert checks.PAIRED in checks.failed(checks.checks(parted, log.events))


def test_what_was_left_out_counts_only_when_the_text_says_where_it_stands_and_the_newest_words_never() -> None:
    said = ("Fix it", *(f"Rule {n}: " + "never do that " * 60 for n in range(40)))
    ledger = replace(FACTS, said=said)
    pointing = ledger.text(4_000, "artifact:d1gest: read it with fs_read")
    _, plan = planned(ledger=ledger, ledger_text=pointing, artifact="d1gest")
    assert checks.failed(checks.of_ledger(plan)) == ()
    assert checks.CONSTRAINTS in checks.failed(checks.of_ledger(replace(plan, artifact="")))
    silent = replace(plan, ledger_text=ledger.text(4_000))
    assert checks.CONSTRAINTS in checks.failed(checks.of_ledger(silent))
    newest = replace(plan, ledger_text=pointing.replace("Rule 39", "Rule"))
    assert checks.failed(checks.of_ledger(newest)) == (checks.CONSTRAINTS,)


def test_a_layer_may_not_drop_failures_nor_shorten_what_came_from_outside_nor_be_larger() -> None:
    log = working(6)
    fail = result("f", "x" * 900, "shell_run", status="error", exit_code=1)
    web = result("w", "x" * 900, external=ev.External(source="web", url="https://a.example"))
    for one in (fail, web):
        log.turn(9, call(one.call_id, one.name)).add(one)

    def asked(kind: str, **texts: str) -> tuple[str, ...]:
        made = ev.Compacted(number=1, kind=kind, reason="", texts=texts)
        return checks.failed(checks.checks(made, log.events))

    assert asked("drop", c0="gone") == ()
    assert asked("drop", f="gone") == (checks.OUTCOMES,)
    assert asked("digest", f="exit code 1") == ()
    assert asked("digest", w="short") == (checks.SOURCES,)
    assert asked("digest", c0=" ") == (checks.FILLED,)
    assert asked("digest", c0="y" * 9000) == (checks.SMALLER,)
    assert checks.PAIRED in asked("drop", unknown="gone")
