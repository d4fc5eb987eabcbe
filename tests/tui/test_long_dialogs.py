"""Questions, approvals and plans of megabytes: opening one and every key lay out a part, never the whole, and all of it
can be read, forward and back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style
from textual.screen import ModalScreen

from engine import events as ev
from tests.tui.dialog_kit import Clock, Desk, Hands, approval, request
from tui import diff
from tui.dialogs import approval_parts, exact, parts
from tui.dialogs.approval import ApprovalDialog
from tui.dialogs.approval_parts import approval_parts as parts_of
from tui.dialogs.approval_view import what
from tui.dialogs.exact import Ink, exact_lines
from tui.dialogs.plan import PlanDialog
from tui.dialogs.question import QuestionDialog
from tui.transcript.look import Look
from tui.transcript.markdown import MarkdownLines

SIZE = 5_000_000
LINES = "".join(f"line {n:06} of a long text, wörds and 你好\n" for n in range(SIZE // 40)) + "its last words"
ONE_LINE = "first " + "x" * SIZE + " its last words"
ROWS = "".join(f"+added {n:06} of a long file\n" for n in range(SIZE // 30)) + "+its last words\n"
DIFF = f"--- a/x.txt\n+++ b/x.txt\n@@ -0,0 +1,{SIZE // 30 + 1} @@\n{ROWS}"
WIDE_ROW = f"--- a/x.txt\n+++ b/x.txt\n@@ -0,0 +1,2 @@\n+first {'x' * SIZE}\n+its last words\n"
BOUND = 3_000
"""Lines that may be laid out at once: a part of short lines and what stands around it."""


class Work:
    """Lines laid out, and characters of Markdown read, since `since` was asked last."""

    def __init__(self) -> None:
        self.lines = 0
        self.characters = 0

    def since(self) -> tuple[int, int]:
        done, self.lines, self.characters = (self.lines, self.characters), 0, 0
        return done


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    counted = Work()

    def counting(real: Any) -> Any:
        def lay(*args: Any, **how: Any) -> Any:
            made = real(*args, **how)
            counted.lines += len(made)
            return made

        return lay

    monkeypatch.setattr(exact, "cut_spans", counting(exact.cut_spans))
    monkeypatch.setattr(diff, "wrap_spans", counting(diff.wrap_spans))
    update = MarkdownLines.update

    def read(self: MarkdownLines, text: str) -> Any:
        counted.characters += len(text)
        return update(self, text)

    monkeypatch.setattr(MarkdownLines, "update", read)
    yield counted


def question(text: str, options: tuple[str, ...] = ("main", "y" * SIZE)) -> QuestionDialog:
    asked = ev.QuestionAsked(id="q", call_id="c", question=text, options=options)
    return QuestionDialog(asked, clock=Clock())


def command(text: str) -> ApprovalDialog:
    return approval(Clock(), subject=text, spots=((0, 4), (len(text) - 5, len(text))))


def edit(text: str) -> ApprovalDialog:
    return approval(Clock(), kind="write", subject="x.txt", spots=(), diff=text)


def plan(text: str) -> PlanDialog:
    return PlanDialog(ev.PlanProposed(id="p", text=text), clock=Clock())


CASES = {
    "question": lambda: question(LINES), "question on one line": lambda: question(ONE_LINE),
    "command": lambda: command(LINES), "command on one line": lambda: command(ONE_LINE),
    "diff": lambda: edit(DIFF), "a line of a diff": lambda: edit(WIDE_ROW),
    "plan": lambda: plan(LINES), "plan on one line": lambda: plan(ONE_LINE),
}  # fmt: skip


@asynccontextmanager
async def shown(dialog: ModalScreen[Any], size: tuple[int, int] = (100, 30)) -> AsyncIterator[Hands]:
    app = Desk()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        app.show(dialog)
        here = Hands(app=app, pilot=pilot)
        await here.until(lambda: app.screen is dialog and dialog.is_mounted, "the dialog")
        await pilot.pause()
        dialog.grace._clock.rest()  # type: ignore[attr-defined]
        yield here


@pytest.mark.parametrize("name", list(CASES))
async def test_opening_and_every_key_lay_out_a_part(name: str, work: Work) -> None:
    dialog: Any = CASES[name]()
    on, back = ("pagedown", "pageup") if name.startswith("question") else ("v", "b")
    async with shown(dialog) as here:
        await here.sees("part 1 of")
        lines, characters = work.since()
        assert 0 < lines + characters <= BOUND + parts.MOST
        seen = ""
        for key in ("end", back, on, "home", on, "pageup", "pagedown", "up", "down"):
            await here.press(key)
            await here.pilot.pause()
            lines, characters = work.since()
            assert lines <= BOUND and characters <= parts.MOST, key
            assert dialog.pages.virtual_size.height <= BOUND
            seen += here.app.screen_text()
        assert "last words" in seen, "the end of all of it"


@pytest.mark.parametrize("name", ["command", "diff", "plan"])
async def test_what_was_read_is_read_again_going_back(name: str) -> None:
    dialog: Any = CASES[name]()
    async with shown(dialog) as here:
        await here.sees("part 1 of")
        there = []
        while "part 2 of" not in here.app.screen_text():
            there.append(here.app.screen_text())
            await here.press("v")
            await here.pilot.pause()
        await here.sees("v reads on, b back")
        back = []
        while dialog.pages.hidden[0] or not dialog.pages.parts.first:
            await here.press("b")
            await here.pilot.pause()
            back.append(here.app.screen_text())
        assert back[-1].splitlines()[3:8] == there[0].splitlines()[3:8], "from where it began"
        await here.press("b")
        await here.sees("its last words")


async def test_a_key_that_is_typed_lays_out_nothing_again(work: Work) -> None:
    dialog = question(LINES, ())
    async with shown(dialog) as here:
        await here.sees("part 1 of")
        await here.type("And ")
        work.since()
        await here.type("an answer")
        assert work.since() == (0, 0)
        await here.press("pagedown")
        await here.pilot.pause()
        assert dialog.pages.hidden[0], "read on while one answers"
        await here.press("enter")
        await here.until(lambda: here.app.answers, "an answer")
        assert here.app.answers == ["And an answer"]


async def test_a_long_option_is_cut_with_a_word_and_answered_whole() -> None:
    async with shown(question("Which?", ("main", "y" * SIZE)), (100, 60)) as here:
        await here.sees(f"(and {SIZE - parts.SHOWN:,} more characters)")
        await here.press("2")
        await here.until(lambda: here.app.answers, "an answer")
        assert here.app.answers == ["y" * SIZE]


# --- parts of an approval ---------------------------------------------------------------------------------------------


def plain(lines: Any) -> list[str]:
    return ["".join(segment.text for segment in line) for line in lines]


def marked(lines: Any) -> str:
    return "".join(s.text for line in lines for s in line if s.style and s.style.underline)


@given(st.text(alphabet="ab \n你", max_size=120), st.integers(3, 20), st.integers(0, 120), st.integers(0, 30))
def test_a_command_in_parts_has_the_lines_numbers_and_marks_of_the_whole(
    text: str, most: int, at: int, length: int
) -> None:
    spots, ink = ((at, at + length),), Ink(marked=Style(underline=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(approval_parts, "parts", lambda text: parts.parts(text, most))
        made = parts_of(request(subject=text, spots=spots))
    pieces = [exact_lines(part.subject or "", 200, ink, Style(), spots, part.within) for part in made]
    whole = exact_lines(text, 200, ink, Style(), spots)
    assert "".join(marked(lines) for lines in pieces) == marked(whole)
    lines: list[str] = []
    gutter = len(str(text.count("\n") + 1)) + 2 if "\n" in text else 0
    for part, piece in zip(made, pieces, strict=True):
        first, *rest = plain(piece)
        lines += [lines.pop() + first[gutter:] if part.within.begun else first, *rest]
    assert lines == plain(whole)


def test_what_is_short_is_one_part() -> None:
    small = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
    (part,) = parts_of(request(kind="write", subject="x.py", spots=(), diff=small))
    assert part.subject == "x.py"
    assert any("b" in line for line in plain(what(request(diff=small), part, 60, Look())))


def test_every_part_of_a_diff_names_its_file_and_none_is_long() -> None:
    second = DIFF.replace("x.txt", "y.txt")
    asked = request(kind="write", subject="x.txt", spots=(), diff=DIFF + second)
    made = parts_of(asked)
    added = [row.text for part in made for row in part.rows if row.kind == "add"]
    assert added == [line[1:] for line in ROWS.splitlines()] * 2
    assert all(part.rows[0].kind == "file" for part in made if part.rows)
    assert {part.rows[0].text for part in made} == {"x.txt", "y.txt"}
    assert all(len(part.rows) <= approval_parts.ROWS + 1 for part in made)
