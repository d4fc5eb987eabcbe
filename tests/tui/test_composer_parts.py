"""The composer's pure parts: graphemes, chips, bursts, history, completion."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events
from textual.message import Message

from tui.widgets.composer_burst import GAP, SOON, Burst
from tui.widgets.composer_complete import Wanted, command_of, matching, nearest, wanted
from tui.widgets.composer_graphemes import after, before, grapheme_at
from tui.widgets.composer_history import History
from tui.widgets.composer_pastes import Pastes, tidy
from tui.widgets.composer_terminal import PasteParser, teach_textual

FAMILY, FLAG, ACCENT = "👩‍👩‍👧", "🇩🇪", "e\u0301"


@pytest.mark.parametrize("cluster", [FAMILY, FLAG, ACCENT, "👍🏽", "好", "م", "x"])
def test_a_step_is_one_grapheme(cluster: str) -> None:
    line = f"a好{cluster}b"
    start, end = 2, 2 + len(cluster)
    assert grapheme_at(line, start) == (start, end)
    assert before(line, end) == start
    assert after(line, start) == end
    for inside in range(start, end):
        assert grapheme_at(line, inside) == (start, end)


def test_two_flags_are_two_steps() -> None:
    assert before(FLAG + "🇫🇷", 4) == 2


@settings(max_examples=60, deadline=None)
@given(st.text(st.sampled_from([*"ab 好，", "\u0301", "\u200d", "👩", "👧", "🇩", "🇪", "\ufe0f", "م"]), max_size=40))
def test_steps_lead_through_any_line_both_ways_over_the_same_places(line: str) -> None:
    forth, back = [0], [len(line)]
    while forth[-1] < len(line):
        forth.append(after(line, forth[-1]))
    while back[-1] > 0:
        back.append(before(line, back[-1]))
    assert forth == back[::-1]


def test_a_chip_says_how_much_it_stands_for_and_gives_it_back() -> None:
    pastes = Pastes()
    text = "line of text\n" * 1024
    chip = pastes.chip(text)
    assert chip.replace("\u00a0", " ") == "[pasted 1,024 lines, 13.3 kB]"
    assert pastes.expand(f"see {chip} and {chip}") == f"see {text} and {text}"
    assert pastes.fold(f"see {text}") == f"see {chip}"
    assert pastes.spans(f"a {chip} b") == [(2, 2 + len(chip))]


def test_different_pastes_of_one_size_keep_apart() -> None:
    pastes = Pastes()
    one, two = "a" * 3000, "b" * 3000
    first, second = pastes.chip(one), pastes.chip(two)
    assert first != second
    assert pastes.chip(one) == first
    assert pastes.expand(second + first) == two + one


def test_words_that_look_like_a_chip_are_words() -> None:
    pastes = Pastes()
    pastes.chip("x" * 3000)
    typed = "[pasted 3,000 characters, 3.0 kB]"
    assert pastes.expand(typed) == typed


@pytest.mark.parametrize("text", ["x" * 2001, "\n" * 20, "a\x1b[31mb", "a\u202eb", "\x00"])
def test_long_or_dangerous_pastes_become_chips(text: str) -> None:
    assert Pastes().wants(text)


@pytest.mark.parametrize("text", ["x" * 2000, "a\nb\tc", FAMILY, "你好，世界", "مرحبا", ACCENT])
def test_short_and_plain_pastes_stay_text(text: str) -> None:
    assert not Pastes().wants(text)


def test_line_ends_become_newlines() -> None:
    assert tidy("a\r\nb\rc\n") == "a\nb\nc\n"


def burst_of(text: str, gap: float = GAP / 10) -> tuple[Burst, list[str]]:
    burst = Burst()
    at = 50.0
    typed = []
    for char in text:
        at += gap
        if not burst.key(char, at):
            typed.append(char)
    return burst, typed


def test_typing_goes_in_key_by_key() -> None:
    burst, typed = burst_of("hello\nworld\n", gap=GAP * 3)
    assert "".join(typed) == "hello\nworld\n"
    assert not burst.holds


def test_a_line_end_within_a_burst_sends_nothing() -> None:
    burst, typed = burst_of("rm -rf\nls\n")
    assert "".join(typed) == "rm -rf"
    assert burst.take() == ("\nls\n", False)


def test_a_line_sent_in_one_write_is_sent() -> None:
    burst, typed = burst_of("fix the test\n")
    assert "".join(typed) == "fix the test"
    assert burst.take() == ("", True)


def test_a_long_burst_is_kept_back_and_knows_what_went_before() -> None:
    burst, typed = burst_of("x" * 2000)
    assert len(typed) == burst.lead
    assert SOON <= burst.lead < 2 * SOON
    assert burst.take() == ("x" * (2000 - len(typed)), False)


def test_what_follows_a_paste_at_once_never_sends() -> None:
    burst = Burst()
    burst.paste(10.0)
    assert burst.key("r", 10.001)
    assert burst.key("\n", 10.002)
    assert burst.take() == ("r\n", False)


def test_history_is_walked_and_the_draft_waits() -> None:
    history = History(["one", "two"])
    assert history.older("draft") == "two"
    assert history.older("two") == "one"
    assert history.older("one") is None
    assert history.newer() == "two"
    assert history.newer() == "draft"
    assert history.newer() is None
    history.add("three")
    assert history.older("") == "three"


def test_what_is_completed() -> None:
    assert wanted("/mo", 3, True) == Wanted("command", 0, "mo")
    assert wanted("/mo", 3, False) is None
    assert wanted("/model x", 8, True) is None
    assert wanted("see @src/a", 10, True) == Wanted("file", 4, "src/a")
    assert wanted("me@home", 7, True) is None
    assert wanted("see @a b", 8, True) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/help", ("help", "")),
        ("/model  a/b c ", ("model", "a/b c")),
        ("// no", None),
        ("/usr/bin/env is gone", None),
        ("/help\nme", None),
        ("help", None),
    ],
)
def test_what_is_a_command(text: str, said: tuple[str, str] | None) -> None:
    assert command_of(text) == said


def test_commands_are_found_by_their_letters() -> None:
    commands = [("model", ""), ("compact", ""), ("theme", "")]
    assert [name for name, _ in matching("", commands)] == ["model", "compact", "theme"]
    assert [name for name, _ in matching("m", commands)] == ["model", "compact", "theme"]
    assert [name for name, _ in matching("cp", commands)] == ["compact"]
    assert nearest("modle", commands) == "model"
    assert nearest("zzz", commands) == ""


@pytest.mark.parametrize("sent", ["\x1b\r", "\x1b[13;3u"])
def test_alt_enter_is_known_however_a_terminal_sends_it(sent: str) -> None:
    teach_textual()
    assert [event.key for event in PasteParser().feed(sent)] == ["alt+enter"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", [1, 3, 4096])
def test_a_paste_is_taken_whole_however_it_is_read(size: int) -> None:
    text = "a\x1b[31mb\x1b[20\r\x1b[1"
    parser = PasteParser()
    seen: list[Message] = list(parser.feed("x\x1b[200~"))
    data = f"{text}\x1b[201~y\x1b[A"
    for at in range(0, len(data), size):
        seen += parser.feed(data[at : at + size])
    said = [event.text if isinstance(event, events.Paste) else getattr(event, "key", "") for event in seen]
    assert said == ["x", text, "y", "up"]


def test_importing_it_loads_no_syntax_parser_and_leaves_it_importable() -> None:
    code = (
        "import sys, tui.widgets.composer; print('tree_sitter' in sys.modules); import tree_sitter; print(tree_sitter)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("False\n<module"), done.stdout + done.stderr
