"""What a person went back behind stays readable, and is marked as left: not by colour alone."""

from __future__ import annotations

from engine import events as ev
from engine.events import AnyEvent
from tests.tui.test_transcript_layout import reader, texts
from tests.tui.transcript_kit import call, result, said, stored
from tui.signs import ASCII, Signs
from tui.transcript.look import Look
from tui.transcript.reader import Reader

MARK = Signs().left


def talk(*more: ev.Stored) -> list[AnyEvent]:
    return stored(
        ev.UserMessage(text="first"),
        said("answer one", 1),
        ev.UserMessage(text="second"),
        said("answer two", 2, call("c2", command="ls")),
        result("c2", 2),
        *more,
    )


def marked(of: Reader) -> str:
    return "\n".join(line for line in texts(of) if line.startswith(MARK))


def test_what_was_left_is_marked_and_nothing_else() -> None:
    made = reader(talk(ev.Rewound(to=3), ev.UserMessage(text="third")), height=40)
    found = marked(made)
    assert all(word in found for word in ("second", "answer two", "shell_run"))
    assert not any(word in found for word in ("first", "answer one", "third", "went back"))


def test_taking_it_back_brings_all_back() -> None:
    made = reader(talk(ev.Rewound(to=3)), height=40)
    assert "second" in marked(made)
    made.feed(talk(ev.Rewound(to=3), ev.Rewound(to=3, undoes=6))[6:])
    made.frame()
    assert marked(made) == ""
    assert "second" in "\n".join(texts(made))


def test_going_back_with_the_files_alone_leaves_the_conversation() -> None:
    assert marked(reader(talk(ev.Rewound(to=3, conversation=False, files=("a.py",))), height=40)) == ""


def test_twice_back_and_one_taken_back() -> None:
    made = reader(talk(ev.Rewound(to=3), ev.UserMessage(text="third"), ev.Rewound(to=7)), height=40)
    assert "third" in marked(made)
    made.feed(talk(ev.Rewound(to=3), ev.UserMessage(text="third"), ev.Rewound(to=7), ev.Rewound(to=7, undoes=8))[8:])
    made.frame()
    assert "third" not in marked(made)
    assert "second" in marked(made)


def test_the_mark_is_plain_where_the_terminal_is() -> None:
    made = Reader(Look(signs=ASCII))
    made.resize(60, 40)
    made.feed(talk(ev.Rewound(to=3)))
    assert any(line.startswith(":") and "second" in line for line in texts(made))
