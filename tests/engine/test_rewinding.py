"""Going back: the conversation, the files, or both; itself an event, and taken back again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from engine import events as ev
from engine.commands import Rewind
from engine.prompt.build import build
from engine.prompt.builder import Builder
from engine.rewinding import points, undoable
from engine.rewound import talk
from engine.state import TaskState
from tests.engine.kit import Kit, make_kit, shell, text


def texts(kit: Kit) -> list[str]:
    """What the model would read now, in order."""
    request = build(kit.events, kit.runner.session.state)
    return [part.text for message in request.messages for part in message.parts if hasattr(part, "text")]


def seq_of(kit: Kit, said: str) -> int:
    return next(e.seq for e in kit.events if e.type == "user_message" and e.text == said)


async def worked(tmp_path: Path) -> tuple[Kit, Path]:
    """Two messages; after the second the agent changed a file and made another."""
    kit = make_kit(tmp_path, [[text("first answer")], [shell("c1", "make")], [text("second answer")], [text("third")]])
    folder = tmp_path / "work"
    (folder / "a.py").write_text("old")
    kit.runner.send("one", "steer")
    await kit.runner.idle()

    def run() -> None:
        (folder / "a.py").write_text("new")
        (folder / "b.py").write_text("made")

    kit.broker.doing = run
    kit.runner.send("two", "steer")
    await kit.runner.idle()
    assert (folder / "a.py").read_text() == "new"
    return kit, folder


async def test_conversation_and_files_go_back_and_forth(tmp_path: Path) -> None:
    kit, folder = await worked(tmp_path)
    before = texts(kit)
    await kit.runner.rewind(Rewind(kit.runner.session.id, seq_of(kit, "two"), conversation=True, files=True))
    assert (folder / "a.py").read_text() == "old" and not (folder / "b.py").exists()
    left = texts(kit)
    assert "first answer" in left and "two" not in left and "second answer" not in left
    went = kit.events[-1]
    assert went.type == "rewound" and set(went.files) == {"a.py", "b.py"}
    assert undoable(kit.events) == went.seq
    await kit.runner.rewind(Rewind(kit.runner.session.id, undoes=went.seq))
    assert (folder / "a.py").read_text() == "new" and (folder / "b.py").read_text() == "made"
    assert texts(kit) == before
    assert undoable(kit.events) == 0
    await kit.runner.close()


async def test_only_the_files_go_back_and_the_model_is_told(tmp_path: Path) -> None:
    kit, folder = await worked(tmp_path)
    await kit.runner.rewind(Rewind(kit.runner.session.id, seq_of(kit, "two"), conversation=False, files=True))
    assert (folder / "a.py").read_text() == "old"
    left = texts(kit)
    assert "second answer" in left
    assert "put 2 files back" in left[-1] and "- a.py" in left[-1]
    await kit.runner.close()


async def test_only_the_conversation_goes_back_and_the_work_goes_on_from_there(tmp_path: Path) -> None:
    kit, folder = await worked(tmp_path)
    await kit.runner.rewind(Rewind(kit.runner.session.id, seq_of(kit, "two")))
    assert (folder / "a.py").read_text() == "new"
    kit.runner.send("another way", "steer")
    await kit.runner.idle()
    sent = [part.text for m in kit.model.requests[-1].messages for part in m.parts if hasattr(part, "text")]
    assert "another way" in sent and "two" not in sent and "second answer" not in sent
    assert texts(kit)[-1] == "third"
    seqs = [point.seq for point in points(kit.events)]
    assert seq_of(kit, "another way") in seqs and seq_of(kit, "two") not in seqs
    last = next(e for e in kit.events if e.type == "rewound")
    await kit.runner.rewind(Rewind(kit.runner.session.id, undoes=last.seq))
    assert kit.events[-1].type == "notice" and "gone on since" in kit.events[-1].text
    await kit.runner.close()


async def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    kit, _ = await worked(tmp_path)
    for command, words in (
        (Rewind(kit.runner.session.id, 99_999), "no such place"),
        (Rewind(kit.runner.session.id, undoes=1), "only the newest"),
    ):
        await kit.runner.rewind(command)
        last = kit.events[-1]
        assert last.type == "notice" and words in last.text
    await kit.runner.close()


async def test_files_are_kept_once_a_turn_and_only_when_they_differ(tmp_path: Path) -> None:
    turns = [[shell("c2", "a"), shell("c3", "b")], [shell("c4", "c")], [text("ok")]]
    kit = make_kit(tmp_path, turns)
    kit.runner.send("go", "steer")
    await kit.runner.idle()
    kept = [e for e in kit.events if e.type == "files_kept"]
    assert [e.turn for e in kept] == [1]
    first = next(e for e in kit.events if e.type == "tool_started")
    assert kept[0].seq < first.seq
    await kit.runner.close()


def _events(kinds: Sequence[str]) -> list[ev.Event]:
    """A log in which ``back`` goes to before some earlier message, and ``undo`` takes that back."""
    made: list[ev.Event] = [ev.SessionStarted(cwd="/w", model="m/m", app_version="0"),
                            ev.PromptRendered(identity="i", catalogue="", tools=(), digest="d")]  # fmt: skip
    for number, kind in enumerate(kinds):
        said = [place for place, e in enumerate(made, 1) if e.type == "user_message"]
        last = next((place for place, e in reversed(list(enumerate(made, 1))) if e.type == "rewound"), 0)
        if kind == "back" and said:
            made.append(ev.Rewound(to=said[number % len(said)]))
        elif kind == "undo" and last and not made[last - 1].undoes and last == len(made):  # type: ignore[union-attr]
            made.append(ev.Rewound(to=0, undoes=last))
        elif kind == "answer":
            made.append(ev.AssistantMessage(turn=number, model="m/m", blocks=(ev.TextBlock(text=f"a{number}"),)))
        else:
            made.append(ev.UserMessage(text=f"u{number}"))
    return [event.model_copy(update={"session": "s", "seq": place}) for place, event in enumerate(made, 1)]


logs = st.lists(st.sampled_from(["say", "answer", "back", "undo"]), max_size=14).map(_events)


@settings(max_examples=150, deadline=None)
@given(logs)
def test_carrying_on_is_building_anew_whatever_was_gone_back_behind(log: list[ev.Event]) -> None:
    builder, state = Builder(), TaskState(session="s")
    for end in range(2, len(log) + 1):
        request = builder.request(log, state, end)
        assert request == build(log[:end], state)
        assert build(talk(log[:end]), state) == request
    if log[-1].type == "rewound" and log[-1].undoes:
        undone = log[-1].undoes
        assert build(log, state) == build([e for e in log if e.seq < undone], state)


async def test_the_model_hears_which_files_others_changed_between_two_runs(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[shell("c9", "make")], [text("one")], [text("two")], [text("three")]])
    folder = tmp_path / "work"
    (folder / "a.py").write_text("old")
    kit.broker.doing = lambda: (folder / "made.py").write_text("by the agent")
    kit.runner.send("begin", "steer")
    await kit.runner.idle()
    assert kit.runner._rewinder._resting is not None
    await kit.runner._rewinder._resting
    (folder / "a.py").write_text("by a person")
    (folder / "b.py").write_text("by a person")
    kit.runner.send("and now", "steer")
    await kit.runner.idle()
    told = [e.text for e in kit.events if e.type == "runtime_update" and e.kind == "files"]
    assert len(told) == 1
    assert "- a.py: changed" in told[0] and "- b.py: created" in told[0] and "made.py" not in told[0]
    assert any(told[0] in said for said in texts(kit))
    kit.runner.send("again", "steer")
    await kit.runner.idle()
    assert len([e for e in kit.events if e.type == "runtime_update" and e.kind == "files"]) == 1
    await kit.runner.close()
