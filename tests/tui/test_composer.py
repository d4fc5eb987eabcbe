"""The composer as a person uses it: keys and pastes go in, messages come out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from rich.cells import cell_len

from tests.tui.dialog_kit import MARKUP, Desk, Hands
from tui.widgets.composer_editor import Editor

FAMILY, ACCENT = "👩‍👩‍👧", "e\u0301"


@dataclass
class Seat(Hands):
    @property
    def editor(self) -> Editor:
        return self.app.query_one(Editor)

    async def said(self) -> Any:
        await self.until(lambda: self.app.said, "something was said")
        return self.app.said[-1]


@asynccontextmanager
async def seat(size: tuple[int, int] = (80, 24), **how: Any) -> AsyncIterator[Seat]:
    app = Desk(**how)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield Seat(app, pilot)


async def test_enter_sends_and_alt_enter_queues() -> None:
    async with seat() as s:
        await s.type("fix it")
        await s.press("enter")
        assert await s.said() == ("steer", "fix it")
        assert s.app.composer.text == ""
        await s.type("then test")
        await s.press("alt+enter")
        await s.until(lambda: len(s.app.said) == 2, "the follow-up")
        assert s.app.said[1] == ("follow_up", "then test")


async def test_nothing_is_not_sent() -> None:
    async with seat() as s:
        await s.type("  ")
        await s.press("shift+enter", "enter", "alt+enter")
        await s.pilot.pause()
        assert not s.app.said


async def test_new_lines_make_it_grow_to_eight_rows() -> None:
    async with seat() as s:
        heights = []
        for key in ("shift+enter", "ctrl+j") * 6:
            await s.press("x", key)
            await s.pilot.pause()
            heights.append(s.editor.size.height)
        assert heights[:3] == [2, 3, 4]
        assert heights[-1] == 8
        await s.press("enter")
        assert (await s.said())[1] == "\n".join("x" * 12)


async def test_it_says_what_enter_does_now() -> None:
    async with seat() as s:
        assert "say what should be done" in s.app.screen_text()
        s.app.composer.running = True
        await s.pilot.pause()
        assert "type to steer; Alt+Enter queues" in s.app.screen_text()


@pytest.mark.parametrize(
    ("text", "left"),
    [("你好，世界", "你好，世"), (f"a{FAMILY}", "a"), (f"caf{ACCENT}", "caf"), ("مرحبا", "مرحب"), ("a🇩🇪", "a")],
)
@pytest.mark.parametrize("how", ["type", "paste"])
async def test_backspace_removes_one_grapheme_and_the_cursor_is_behind_the_last(how: str, text: str, left: str) -> None:
    async with seat() as s:
        await (s.type(text) if how == "type" else s.paste(text))
        assert s.app.composer.text == text
        origin = s.editor.content_region.x
        assert s.app.cursor_position == (origin + cell_len(text), s.editor.content_region.y)
        assert text in s.app.screen_text()
        await s.press("backspace")
        assert s.app.composer.text == left
        assert s.app.cursor_position.x == origin + cell_len(left)


async def test_left_right_and_delete_step_over_graphemes() -> None:
    async with seat() as s:
        await s.paste(f"a{FAMILY}b")
        await s.press("left", "left")
        assert s.editor.cursor_location == (0, 1)
        assert FAMILY in s.app.screen_text()
        await s.press("right", "left", "delete")
        assert s.app.composer.text == "ab"


async def test_a_large_paste_is_a_chip_and_goes_out_in_full() -> None:
    async with seat() as s:
        text = "".join(f"line {n} {MARKUP}\n" for n in range(1000))
        await s.type("see ")
        await s.paste(text)
        await s.type(" please")
        assert "see [pasted 1,000 lines, " in s.app.screen_text().replace("\u00a0", " ")
        assert s.editor.document.line_count == 1
        await s.press("enter")
        assert await s.said() == ("steer", f"see {text} please")


async def test_a_megabyte_in_brackets() -> None:
    async with seat() as s:
        text = ("0123456789abcde\n" * 65536)[: 1 << 20]
        await s.write(f"\x1b[200~{text}\x1b[201~")
        await s.press("enter")
        assert (await s.said())[1] == text.rstrip()


async def test_a_coloured_log_in_brackets_is_text_and_sends_nothing() -> None:
    async with seat() as s:
        log = "ab\x1b[31mred\x1b[0m\rx\x1b"
        await s.write(f"\x1b[200~{log}\x1b[201~")
        await s.pilot.pause()
        assert not s.app.said
        assert s.app.composer.text == log.replace("\r", "\n")


async def test_many_keys_in_one_write_are_one_paste_and_lines_in_it_send_nothing() -> None:
    async with seat() as s:
        text = "\r".join(f"rm file-{n}" for n in range(200)) + "\r"
        assert len(text) > 2000
        await s.write(text)
        await s.until(lambda: s.app.composer.text.endswith("file-199\n"), "all of it has come")
        assert not s.app.said
        assert s.app.composer.text == text.replace("\r", "\n")
        assert s.editor.document.line_count == 1
        await s.press("enter")
        assert (await s.said())[1] == text.replace("\r", "\n").rstrip()


async def test_two_thousand_characters_without_a_line_end() -> None:
    async with seat() as s:
        await s.write("word " * 500)
        await s.until(lambda: s.app.composer.text == "word " * 500, "all of it has come")
        assert "pasted" in s.app.screen_text()


async def test_a_line_and_its_enter_in_one_write_are_sent() -> None:
    async with seat() as s:
        await s.write("fix the test\r")
        assert await s.said() == ("steer", "fix the test")


async def test_an_end_mark_inside_a_paste_sends_nothing() -> None:
    async with seat() as s:
        await s.write("\x1b[200~harmless\x1b[201~rm -rf ~\r\x1b[201~")
        await s.until(lambda: "rm -rf ~" in s.app.composer.text, "all of it has come")
        assert not s.app.said
        assert s.app.composer.text.startswith("harmless")


async def test_a_chip_is_one_thing_to_the_cursor_and_to_backspace() -> None:
    async with seat() as s:
        await s.paste("x" * 5000)
        await s.type("!")
        await s.press("left", "left")
        assert s.editor.cursor_location == (0, 0)
        await s.press("right", "backspace")
        assert s.app.composer.text == "!"
        await s.press("ctrl+z")
        assert s.app.composer.text == "x" * 5000 + "!"


async def test_two_pastes_with_words_around_them() -> None:
    async with seat() as s:
        one, two = "a\n" * 50, "b\n" * 50
        await s.paste(one)
        await s.type(" and ")
        await s.paste(two)
        await s.press("home")
        await s.type("take ")
        assert s.app.composer.text == f"take {one} and {two}"


async def test_controls_are_never_drawn_and_are_cleaned_for_the_engine() -> None:
    async with seat() as s:
        await s.paste("a\x1b[2Jb\x00\x9b\udc80")
        shown = s.app.screen_text()
        assert "\x1b" not in shown and "\x9b" not in shown
        assert "control character" in shown.replace("\u00a0", " ")
        await s.press("enter")
        assert (await s.said())[1] == "a\x1b[2Jb␀\x9b\ufffd"


async def test_up_and_down_walk_what_was_sent_and_keep_the_draft() -> None:
    async with seat(history=["first", "second\nline"]) as s:
        await s.type("draft")
        await s.press("up")
        assert s.app.composer.text == "second\nline"
        await s.press("up", "up")
        assert s.app.composer.text == "first"
        await s.press("up")
        assert s.app.composer.text == "first"
        await s.press("down")
        assert s.app.composer.text == "second\nline"
        await s.press("down")
        assert s.app.composer.text == "draft"


async def test_up_inside_a_draft_moves_the_cursor() -> None:
    async with seat(history=["old"]) as s:
        await s.paste("one\ntwo")
        await s.press("up")
        assert s.app.composer.text == "one\ntwo"
        assert s.editor.cursor_location[0] == 0


async def test_alt_up_asks_for_the_message_back_and_the_draft_is_not_lost() -> None:
    async with seat() as s:
        await s.type("half a thought")
        await s.press("alt+up")
        assert await s.said() == "take back"
        s.app.composer.set_text("taken back")
        await s.pilot.pause()
        assert s.app.composer.text == "taken back"
        await s.press("up")
        assert s.app.composer.text == "half a thought"


async def test_a_long_message_taken_back_is_a_chip_again() -> None:
    async with seat() as s:
        text = "x" * 5000
        await s.paste(text)
        await s.type(" end")
        await s.press("enter")
        sent = (await s.said())[1]
        s.app.composer.set_text(f"{sent}\nmore")
        await s.pilot.pause()
        assert s.app.composer.text == f"{text} end\nmore"
        assert s.editor.document.line_count == 2
        assert len(s.editor.text) < 100


async def test_ctrl_c_copies_a_selection_and_else_clears_the_draft() -> None:
    async with seat() as s:
        await s.paste("y" * 3000)
        await s.press("shift+left", "ctrl+c")
        assert s.app.clipboard == "y" * 3000
        assert s.app.composer.text
        await s.press("end", "ctrl+c")
        assert s.app.composer.text == ""
        assert s.app.is_running
        await s.press("up")
        assert s.app.composer.text == "y" * 3000


async def test_files_are_completed_after_an_at_sign() -> None:
    async with seat(files=["src/[bold]a.py", "src/", "tests/t.py"]) as s:
        await s.type("see @s")
        await s.until(lambda: "src/[bold]a.py" in s.app.screen_text(), "the files")
        assert s.app.asked == ["s"]
        await s.press("down", "tab")
        assert s.app.composer.text == "see @src/"
        await s.until(lambda: "src/[bold]a.py" in s.app.screen_text(), "what is in the folder")
        await s.press("enter")
        assert s.app.composer.text == "see @src/[bold]a.py "
        assert not s.app.said
        await s.press("enter")
        assert (await s.said())[1] == "see @src/[bold]a.py"


async def test_escape_closes_only_the_list() -> None:
    async with seat() as s:
        await s.type("/mo")
        await s.until(lambda: "Change the model" in s.app.screen_text(), "the list")
        await s.press("escape")
        assert "Change the model" not in s.app.screen_text()
        assert s.app.composer.text == "/mo"
        await s.type("d")
        assert "Change the model" not in s.app.screen_text()


async def test_files_that_cannot_be_looked_up_are_said() -> None:
    async with seat() as s:
        s.app.trouble = f"no index {MARKUP}"
        await s.type("@x")
        await s.until(lambda: "could not be looked up: no index [/" in s.app.screen_text(), "the words")
        await s.press("enter")
        assert await s.said() == ("steer", "@x")


async def test_a_command_is_run_from_the_list_or_with_its_argument() -> None:
    async with seat() as s:
        await s.type("/he")
        await s.until(lambda: "Keys and commands" in s.app.screen_text(), "the list")
        await s.press("enter")
        assert await s.said() == ("/help", "")
        await s.type("/mod")
        await s.until(lambda: "Change the model" in s.app.screen_text(), "the list")
        await s.press("tab")
        assert s.app.composer.text == "/model "
        await s.type("a/b")
        await s.press("enter")
        await s.until(lambda: s.app.said[-1] == ("/model", "a/b"), "the command with its argument")


async def test_an_unknown_command_is_said_and_kept() -> None:
    async with seat() as s:
        await s.type("/modle x")
        await s.press("enter")
        await s.until(lambda: "There is no /modle. Did you mean /model?" in s.app.screen_text(), "the words")
        assert not s.app.said
        assert s.app.composer.text == "/modle x"


@pytest.mark.parametrize("text", ["// a comment", "/usr/bin/env is gone", MARKUP])
async def test_text_that_only_looks_like_something_else_is_sent_as_it_is(text: str) -> None:
    async with seat() as s:
        await s.type(text)
        await s.until(lambda: text in s.app.screen_text(), "the text as it was typed")
        await s.press("enter")
        assert await s.said() == ("steer", text)


@pytest.mark.parametrize("size", [(20, 5), (60, 20), (200, 60)])
async def test_it_fits_any_terminal(size: tuple[int, int]) -> None:
    async with seat(size, files=[f"file-{n}.py" for n in range(30)]) as s:
        await s.type("@f")
        await s.until(lambda: "file-0.py" in s.app.screen_text(), "the files")
        await s.press("up")
        await s.until(lambda: "file-29.py" in s.app.screen_text(), "the last of them")
        await s.pilot.resize_terminal(20, 5)
        await s.pilot.pause()
        assert s.app.composer.text == "@f"
