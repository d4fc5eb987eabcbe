"""Compactions looked at afterwards: the request before and after, and what each exact fact became."""

from __future__ import annotations

from pathlib import Path

from engine import events as ev
from engine.compaction import report
from engine.prompt.layers import render
from engine.tools.registry import specs
from tests.engine.long_kit import long_kit


def turn(number: int, name: str, given: dict[str, str], text: str, **more: object) -> list[ev.Event]:
    call = ev.ToolCall(id=f"c{number}", name=name, input=given)
    result = {"call_id": call.id, "turn": number, "name": name, "status": "ok", "text": text, **more}
    return [
        ev.TurnStarted(turn=number, model="script/x"),
        ev.AssistantMessage(turn=number, model="script/x", blocks=(ev.TextBlock(text="I look."), call)),
        ev.ToolResult.model_validate(result),
    ]


def past() -> list[ev.Event]:
    """A goal, a constraint, two reads, a failing command; seqs from 1."""
    return [
        ev.SessionStarted(cwd="/src", model="script/x", app_version="1"),
        render(specs(), ""),
        ev.UserMessage(text="Fix the login [/] 試験"),
        *turn(1, "fs_read", {"path": "a.py"}, "x = 1\n" * 900, files_read=("a.py",), artifact="ab12"),
        *turn(2, "shell_run", {"command": "pytest -q"}, "FAILED tests/t.py::test_a\n", exit_code=1, status="error"),
        ev.UserMessage(text="Never touch b.py"),
        *turn(3, "fs_read", {"path": "c.py"}, "y = 2\n" * 10, files_read=("c.py",)),
    ]  # fmt: skip


def logged(events: list[ev.Event]) -> list[ev.Event]:
    return [e.model_copy(update={"seq": n, "session": "s"}) for n, e in enumerate(events, 1)]


def fate_of(events: list[ev.Event], words: str, number: int = 1) -> str:
    found = report.compaction(events, number)
    assert found is not None
    return next(fact.fate for fact in found.facts if words in fact.text)


OFFLOAD = ev.Compacted(number=1, kind="offload", reason="full", offloaded=("c1",), tokens_before=2000, tokens_after=600)


def test_after_an_offload_facts_are_recent_and_those_of_the_result_behind_a_pointer() -> None:
    events = logged([*past(), OFFLOAD])
    assert fate_of(events, "a.py") == "pointer"
    assert fate_of(events, "c.py") == "recent"
    assert fate_of(events, "Never touch") == "recent"
    found = report.compaction(events, 1)
    assert found is not None and found.undoable and not found.summary
    assert sum(b.tokens for b in found.before) == 2000 and sum(b.tokens for b in found.after) == 600
    gone = [b.title for b in found.before if b.state == "broken"]
    assert gone == ["result fs_read"]
    states = [b.state for b in found.after if b.layer in "CD"]
    assert "read" in states and "new" in states and "broken" in states, "kept, the pointer, what is paid again"
    assert found.checks and all(passed for _, passed in found.checks)


def test_a_text_that_stands_for_a_result_shortens_its_facts() -> None:
    digest = ev.Compacted(number=1, kind="digest", reason="full", texts={"c1": "x is set"}, tokens_before=9)
    assert fate_of(logged([*past(), digest]), "a.py") == "shortened"


def summary(ledger: str, keep_from: int) -> ev.Compacted:
    return ev.Compacted(
        number=1, kind="summary", reason="full", keep_from=keep_from, ledger=ledger, summary="A note.",
        tokens_before=2000, tokens_after=500, usage=ev.Usage(input_uncached=2000, output=20), cost=0.5,
    )  # fmt: skip


def test_after_a_summary_facts_stand_in_the_ledger_or_are_missing() -> None:
    ledger = "## Goal, as the person put it\n- Fix the login [/] 試験\n\n## Files read\n- a.py"
    events = logged([*past(), summary(ledger, 10)])
    assert fate_of(events, "Fix the login") == "ledger"
    assert fate_of(events, "a.py") == "ledger"
    assert fate_of(events, "c.py") == "recent"
    assert fate_of(events, "pytest -q") == "left_out"
    found = report.compaction(events, 1)
    assert found is not None and found.line.cost == 0.5 and found.line.turn == 3
    assert next(b.kind for b in found.after if b.layer == "C") == "ledger"
    assert [name for name, passed in found.checks if not passed] == ["what failed is told apart from what was done"]


def test_an_undone_one_is_listed_and_the_newest_in_force_can_be_undone() -> None:
    events = logged([*past(), OFFLOAD, summary("", 11).model_copy(update={"number": 2})])
    events += [ev.CompactionUndone(number=2).model_copy(update={"seq": 99, "session": "s"})]
    first, second = report.compactions(events)
    assert (first.number, first.undone, first.cost) == (1, False, None)
    assert (second.number, second.undone, second.kind) == (2, True, "summary")
    one, two = report.compaction(events, 1), report.compaction(events, 2)
    assert one and one.undoable and two and not two.undoable
    assert two.after[0].layer == "A" or two.after[0].layer == "B"


def test_there_may_be_none() -> None:
    assert report.compactions(()) == () == report.compactions(logged(past()))
    assert report.compaction(logged(past()), 1) is None
    bare = logged([ev.SessionStarted(cwd="/", model="m/m", app_version="1"), OFFLOAD])
    found = report.compaction(bare, 1)
    assert found is not None and found.before == () == found.after and found.facts == ()


async def test_every_compaction_of_a_long_session_keeps_what_is_exact(tmp_path: Path) -> None:
    kit, _ = long_kit(tmp_path, "anthropic", 24_000, 60)
    kit.runner.send("Build it and never push", "steer")
    await kit.runner.idle()
    lines = report.compactions(kit.events)
    assert lines and all(line.after < line.before for line in lines)
    for line in lines:
        found = report.compaction(kit.events, line.number)
        assert found is not None and found.facts
        assert found.checks and all(passed for _, passed in found.checks)
        assert next(f for f in found.facts if "never push" in f.text).fate in ("ledger", "recent")
        assert sum(b.tokens for b in found.after) == line.after
