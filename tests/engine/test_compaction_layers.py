"""The layers below the summary: what was superseded goes, what mattered stays, all at once and never twice."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import compaction
from engine import events as ev
from engine.compaction.digest import digest_of
from engine.compaction.superseded import superseded
from engine.compaction.visible import stand_ins
from tests.engine.compaction_kit import Log, call, result

LARGE = "line\n" * 800
SOURCE = (
    "import os\n\n\n"
    "class Cart:\n    def total(self, tax: int = 0) -> int:\n        return tax\n\n\n"
    "def load():\n    pass\n"
)


def did(log: Log, id: str, name: str, answer: dict[str, Any] | None = None, **given: Any) -> Log:
    """One turn with one call and its result."""
    log.turn(len(log.events), call(id, name, **given))
    return log.add(result(id, name=name, **{"text": LARGE, **(answer or {})}))


def then_talk(log: Log, turns: int = 4) -> Log:
    for n in range(turns):
        log.turn(1000 + n, text="thinking aloud")
    return log


def read(log: Log, id: str, path: str, first: int = 1, last: int = 800, **answer: Any) -> Log:
    rows = ({"path": path, "first": first, "last": last},)
    return did(log, id, "fs_read", {"items": rows, "files_read": (path,), **answer}, path=path)


# --- superseded ------------------------------------------------------------------------------------------------------


def test_what_a_later_call_says_better_is_superseded_and_the_line_says_why() -> None:
    log = Log(ev.UserMessage(text="go"))
    read(log, "r1", "a.py")
    read(log, "r2", "a.py")
    read(log, "w1", "b.py")
    did(log, "edit", "fs_edit", {"files_written": ("b.py",)}, path="b.py")
    did(log, "l1", "fs_list", path="src")
    did(log, "l2", "fs_list", path="src", depth=2)
    did(log, "t1", "todo_write", items=[])
    did(log, "t2", "todo_write", items=[])
    did(log, "m1", "shell_run", command="make", timeout=5)
    did(log, "m2", "shell_run", {"status": "error", "exit_code": 2}, command="make")
    found = superseded(log.events)
    assert list(found) == ["r1", "w1", "l1", "t1", "m1"]
    assert found["r1"] == "[fs_read a.py: left out, because the same was read again later.]"
    assert "changed after it was read" in found["w1"] and "make" in found["m1"]


@pytest.mark.parametrize(
    ("name", "old", "new", "answer"),
    [
        ("fs_read", {"path": "a.py"}, {"path": "b.py"}, {}),
        ("fs_list", {"path": "src", "depth": 3}, {"path": "src", "depth": 1}, {}),
        ("fs_list", {"path": "src", "all": True}, {"path": "src"}, {}),
        ("shell_run", {"command": "make a"}, {"command": "make b"}, {}),
        ("shell_run", {"command": "x", "background": True}, {"command": "x", "background": True}, {}),
        ("shell_run", {"handle": "1"}, {"handle": "1"}, {}),
        ("shell_run", {"command": "make"}, {"command": "make"}, {"status": "denied"}),
        ("shell_run", {"command": "make"}, {"command": "make"}, {"status": "error"}),
        ("user_ask", {"question": "q"}, {"question": "q"}, {}),
    ],
)
def test_what_says_something_else_is_not_superseded(
    name: str, old: dict[str, Any], new: dict[str, Any], answer: dict[str, Any]
) -> None:
    log = did(Log(ev.UserMessage(text="go")), "old", name, **old)
    assert superseded(did(log, "new", name, answer, **new).events) == {}


def test_a_failure_is_never_dropped_nor_what_is_short_nor_a_part_that_was_not_read_again() -> None:
    log = Log(ev.UserMessage(text="go"))
    did(log, "failed", "shell_run", {"status": "error", "exit_code": 1}, command="make")
    did(log, "short", "shell_run", {"text": "ok"}, command="ls")
    read(log, "lines", "a.py", 1, 100)
    did(log, "m2", "shell_run", command="make")
    did(log, "s2", "shell_run", command="ls")
    read(log, "others", "a.py", 50, 150)
    assert superseded(log.events) == {}


SPANS = st.lists(st.tuples(st.integers(1, 12), st.integers(0, 6)), min_size=1, max_size=14)


@settings(max_examples=200, deadline=None)
@given(SPANS, st.sets(st.integers(0, 13), max_size=2))
def test_a_read_is_superseded_exactly_when_a_later_one_holds_its_lines_or_the_file_changed(
    spans: list[tuple[int, int]], changes: set[int]
) -> None:
    log = Log(ev.UserMessage(text="go"))
    for n, (first, more) in enumerate(spans):
        read(log, f"r{n}", "a.py", first, first + more)
        if n in changes:
            did(log, f"w{n}", "fs_edit", {"files_written": ("a.py",)}, path="a.py")
    expected = []
    for n, (first, more) in enumerate(spans):
        later = spans[n + 1 :]
        covered = any(one <= first and first + more <= one + longer for one, longer in later)
        if covered or any(n <= change < len(spans) for change in changes):
            expected.append(f"r{n}")
    assert list(superseded(log.events)) == expected


def test_finding_them_takes_a_look_each_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: the same command is put into words twice for each result, not once for each pair."""
    from engine.compaction import superseded as module

    counted = 0
    real = module._repeatable

    def counting(one: ev.ToolCall) -> str | None:
        nonlocal counted
        counted += 1
        return real(one)

    monkeypatch.setattr(module, "_repeatable", counting)
    log = Log(ev.UserMessage(text="go"))
    for n in range(200):
        did(log, f"c{n}", "shell_run", command=f"make {n}")
    assert superseded(log.events) == {} and counted == 400


# --- digest ----------------------------------------------------------------------------------------------------------


def test_a_digest_of_a_command_says_what_failed_once() -> None:
    failed = "FAILED tests/test_a.py::test_x - assert 1 == 2"
    output = "." * 3000 + f"\nE   ValueError: no\n{failed}\n=== 1 failed, 8 passed in 2.1s ===\n"
    made = digest_of(result("c", output, "shell_run", exit_code=1, summary="exit code 1"), "Back: here.")
    assert "exit code 1" in made and "Back: here." in made and f"{len(output):,} characters" in made
    for line in (failed, "E   ValueError: no", "1 failed, 8 passed in 2.1s"):
        assert made.count(line) == 1, line
    assert len(made) < 700


def test_a_digest_of_a_file_has_its_symbols_with_the_lines_they_are_on() -> None:
    numbered = "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(SOURCE.split("\n"), 41))
    made = digest_of(result("c", numbered, items=({"path": "shop/cart.py", "first": 41},)), "")
    assert "    44\tclass Cart" in made and "    45\t    def total(self, tax: int = 0) -> int" in made
    assert "    49\tdef load()" in made


def test_a_digest_of_a_search_counts_by_file_and_of_other_things_there_is_none() -> None:
    rows = tuple({"path": "a.py" if n % 3 else "b.py", "line": n} for n in range(9))
    made = digest_of(result("c", LARGE, "fs_search", items=rows), "")
    assert "3 in b.py" in made and "6 in a.py" in made
    assert digest_of(result("c", LARGE, "user_ask"), "") == ""
    assert digest_of(result("c", LARGE, items=({"path": "notes.txt"},)), "") == ""


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=400), st.sampled_from(["shell_run", "fs_read", "fs_search"]))
def test_a_digest_is_made_of_any_text_and_the_same_each_time(text: str, name: str) -> None:
    one = result("c", text, name, items=({"path": "a.py", "line": 1},), exit_code=0)
    assert digest_of(one, "") == digest_of(one, "")


# --- all of them, in one go ------------------------------------------------------------------------------------------


def mixed() -> Log:
    log = Log(ev.UserMessage(text="go"))
    read(log, "again1", "a.py")
    read(log, "again2", "a.py")
    did(log, "failed", "shell_run", {"status": "error", "exit_code": 1, "text": LARGE}, command="make")
    did(log, "pointer", "fs_list", path="elsewhere")
    did(log, "skill", "fs_read", {"items": ({"path": "skill:x/SKILL.md"},)}, path="skill:x/SKILL.md")
    did(log, "web", "fs_read", {"external": ev.External(source="web", url="https://a.example/x")}, path="x")
    did(log, "todo", "todo_write", items=[])
    return then_talk(log)


def test_each_layer_takes_what_is_its_own_in_one_go_and_never_again() -> None:
    stored: list[bytes] = []

    def keep(data: bytes) -> str:
        stored.append(data)
        return "d1gest"

    log = mixed()
    layers = compaction.choose_layers(log.events, keep=keep)
    assert {layer.kind: list(layer.texts) for layer in layers} == {
        "offload": ["again2", "pointer"],
        "drop": ["again1"],
        "digest": ["failed"],
    }
    assert stored == [LARGE.encode()], "the output of a command could not be had again"
    digest = next(layer for layer in layers if layer.kind == "digest")
    assert "artifact:d1gest, offset 1, limit 801" in digest.texts["failed"]
    for n, layer in enumerate(layers):
        log.add(compacted(layer, n + 1))
    before = stand_ins(log.events)
    assert compaction.choose_layers(log.events, keep=keep) == ()
    assert stand_ins(log.events) == before and superseded(log.events) == {}


def compacted(layer: compaction.Layer, number: int) -> ev.Compacted:
    if layer.kind == "offload":
        return ev.Compacted(number=number, kind="offload", reason="", offloaded=tuple(layer.texts))
    return ev.Compacted(number=number, kind=layer.kind, reason="", texts=layer.texts, artifact=layer.artifact)


@pytest.mark.parametrize("keep", [None, lambda data: ""], ids=["no store", "a full disk"])
def test_what_could_not_be_had_again_stays_when_it_cannot_be_kept(keep: Any) -> None:
    layers = compaction.choose_layers(mixed().events, keep=keep)
    assert "failed" not in {call for layer in layers for call in layer.texts}


def test_nothing_goes_for_less_than_it_is_worth_and_no_more_than_enough() -> None:
    log = mixed()
    assert compaction.choose_layers(log.events, gain=1_000_000) == ()
    first = compaction.choose_layers(log.events, enough=1)
    assert [list(layer.texts) for layer in first] == [["again1"]], "the oldest alone"
    assert compaction.choose_layers(log.events, recent=30) == ()
