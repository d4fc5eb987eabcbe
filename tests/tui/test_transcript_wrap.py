"""Lines are as wide as they may be, in cells, and hold all of the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from tui.transcript.wrap import LINE_LIMIT, shorten, width_of, wrap_spans

FAMILY = "👩\u200d👩\u200d👧"
PIECES = st.sampled_from(
    ["word", " ", "  ", "你好", "，", "世界", FAMILY, "e\u0301", "שלום", "a" * 30, ".", "❤\ufe0f", "-"]
)
LINES = st.lists(PIECES, max_size=30).map("".join)


def texts(line: str, width: int, hard: bool = False) -> list[str]:
    return ["".join(segment.text for segment in piece) for piece in wrap_spans([(line, Style())], width, hard)]


@settings(max_examples=150, deadline=None)
@given(LINES, st.integers(2, 40))
def test_no_line_is_too_wide_and_no_character_is_lost(line: str, width: int) -> None:
    wrapped = texts(line, width)
    assert all(cell_len(piece) <= width for piece in wrapped)
    assert "".join(wrapped).replace(" ", "") == line.replace(" ", "")


@settings(max_examples=120, deadline=None)
@given(LINES, st.integers(2, 40))
def test_code_is_cut_at_the_width_and_kept_whole(line: str, width: int) -> None:
    wrapped = texts(line, width, hard=True)
    assert all(cell_len(piece) <= width for piece in wrapped)
    assert "".join(wrapped) == line


@settings(max_examples=120, deadline=None)
@given(LINES, st.integers(2, 12))
def test_a_grapheme_is_never_cut(line: str, width: int) -> None:
    for piece in texts(line, width):
        assert not piece.startswith(("\u200d", "\u0301", "\ufe0f"))
        assert not piece.endswith("\u200d")


def test_styles_stay_with_their_words() -> None:
    bold = Style(bold=True)
    lines = wrap_spans([("one ", Style()), ("two three", bold), (" four", Style())], 9)
    assert [[(part.text, part.style == bold) for part in line] for line in lines] == [
        [("one ", False), ("two", True)],
        [("three", True)],
        [("four", False)],
    ]


def test_chinese_breaks_anywhere_but_before_closing_punctuation() -> None:
    assert texts("你好，世界", 6) == ["你好，", "世界"]
    assert texts("你好吗，世界", 6) == ["你好", "吗，世", "界"]


def test_a_megabyte_in_one_line_is_capped_and_says_so() -> None:
    lines = texts("x" * 1_000_000, 100)
    assert len(lines) <= LINE_LIMIT // 100 + 2
    assert "990,000 more characters in this line" in lines[-1]


@pytest.mark.parametrize("keep_end", [False, True])
@settings(max_examples=100, deadline=None)
@given(line=LINES, width=st.integers(0, 20))
def test_shortened_text_fits(line: str, width: int, keep_end: bool) -> None:
    assert width_of(shorten(line, width, keep_end=keep_end)) <= max(width, 0)


def test_a_path_keeps_its_end() -> None:
    assert shorten("src/auth/session.py", 11, keep_end=True) == "…session.py"
    assert shorten("src/auth/session.py", 11) == "src/auth/s…"
