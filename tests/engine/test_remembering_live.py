"""The engine lets go of what a summary cut off, and has it again when a person goes back."""

from __future__ import annotations

from pathlib import Path

from engine import events as ev
from engine.commands import Compact, Rewind
from engine.prompt.build import build
from engine.state import fold
from tests.engine.kit import Kit, make_kit, shell, text

CALLS = 30
LONG = "a long thought about the matter at hand " * 40


async def compacted(tmp_path: Path) -> Kit:
    """A session of many turns that was summarised, and then went on for one."""
    work = [[text(LONG), shell(f"c{n}", f"make {n}")] for n in range(CALLS)]
    kit = make_kit(tmp_path, [*work, [text(LONG)], [text("note: all is well")], [text("on")], [text("and on")]])
    kit.runner.send("begin", "steer")
    await kit.runner.idle()
    kit.runner.compact(Compact(kit.runner.session.id))
    await kit.runner.idle()
    kit.runner.send("go on", "steer")
    await kit.runner.idle()
    return kit


def sent(kit: Kit) -> object:
    """What the next request would say, by all of the log and by what the session holds of it."""
    whole = build(kit.events, fold(kit.events)).messages
    assert build(kit.runner.session.talk, kit.runner.session.state).messages == whole
    return whole


async def test_what_a_summary_cut_off_is_held_no_longer(tmp_path: Path) -> None:
    kit = await compacted(tmp_path)
    session = kit.runner.session
    assert len(session.events) < len(kit.events) - 40
    assert len([e for e in session.events if e.type == "tool_result"]) < CALLS
    sent(kit)
    await kit.runner.close()


async def test_a_compaction_is_taken_back_from_the_log(tmp_path: Path) -> None:
    kit = await compacted(tmp_path)
    cut = len(str(sent(kit)))
    await kit.runner.undo_compaction()
    assert kit.events[-1].type == "compaction_undone"
    assert len(kit.runner.session.events) == len(kit.events), "all of it is talked of again"
    assert len(str(sent(kit))) > 2 * cut
    kit.runner.send("more", "steer")
    await kit.runner.idle()
    assert LONG in str(kit.model.requests[-1].messages)
    await kit.runner.close()


async def test_a_person_goes_back_to_what_is_held_no_longer_and_returns(tmp_path: Path) -> None:
    kit = await compacted(tmp_path)
    early = next(e.seq for e in kit.events if e.type == "turn_started" and e.turn == 3)
    assert all(event.seq != early for event in kit.runner.session.events)
    before = sent(kit)
    await kit.runner.rewind(Rewind(kit.runner.session.id, to=early, conversation=True, files=False))
    back = kit.events[-1]
    assert back.type == "rewound" and back.to == early
    assert str(sent(kit)).count("make ") == 2
    await kit.runner.rewind(Rewind(kit.runner.session.id, to=0, conversation=False, files=False, undoes=back.seq))
    assert sent(kit) == before
    assert len(kit.runner.session.events) < len(kit.events) - 40
    await kit.runner.close()


async def test_nothing_is_lacking_however_it_came_to_be_talked_of_again(tmp_path: Path) -> None:
    kit = await compacted(tmp_path)
    session = kit.runner.session
    early = next(e.seq for e in kit.events if e.type == "turn_started" and e.turn == 3)
    session.append(ev.Rewound(to=early, conversation=True))
    assert len(session.events) == len(kit.events)
    sent(kit)
    await kit.runner.close()


async def test_what_cannot_be_read_again_is_said_and_nothing_is_changed(tmp_path: Path) -> None:
    kit = await compacted(tmp_path)
    before = sent(kit)
    database = kit.store.home.database
    kept = database.rename(database.with_suffix(".away"))
    await kit.runner.undo_compaction()
    await kit.runner.rewind(Rewind(kit.runner.session.id, to=5, conversation=True, files=False))
    kept.rename(database)
    held = kit.runner.session.events
    assert [e.text.split(":")[0] for e in held if e.type == "notice"][-2:] == ["the compaction stays", "not gone back"]
    assert build(kit.runner.session.talk, kit.runner.session.state).messages == before
    await kit.runner.close()
