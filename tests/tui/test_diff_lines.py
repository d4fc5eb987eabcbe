"""Diffs as lines."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.diff import diff_lines, diff_stat, folded, parse, stat_text
from tui.signs import ASCII
from tui.transcript.look import Look
from tui.transcript.neutral import neutral

OLD = [f"line {n}" for n in range(60)]
NEW = [*OLD[:5], "changed", *OLD[6:20], "-- looks like a header", "++ this too", *OLD[20:40], *OLD[41:]]


def unified(old: list[str], new: list[str], context: int = 3, name: str = "x.py") -> str:
    return "\n".join(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="", n=context)) + "\n"


def texts(diff: str, width: int = 80, look: Look | None = None) -> list[str]:
    return ["".join(segment.text for segment in line).rstrip() for line in diff_lines(diff, width, look or Look())[0]]


def test_counts_are_of_lines_not_of_signs() -> None:
    assert diff_stat(unified(OLD, NEW)) == (3, 2)
    assert stat_text(unified(OLD, NEW)) == "+3 −2"
    assert diff_stat("") == (0, 0) and stat_text("") == ""


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "-- c", "++ d", "@@ e", ""]), max_size=20), st.data(), st.integers(0, 5))
def test_every_change_is_there_with_its_number(old: list[str], data: st.DataObject, context: int) -> None:
    new = data.draw(st.lists(st.sampled_from(["a", "b", "-- c", "++ d", "@@ e", ""]), max_size=20))
    rows = parse(unified(old, new, context))
    for row in rows:
        if row.kind in ("del", "same"):
            assert old[row.old - 1] == row.text
        if row.kind in ("add", "same"):
            assert new[row.new - 1] == row.text
    matcher = difflib.SequenceMatcher(None, old, new).get_opcodes()
    removed = sum(i2 - i1 for tag, i1, i2, _, _ in matcher if tag in ("delete", "replace"))
    assert sum(row.kind == "del" for row in rows) == removed


def test_a_diff_keeps_its_signs_and_folds_its_context() -> None:
    lines = texts(unified(OLD, NEW, context=30))
    assert "    6 + changed" in lines and " 6    − line 5" in lines
    assert "   21 + -- looks like a header" in lines
    assert " ⋯ 8 unchanged lines" in lines
    assert sum("line " in line for line in lines) < 30


def test_from_116_cells_the_sides_stand_beside_each_other() -> None:
    (row,) = [line for line in texts(unified(OLD, NEW), 116) if "changed" in line and "unchanged" not in line]
    left, right = row.split("│")
    assert left.split() == ["6", "−", "line", "5"] and right.split() == ["6", "+", "changed"]


@pytest.mark.parametrize("width", [1, 8, 20, 80, 140, 200])
def test_lines_fit_whatever_the_width(width: int) -> None:
    old, new = ["你好世界" * 30, "x" * 500], ["👩\u200d👩\u200d👧 family" * 30, "y\t" * 100]
    lines, _ = diff_lines(unified(old, new), width, Look())
    narrowest = 10
    assert all(cell_len("".join(s.text for s in line)) <= max(width, narrowest) for line in lines)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=60), st.data(), st.integers(0, 20))
def test_folding_hides_nothing_that_changed_and_counts_what_it_hides(
    old: list[str], data: st.DataObject, context: int
) -> None:
    new = data.draw(st.permutations(old)) if data.draw(st.booleans()) else [*old[:20], "new", *old[20:]]
    diff = unified(old, new, context)
    short, whole = parse(diff), parse(diff, True)
    changed = [row for row in whole if row.kind in ("add", "del")]
    assert [row for row in short if row.kind in ("add", "del")] == changed
    same = [row for row in whole if row.kind == "same"]
    assert folded(diff) == len(same) - sum(row.kind == "same" for row in short) >= 0
    hidden = sum(row.old for row in short if row.kind == "gap") - sum(row.old for row in whole if row.kind == "gap")
    assert hidden == folded(diff)
    gaps = [row.kind for row in short]
    assert ("gap", "gap") not in zip(gaps, gaps[1:], strict=False)


def test_context_is_kept_towards_the_change_alone() -> None:
    lines = texts(unified([f"line {n}" for n in range(60)], [f"line {n}" for n in range(60) if n != 30], 12))
    assert lines[0].strip() == "⋯ 27 unchanged lines"
    assert [line.split()[-1] for line in lines[1:8]] == ["27", "28", "29", "30", "31", "32", "33"]
    assert lines[8].strip() == "⋯ 9 unchanged lines or more", "the file goes on after what the diff has of it"


def test_what_is_no_diff_is_shown_as_it_is() -> None:
    assert texts("Binary files a/x and b/x differ\n") == ["Binary files a/x and b/x differ"]
    assert texts("[/] [bold\n") == ["[/] [bold"]


def test_several_files_are_named() -> None:
    lines = texts(unified(["a"], ["b"], name="one.py") + unified(["a"], ["b"], name="two.py"))
    assert [line for line in lines if line.endswith(".py")] == ["one.py", "two.py"]


def test_controls_and_direction_marks_show() -> None:
    lines = texts(unified(["a"], ["\x1b[2Jif x\u202e {\x0e"]))
    assert all(neutral(line) == line for line in lines)
    assert any("if x<U+202E> {" in line for line in lines)


def test_a_long_diff_is_bounded() -> None:
    lines, hidden = diff_lines(unified([], [f"line {n}" for n in range(5_000)]), 80, Look(), limit=100)
    assert len(lines) <= 100 and hidden >= 4_900


def test_code_is_coloured_by_the_name_of_the_file() -> None:
    lines, _ = diff_lines(unified(["x = 1"], ["def f(): pass"]), 80, Look())
    (keyword,) = [segment for line in lines for segment in line if segment.text == "def"]
    assert keyword.style and keyword.style.color == Look().roles.agent.color


def test_plain_signs() -> None:
    lines = texts(unified(["a"], ["b"]), 150, Look(signs=ASCII))
    assert all(line.isascii() for line in lines)
