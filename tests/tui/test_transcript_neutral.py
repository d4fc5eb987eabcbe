"""No text from outside can change a terminal's state or hide what it says."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.style import Style

from tui.transcript.neutral import coloured_lines, first_lines, neutral, plain_lines
from tui.transcript.wrap import wrap_spans

ALLOWED = re.compile("[\t\n]|[^\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
SEQUENCE_PARTS = st.sampled_from(
    ["\x1b", "\x1b[", "\x1b]0;", "\x07", "\x1b\\", "\x9b", "\x9c", "\x9d", "\x90", "31m", "?1049h", "2J", "a"]
) | st.sampled_from(["\x0e", "\x0f", "(0", "\t", "\0", "\x7f", "\u202e", "\u2066", "\ud800", "m", ";", "é", "38;5;9m"])
LINE_ENDS = st.sampled_from(["\r", "\n", "\r\n", "\u2028", "\x85"])
HOSTILE = st.lists(SEQUENCE_PARTS | LINE_ENDS | st.text(max_size=3), max_size=40).map("".join)


def harmless(text: str) -> bool:
    return all(ALLOWED.fullmatch(character) for character in text)


@settings(max_examples=120, deadline=None)
@given(HOSTILE)
def test_nothing_a_terminal_acts_on_is_left(text: str) -> None:
    assert harmless(neutral(text))
    assert harmless("".join(plain_lines(text)))


@settings(max_examples=120, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_read_as_text_are_harmless(data: bytes) -> None:
    for encoding in ("utf-8", "latin-1"):
        text = data.decode(encoding, "surrogateescape")
        assert harmless(neutral(text))
        strips = wrap_spans([(text, Style())], 20)
        assert harmless("".join(segment.text for line in strips for segment in line))
        neutral(text).encode()


@settings(max_examples=150, deadline=None)
@given(st.lists(HOSTILE, max_size=6))
def test_colours_are_all_that_passes_a_coloured_line(lines: list[str]) -> None:
    decode = coloured_lines()
    for line in lines:
        for text, style in decode(line.replace("\n", "")):
            assert harmless(text) and "\n" not in text
            assert not (style.bgcolor or style.conceal or style.blink or style.reverse or style.link)


@settings(max_examples=120, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp"))))
def test_plain_text_is_untouched(text: str) -> None:
    assert neutral(text) is text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[?1049h\x1b[?1000h\x1b[?1003h\x1b]0;x\x07\x1b[2Jtext", "text"),
        ("a\x0eb\x1b(0c", "a\u240ebc"),
        ("\x1b]0;never ended\nnext", "\u241b]0;never ended\nnext"),
        ("10%\r20%\r\ndone", "10%\n20%\ndone"),
        ("if x\u202e {", "if x<U+202E> {"),
        ("a\0b", "a\u2400b"),
        ("\x9b31mred", "red"),
    ],
)
def test_sequences_go_and_lone_controls_show(text: str, shown: str) -> None:
    assert neutral(text) == shown


def test_colours_carry_over_lines_and_backgrounds_do_not_come_through() -> None:
    decode = coloured_lines()
    (first,) = decode("\x1b[31;44mred")
    (second,) = decode("still red")
    (third,) = decode("\x1b[0mplain")
    assert first[1].color == second[1].color is not None
    assert first[1].bgcolor is None
    assert third == ("plain", Style())


def test_the_first_lines_of_much_text_are_found_without_the_rest() -> None:
    lines, hidden = first_lines("row\n" * 1_000_000, 10)
    assert (lines, hidden) == (["row"] * 10, 999_990)
    assert first_lines("", 5) == ([], 0)
    assert first_lines("a\r\nb\rc\n", 5) == (["a", "b", "c"], 0)
