"""When making room does not help: a hand-off in each of its cases, never for nothing; what a person takes back; off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine import compaction
from engine import events as ev
from engine.compact import Compactor, HandOff
from engine.compaction.visible import in_force
from engine.models.base import ModelError
from engine.prompt.build import build
from engine.session import Session
from tests.engine.kit import Kit, make_kit, shell, text

WINDOW = 40_000
NOTE = "## Goal\nGo on.\n## Next\nThe next step."


def kit_of(tmp_path: Path, turns: int = 1, size: int = 200, begins: ev.Compacted | None = None) -> Kit:
    """A session that has run ``turns`` commands whose outputs have ``size`` characters."""
    kit = make_kit(tmp_path, [[text(NOTE)]] * 8)
    kit.model.context_window = WINDOW
    session = kit.runner.session
    if begins is not None:
        session.append(begins)
    session.say("Make it work.")
    for n in range(turns):
        work(session, f"c{n}", size)
    return kit


def work(session: Session, id: str, size: int = 200, said: str = "On it.") -> None:
    turn = session.state.turn + 1
    session.append(ev.TurnStarted(turn=turn, model="script/played"))
    blocks = (text(said), shell(id, f"make {id}"))
    session.append(ev.AssistantMessage(turn=turn, model="script/played", blocks=blocks, stop="tool_calls"))
    session.append(
        ev.ToolResult(call_id=id, turn=turn, name="shell_run", status="ok", text="out " * (size // 4), exit_code=0)
    )


def compactor(kit: Kit, put: Callable[[bytes], str] = lambda data: "d1gest") -> Compactor:
    return Compactor(kit.runner.session, put)


def no_disk(data: bytes) -> str:
    raise OSError("No space left on device")


def huge(tokens: int) -> str:
    return "word " * tokens


def made(kit: Kit) -> list[ev.Compacted]:
    return [e for e in kit.events if e.type == "compacted"]


# --- the cases of a hand-off -----------------------------------------------------------------------------------------


async def test_what_cannot_be_made_smaller_is_handed_off_when_a_fresh_session_has_room(tmp_path: Path) -> None:
    kit = kit_of(tmp_path)
    kit.runner.session.say(huge(30_000))
    with pytest.raises(HandOff, match="tokens are left after all compactions"):
        await compactor(kit).make_room(kit.model)


async def test_facts_that_would_be_lost_are_handed_off_instead(tmp_path: Path) -> None:
    kit = kit_of(tmp_path)
    for n in range(130):
        kit.runner.session.say(f"Rule {n}: " + "never touch that one again " * 40)
        work(kit.runner.session, f"w{n}")
    with pytest.raises(HandOff, match="what the person said is there word for word"):
        await compactor(kit, no_disk).make_room(kit.model)
    assert made(kit) == [], "a ledger that fails takes the place of nothing"
    await compactor(kit).make_room(kit.model)
    (one,) = made(kit)
    assert one.kind == "summary" and one.artifact == "d1gest" and "Rule 129" in one.ledger + str(request_of(kit))


async def test_making_room_again_and_again_is_handed_off(tmp_path: Path) -> None:
    kit = kit_of(tmp_path, turns=6)
    session = kit.runner.session
    for _ in range(3):
        summarised(session, 30_000, 5_000)
        work(session, f"again{session.state.seq}")
    work(session, "large", said=huge(32_000))
    with pytest.raises(HandOff, match="would be summarised 4 times within 6 turns"):
        await compactor(kit).make_room(kit.model)


async def test_a_summary_that_freed_next_to_nothing_is_not_made_again_but_handed_off(tmp_path: Path) -> None:
    kit = kit_of(tmp_path, turns=3)
    session = kit.runner.session
    summarised(session, 30_000, 29_900)
    work(session, "large", said=huge(32_000))
    with pytest.raises(HandOff, match="freed only 100 tokens"):
        await compactor(kit).make_room(kit.model)


async def test_what_a_person_asked_for_as_often_as_they_like_is_no_reason(tmp_path: Path) -> None:
    kit = kit_of(tmp_path, turns=6)
    session = kit.runner.session
    for _ in range(3):
        summarised(session, 30_000, 29_900, reason="asked for", after=5_000)
        work(session, f"again{session.state.seq}")
    work(session, "large", said=huge(32_000))
    await compactor(kit).make_room(kit.model)
    assert made(kit)[-1].kind == "summary" and made(kit)[-1].reason == "the window fills"


def summarised(session: Session, before: int, freed_to: int, reason: str = "the window fills", after: int = 0) -> None:
    session.append(
        ev.Compacted(
            number=session.state.compactions + 1,
            kind="summary",
            reason=reason,
            keep_from=session.state.seq + 1,
            ledger="## Goal, as the person put it\n- Make it work.",
            summary=NOTE,
            tokens_before=before,
            tokens_after=after or freed_to,
        )
    )


async def test_a_refused_request_in_which_nothing_can_go_is_handed_off(tmp_path: Path) -> None:
    kit = kit_of(tmp_path)
    kit.runner.session.say(huge(20_000))
    one = compactor(kit)
    assert await one.after_overflow(kit.model), "the little there is goes first"
    with pytest.raises(HandOff, match="the provider refuses"):
        await one.after_overflow(kit.model)


# --- and when not ----------------------------------------------------------------------------------------------------


async def test_no_hand_off_before_anything_was_done(tmp_path: Path) -> None:
    kit = kit_of(tmp_path, turns=0)
    kit.runner.session.say(huge(30_000))
    one = compactor(kit)
    await one.make_room(kit.model)
    await one.make_room(kit.model)
    assert [e.text for e in kit.events if e.type == "notice"] == ["The context window is nearly full."], "said once"
    assert not await one.after_overflow(kit.model)
    kit.runner.session.say(huge(30_000))
    with pytest.raises(ModelError, match="and the window 40,000"):
        await one.make_room(kit.model)


async def test_never_handed_off_twice_without_progress(tmp_path: Path) -> None:
    begins = ev.Compacted(number=1, kind="handoff", reason="", ledger="## Goal, as the person put it\n- Make it work.")
    kit = kit_of(tmp_path, turns=0, begins=begins)
    kit.runner.session.say(huge(30_000))
    await compactor(kit).make_room(kit.model)
    assert not await compactor(kit).after_overflow(kit.model)
    work(kit.runner.session, "progress")
    kit.runner.session.say(huge(30_000))
    with pytest.raises(HandOff):
        await compactor(kit).make_room(kit.model)


async def test_an_error_instead_where_a_fresh_session_would_have_no_room_either(tmp_path: Path) -> None:
    kit = kit_of(tmp_path, turns=3)
    session = kit.runner.session
    rendered = next(e for e in kit.events if e.type == "prompt_rendered")
    session.append(rendered.model_copy(update={"seq": 0, "identity": huge(22_000), "reason": "refreshed"}))
    await compactor(kit).make_room(kit.model)
    session.say(huge(9_000))
    with pytest.raises(ModelError) as caught:
        await compactor(kit).make_room(kit.model)
    assert caught.value.kind == "context_overflow" and "larger window" in caught.value.suggestion


async def test_with_automatic_compaction_off_nothing_is_done_and_only_what_does_not_fit_stops(tmp_path: Path) -> None:
    kit = kit_of(tmp_path, turns=20, size=6_000)
    session = kit.runner.session
    session.append(ev.SettingChanged(name="compaction", value="off"))
    one = compactor(kit)
    assert one.size(kit.model) > compaction.thresholds(WINDOW).summary
    await one.make_room(kit.model)
    assert made(kit) == [] and not kit.model.requests
    with pytest.raises(ModelError, match="refused"):
        await one.after_overflow(kit.model)
    session.say(huge(20_000))
    with pytest.raises(ModelError) as caught:
        await one.make_room(kit.model)
    assert "/compact" in caught.value.suggestion and made(kit) == []
    assert await one.compact(kit.model, "asked for"), "a person may"
    session.append(ev.SettingChanged(name="compaction", value="auto"))
    await one.make_room(kit.model)


# --- one batch, and taking it back -----------------------------------------------------------------------------------


def layered(tmp_path: Path) -> Kit:
    """Results for each of the layers below the summary."""
    kit = kit_of(tmp_path, turns=12, size=8_000)
    session = kit.runner.session
    for n in range(2):
        session.append(ev.TurnStarted(turn=50 + n, model="script/played"))
        read = ev.ToolCall(id=f"r{n}", name="fs_read", input={"path": "a.txt"})
        session.append(
            ev.AssistantMessage(turn=50 + n, model="script/played", blocks=(read,), stop="tool_calls"),
        )
        session.append(
            ev.ToolResult(
                call_id=f"r{n}", turn=50 + n, name="fs_read", status="ok", text="line\n" * 2_000, files_read=("a.txt",)
            )
        )
    for n in range(5):
        work(session, f"z{n}")
    return kit


def request_of(kit: Kit) -> object:
    return build(kit.events, kit.runner.session.state)


async def test_layers_of_one_go_break_the_cache_once_and_are_taken_back_as_one(tmp_path: Path) -> None:
    kit = layered(tmp_path)
    before = request_of(kit)
    one = compactor(kit)
    await one.make_room(kit.model)
    assert [e.kind for e in made(kit)] == ["offload", "drop", "digest"] and not kit.model.requests
    first, *_, last = (e.seq for e in made(kit))
    assert last - first == 2, "nothing between them, no request above all"
    shortened = [call for e in made(kit) for call in (*e.offloaded, *e.texts)]
    assert len(shortened) == len(set(shortened)) > 10
    after = request_of(kit)
    await one.make_room(kit.model)
    assert request_of(kit) == after and len(made(kit)) == 3, "nothing more to do"
    assert one.undo(kit.model) == "" and request_of(kit) == before
    assert in_force(kit.events) == [] and one.undo(kit.model) == "There is no compaction to take back."


async def test_taking_back_is_of_the_newest_first_and_the_raw_events_are_all_there(tmp_path: Path) -> None:
    kit = kit_of(tmp_path, turns=30, size=800)
    one = compactor(kit)
    requests = [request_of(kit)]
    for n in range(2):
        assert await one.compact(kit.model, "asked for")
        requests.append(request_of(kit))
        for m in range(30 - 30 * n):
            work(kit.runner.session, f"more{n}-{m}", 800)
    assert [e.kind for e in made(kit)] == ["summary", "summary"]
    assert one.undo(kit.model) == "" and [e.number for e in in_force(kit.events)] == [1]
    assert one.undo(kit.model) == "" and in_force(kit.events) == []
    assert str(requests[0].messages)[1:-2] in str(request_of(kit).messages)  # type: ignore[attr-defined]


async def test_what_would_not_fit_without_its_compaction_is_not_taken_back(tmp_path: Path) -> None:
    kit = layered(tmp_path)
    one = compactor(kit)
    await one.make_room(kit.model)
    after = request_of(kit)
    kit.model.context_window = 20_000
    assert "the window has 20,000" in one.undo(kit.model)
    assert request_of(kit) == after and not kit.of(ev.CompactionUndone)


async def test_taking_back_turns_automatic_compaction_off_where_it_would_come_again_at_once(tmp_path: Path) -> None:
    kit = layered(tmp_path)
    one = compactor(kit)
    await one.make_room(kit.model)
    assert one.undo(kit.model) == ""
    assert kit.runner.session.state.compaction == "off"
    assert "compact again at once" in [e.text for e in kit.events if e.type == "notice"][-1]
    await one.make_room(kit.model)
    assert in_force(kit.events) == []


async def test_a_small_one_is_taken_back_and_automatic_compaction_stays_on(tmp_path: Path) -> None:
    kit = kit_of(tmp_path, turns=12, size=1_500)
    one = compactor(kit)
    assert await one.compact(kit.model, "asked for") and one.undo(kit.model) == ""
    assert kit.runner.session.state.compaction == "auto"


async def test_what_a_session_that_goes_on_began_with_is_never_taken_back(tmp_path: Path) -> None:
    kit = kit_of(tmp_path, begins=ev.Compacted(number=1, kind="handoff", reason="", ledger="## Todo\n- [done] x"))
    assert compactor(kit).undo(kit.model) == "There is no compaction to take back."
