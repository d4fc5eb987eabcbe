"""Compaction within the loop: asked for at any moment, and when the window leaves no room to ask for a summary."""

from __future__ import annotations

from pathlib import Path

from engine import commands as cmd
from engine import events as ev
from engine.models.base import ModelError
from engine.prompt.request import ModelRequest
from tests.engine.kit import Gate, Kit, make_kit, shell, text
from tests.fakes import validate_anthropic

LONG = "words " * 1500
NOTE = "## Goal\nGo on.\n## Next\nThe next step."


def asks_for_summary(request: ModelRequest) -> bool:
    last = request.messages[-1].parts[-1]
    return last.kind == "text" and last.text.startswith("[compaction]") if hasattr(last, "kind") else False


def long_turns(count: int) -> list[list[ev.Block]]:
    return [[text(f"{n} {LONG}"), shell(f"c{n}", f"step {n}")] for n in range(count)]


def compactions(kit: Kit) -> list[ev.Compacted]:
    return [e for e in kit.events if e.type == "compacted"]


async def test_one_asked_for_during_the_last_answer_is_made_when_the_run_ends(tmp_path: Path) -> None:
    gate = Gate()
    kit = make_kit(tmp_path, [*long_turns(6), gate, [text("done")], [text(NOTE)]])
    kit.model.context_window = 40_000
    kit.runner.send("do it", "steer")
    await gate.reached.wait()
    kit.runner.compact(cmd.Compact(kit.runner.session.id))
    gate.passed.set()
    await kit.runner.idle()
    (made,) = compactions(kit)
    assert (made.kind, made.summary) == ("summary", NOTE)
    assert kit.runner.session.state.stage == "finished"
    await kit.runner.close()


async def test_a_summary_request_that_does_not_fit_leaves_the_ledger_and_the_run_goes_on(tmp_path: Path) -> None:
    full = ModelError("context_overflow", "too long")
    kit = make_kit(tmp_path, [*long_turns(6), full, full, [text("went on")]])
    kit.model.context_window = 40_000
    kit.runner.send("do it", "steer")
    await kit.runner.idle()
    assert kit.runner.session.state.stage == "finished"
    (made,) = compactions(kit)
    assert made.summary == "" and "do it" in made.ledger
    assert any(asks_for_summary(request) for request in kit.model.requests)
    await kit.runner.close()


async def test_the_request_after_a_compaction_is_valid_and_begins_with_what_is_known(tmp_path: Path) -> None:
    from engine.models.wire_anthropic_params import anthropic_params

    kit = make_kit(tmp_path, [*long_turns(6), [text("done")], [text(NOTE)], [text("and on")]])
    kit.model.context_window = 40_000
    kit.runner.send("do it", "steer")
    await kit.runner.idle()
    kit.runner.compact(cmd.Compact(kit.runner.session.id, focus="the paths"))
    await kit.runner.idle()
    kit.runner.send("go on", "steer")
    await kit.runner.idle()
    after = kit.model.requests[-1]
    assert validate_anthropic(anthropic_params(after, "claude-x")) is None
    first = after.messages[0].parts[0]
    assert first.kind == "text" and "do it" in first.text and NOTE.splitlines()[1] in first.text  # type: ignore[union-attr]
    asked = next(r for r in kit.model.requests if asks_for_summary(r))
    before = kit.model.requests[kit.model.requests.index(asked) - 1]
    assert asked.messages[: len(before.messages)] == before.messages, "the summary is asked for on the hot prefix"
    await kit.runner.close()
