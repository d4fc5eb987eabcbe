"""What is shown of a command is what runs: every character of it, and a word about those that deceive."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from time import monotonic

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual.geometry import Size

from tests.tui.dialog_kit import MARKUP, Clock, request
from tui.dialogs import approval_view as view
from tui.dialogs.exact import Ink, concerns, exact_lines, exact_spans, is_odd, sign_for
from tui.dialogs.grace import PAUSE, READ, Grace
from tui.dialogs.place import placed
from tui.signs import ASCII
from tui.transcript.look import Look

INK = Ink(marked=Style(underline=True))


def plain(lines: list[list[object]]) -> list[str]:
    return ["".join(segment.text for segment in line) for line in lines]  # type: ignore[attr-defined]


@settings(max_examples=80, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=60), st.integers(1, 30))
def test_nothing_of_a_line_is_left_out_and_no_row_is_too_wide(text: str, width: int) -> None:
    rows = plain(exact_lines(text, width, INK, Style()))
    assert "".join(rows) == "".join(sign_for(char) if is_odd(char) else char for char in text)
    assert all(cell_len(row) <= max(2, width) for row in rows)


def test_lines_are_numbered_so_that_a_long_one_is_not_taken_for_two() -> None:
    assert plain(exact_lines("a b c d\nrm x", 8, INK, Style())) == ["1  a b c", "    d", "2  rm x"]


def test_the_dangerous_part_is_marked_across_lines() -> None:
    rows = exact_lines("git push\norigin", 40, INK, Style(), [(4, 12)])
    marked = [segment.text for row in rows for segment in row if segment.style and segment.style.underline]
    assert marked == ["push", "ori"]


def test_spots_that_overlap_or_reach_outside_change_no_text() -> None:
    spans = exact_spans("abcdef", INK, [(-3, 2), (1, 4), (3, 99)])
    assert "".join(text for text, _ in spans) == "abcdef"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("cat a\u202eb", "direction of text (U+202E)"),
        ("a\x1b[2J", "1 control character (U+001B)"),
        ("a\tb\rc", "2 control characters"),
        ("rm\u200b x", "cannot be seen (U+200B)"),
        ("ls \u3164", "cannot be seen (U+3164)"),
        ("curl раypal.example", "раypal (р is U+0440, Cyrillic small letter er)"),
        ("сору x", "сору (с is U+0441"),
        ("rm −rf", "− is U+2212, not -"),
        ("ls ； rm", "； is U+FF1B, not ;"),
    ],
)
def test_what_deceives_is_named(text: str, word: str) -> None:
    assert any(word in concern for concern in concerns(text)), concerns(text)


@pytest.mark.parametrize("text", ["git log\nls", "echo 你好，世界", "echo привет мир", "echo καλημέρα", "echo é 👍"])
def test_honest_text_is_not_suspected(text: str) -> None:
    assert not [concern for concern in concerns(text) if "look like" not in concern or "alphabet" in concern]


def test_a_terminal_without_pictures_gets_numbers() -> None:
    assert sign_for("\x1b", ascii=True) == "<U+001B>"
    assert "".join(text for text, _ in exact_spans("a\x1bb", Ink(ascii=True))) == "a<U+001B>b"


@pytest.mark.parametrize(
    "line",
    ["echo x >> f\n" * 80_000, "x" * 1_000_000, "好" * 300_000, "\x1b" * 100_000],
    ids=["lines", "line", "wide", "controls"],
)
def test_a_huge_command_is_laid_out_whole(line: str) -> None:
    began = monotonic()
    rows = exact_lines(line, 70, INK, Style(), [(0, 4)])
    shown = sum(len(segment.text) for row in rows for segment in row)
    assert shown >= len(line.replace("\n", ""))
    assert monotonic() - began < 20


def test_keys_count_after_it_could_be_read_and_typing_has_paused() -> None:
    clock = Clock()
    grace = Grace(clock, typed_at=clock.now - 0.1)
    assert grace.left == pytest.approx(PAUSE - 0.1)
    clock.now += READ
    assert not grace.counts()
    clock.now += PAUSE - 0.1
    assert not grace.counts()
    clock.now += PAUSE
    assert grace.counts()
    grace.shown()
    assert not grace.typing
    assert not grace.counts()


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
@pytest.mark.parametrize("height", [5, 12, 20, 24, 60])
def test_all_that_is_shown_fits(width: int, height: int) -> None:
    for what, facts, keys, sub in [(1, 5, 1, 0), (3000, 9, 1, 0), (2, 40, 1, 0), (4, 6, 0, 8)]:
        place = placed(Size(width, height), what, facts, keys, sub)
        used = 1 + keys + sub + 1 + place.what + place.facts + (2 if place.framed else 0) + (3 if place.airy else 0)
        overflow = (what if place.facts else what + facts) > place.what
        if height >= 8 + sub:
            assert used + (overflow and place.more) <= height
        assert place.width <= width


def test_every_fact_is_said_and_markup_is_text() -> None:
    look = Look()
    asked = request(effects=(MARKUP,), reasons=(f"why {MARKUP}",), env_names=(MARKUP,), policy=MARKUP, subject="раypal")
    said = "\n".join(plain(view.facts(asked, 200, look)))  # type: ignore[arg-type]
    for word in ("careful", "would", "risk", "runs", "env", "where", f"why {MARKUP}", "3f9a…3f9a", "cannot hold"):
        assert word in said
    assert view.head(request(tool=MARKUP, cwd=MARKUP), 200, look).plain.startswith(f"{MARKUP}  in {MARKUP}")


def test_the_keys_say_only_what_can_be_done() -> None:
    look = Look()
    said = "\n".join(line.plain for line in view.keys(request(rule="", kind="write"), 100, look))
    assert "a no rule fits" in said
    assert "e edit" not in said
    narrow = view.keys(request(), 20, Look(signs=ASCII))
    assert [line.plain for line in narrow] == ["y s a n d e"]


def test_the_countdown_counts_from_when_it_was_asked() -> None:
    at = datetime(2030, 1, 1, tzinfo=UTC)
    asked = request(at=at, expires_in=300.0)
    assert view.time_left(asked, at + timedelta(seconds=8)) == 292
    assert view.time_left(asked, at + timedelta(hours=2)) == 0
    assert view.time_left(asked, at - timedelta(hours=2)) == 300
    assert view.time_left(request(expires_in=60.0)) == 60
    assert view.countdown(292, 60, Look()).plain.startswith("no answer in 4:52 means deny")
