"""A session that lets go of its past sends, decides and knows the same as one that holds all of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine import compaction, limits, planning
from engine import events as ev
from engine.compaction import handoff, superseded
from engine.compaction.plan import fixed, floor, keep_from
from engine.prompt import layers, runtime
from engine.prompt.build import build
from engine.remembering import AHEAD, Reading, Remembered
from engine.state import TaskState, fold
from engine.tools.registry import specs

AROUND = runtime.Surroundings("2026-01-01", "/w", "Linux", "bubblewrap")
WINDOW = 3_000
ANSWERS = 6
TOOLS = ("fs_read", "shell_run", "todo_write")


class Life:
    """A session as it is lived: ``whole`` is the log, ``held`` lets go of what a summary cut off."""

    def __init__(self) -> None:
        self.whole: list[ev.Event] = []
        self.held = Remembered()
        self.compacted = 0
        self.add(
            ev.SessionStarted(cwd="/w", model="m", app_version="1"),
            layers.render(specs()[:1], ""),
            ev.UserMessage(text="Go"),
        )

    def add(self, *events: ev.Event) -> None:
        for event in events:
            stored = event.model_copy(update={"seq": len(self.whole) + 1, "session": "s"})
            self.whole.append(stored)
            self.held.add(stored)
            if self.held.lacks:
                self.held.restore(self.whole)

    @property
    def state(self) -> TaskState:
        return fold(self.whole)

    def summarise(self) -> None:
        plan = compaction.plan_summary(self.held.talk, WINDOW, known=self.held.known)
        if plan is not None:
            self.compacted += 1
            made = dict(number=self.compacted, kind="summary", reason="t", keep_from=plan.keep_from)
            self.add(ev.Compacted.model_validate({**made, "summary": "so far", "ledger": plan.ledger_text}))
            self.held.let_go(ANSWERS)


@st.composite
def lives(draw: st.DrawFn) -> Life:
    """Turns with calls, todo lists, runtime updates; summaries, some taken back; a person who goes back and returns."""
    life = Life()
    for turn in range(1, draw(st.integers(3, 30)) + 1):
        for update in draw(st.lists(st.sampled_from(["environment", "todo", planning.KIND, "skill x"]), max_size=1)):
            life.add(ev.RuntimeUpdate(kind=update, text=draw(st.sampled_from(["a", "b", "c"]))))
        life.add(ev.TurnStarted(turn=turn, model="m"), *_turn(draw, turn))
        event = draw(st.sampled_from(["", "", "", "", "todo", "person", "files", "memory", "note", "steer", "run"]))
        life.add(*_between(event, turn))
        happens = draw(st.integers(0, 9))
        if happens in (0, 1, 2):
            life.summarise()
        elif happens == 3 and life.compacted:
            life.held.restore(life.whole)
            for made in compaction_undo(life):
                life.add(made)
            life.held.let_go(ANSWERS)
        elif happens == 4:
            places = [e.seq for e in life.whole if e.type in ("user_message", "turn_started")]
            life.add(ev.Rewound(to=draw(st.sampled_from(places)), conversation=True))
            if draw(st.booleans()):
                back = life.whole[-1]
                if draw(st.booleans()):
                    life.summarise()
                life.add(ev.Rewound(to=back.to, conversation=True, undoes=back.seq))  # type: ignore[union-attr]
    return life


def compaction_undo(life: Life) -> list[ev.Event]:
    from engine.compaction import undo
    from engine.rewound import talk

    return [ev.CompactionUndone(number=one.number) for one in reversed(undo.newest(talk(life.whole)))]


def _turn(draw: st.DrawFn, turn: int) -> list[ev.Event]:
    names = draw(st.lists(st.sampled_from(TOOLS), max_size=2))
    number = draw(st.sampled_from([0, turn]))
    calls = tuple(
        ev.ToolCall(id=f"c{turn}-{n}", name=name, input={"path": f"f{number}.py", "command": f"make {number}"})
        for n, name in enumerate(names)
    )
    words = ev.TextBlock(text=f"Turn {turn}. " * draw(st.integers(1, 60)))
    found: list[ev.Event] = [
        ev.AssistantMessage(turn=turn, model="m", blocks=(words, *calls), aborted=not calls and draw(st.booleans()))
    ]
    for call in calls:
        status = draw(st.sampled_from(["ok", "ok", "error", "denied"]))
        found.append(
            ev.ToolResult(
                call_id=call.id,
                turn=turn,
                name=call.name,
                status=status,
                text="out\n" * draw(st.integers(0, 300)),
                files_read=(f"f{number}.py",),
                exit_code=0 if call.name == "shell_run" else None,
            )
        )
    return found


def _between(event: str, turn: int) -> list[ev.Event]:
    items = (ev.TodoItem(text=f"step {turn}"),)
    made: dict[str, ev.Event] = {
        "todo": ev.TodoChanged(text=f"- [ ] step {turn}", items=items, by="model"),
        "person": ev.TodoChanged(text=f"- [ ] step {turn}, says a person", items=items, by="person"),
        "files": ev.FilesKept(snapshot=f"s{turn}", turn=turn),
        "memory": ev.MemoryChanged(action="saved", scope="user", text=f"tea {turn}", by="person"),
        "note": ev.Notice(level="info", text=f"note {turn}"),
        "steer": ev.UserMessage(kind="steer", text=f"And {turn}.", id=f"m{turn}"),
        "run": ev.RunStarted(),
    }
    return [made[event]] if event else []


def _newest(type: str) -> Callable[[Sequence[ev.Event]], object]:
    return lambda events: next((e for e in reversed(events) if e.type == type), None)


ASKED: dict[str, Callable[[Sequence[ev.Event], TaskState], Any]] = {
    "request": lambda talk, state: build(talk, state).messages,
    "runtime": lambda talk, state: runtime.updates(state, AROUND, talk),
    "plan mode": lambda talk, state: planning.updates(state, talk),
    "repeated": lambda talk, state: limits.repeated(talk, ANSWERS),
    "cut": lambda talk, state: keep_from(talk, 200),
    "layers": lambda talk, state: compaction.choose_layers(talk, 1, 2, None, lambda data: "d"),
    "superseded": lambda talk, state: superseded.superseded(talk),
    "fixed": lambda talk, state: (fixed(talk), floor(talk)),
    "recurring": lambda talk, state: handoff.recurring(talk, WINDOW),
    "worked": lambda talk, state: handoff._has_worked(talk),
    "last files": lambda talk, state: _newest("files_kept")(talk),
    "last todo": lambda talk, state: _newest("todo_changed")(talk),
    "said": lambda talk, state: [e.text for e in talk if e.type == "user_message"],
}


@given(lives())
@settings(max_examples=150, deadline=None)
def test_nothing_is_asked_that_what_is_held_does_not_answer(life: Life) -> None:
    whole, state = Remembered(life.whole), life.state
    for what, ask in ASKED.items():
        assert ask(life.held.talk, state) == ask(whole.talk, state), what
    held, known = life.held.talk, life.held.known
    assert compaction.plan_summary(held, WINDOW, known=known) == compaction.plan_summary(whole.talk, WINDOW)
    assert handoff.handoff_ledger(held, WINDOW, known=known) == handoff.handoff_ledger(whole.talk, WINDOW)


@given(lives(), st.integers(1, 40))
@settings(max_examples=100, deadline=None)
def test_what_is_read_again_in_parts_is_what_was_held(life: Life, size: int) -> None:
    reading = Reading(e for e in life.whole if e.type in AHEAD)
    for at in range(0, len(life.whole), size):
        reading.take(life.whole[at : at + size])
    read, lived = reading.done(), Remembered(life.whole)
    lived.let_go()
    assert read.events == lived.events
    assert read.known.upto == lived.known.upto
    assert read.known.and_of(read.talk) == lived.known.and_of(lived.talk)


def test_what_is_held_stays_the_same_however_long_the_session() -> None:
    held = []
    life = Life()
    for turn in range(1, 400):
        call = ev.ToolCall(id=f"c{turn}", name="shell_run", input={"command": "make"})
        life.add(
            ev.TurnStarted(turn=turn, model="m"),
            ev.AssistantMessage(turn=turn, model="m", blocks=(ev.TextBlock(text="word " * 50), call)),
            ev.ToolResult(call_id=call.id, turn=turn, name="shell_run", status="ok", text="out\n" * 50, exit_code=0),
        )
        if turn % 10 == 0:
            life.summarise()
            held.append(len(life.held.events))
    assert len(life.whole) > 1_200
    assert max(held) == max(held[:10]) < 120
