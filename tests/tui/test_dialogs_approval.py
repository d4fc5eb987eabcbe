"""The approval dialog as a person answers it: on purpose, and bound to what was shown."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from textual import events

from engine.commands import Decide
from engine.queries import RuleTrial
from tests.tui.dialog_kit import MARKUP, Clock, Desk, Hands, approval
from tui.dialogs.approval import ApprovalDialog
from tui.dialogs.entry import Entry
from tui.dialogs.grace import PAUSE, READ

DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,3 @@\n a = 1\n-b = 2\n+b = 3\n+c = [/\n"


@dataclass(kw_only=True)
class Room(Hands):
    clock: Clock
    dialog: ApprovalDialog

    async def decision(self) -> Decide:
        await self.until(lambda: self.app.answers, "a decision")
        answer = self.app.answers[-1]
        assert isinstance(answer, Decide)
        assert (answer.session, answer.id, answer.digest) == ("s1", "a1", "d-a1")
        return answer

    async def opens(self, key: str) -> Entry:
        """Press a key that opens a text to type into."""
        await self.press(key)
        await self.until(lambda: isinstance(self.dialog.focused, Entry), "a text to type into")
        found = self.dialog.focused
        assert isinstance(found, Entry)
        return found


@asynccontextmanager
async def room(
    size: tuple[int, int] = (80, 24), *, rested: bool = True, theme: str = "", **how: Any
) -> AsyncIterator[Room]:
    """A dialog on screen; ``rested``: it has been long enough for keys to count."""
    app, clock = Desk(theme=theme), Clock()
    async with app.run_test(size=size, notifications=True) as pilot:
        await pilot.pause()
        dialog = approval(clock, **how)
        app.show(dialog)
        here = Room(app=app, pilot=pilot, clock=clock, dialog=dialog)
        await here.until(lambda: app.screen is dialog and dialog.is_mounted, "the dialog")
        await pilot.pause()
        if rested:
            clock.rest()
        yield here


@pytest.mark.parametrize(
    ("key", "choice"),
    [("y", "once"), ("s", "session"), ("n", "deny")],
)
async def test_a_key_decides_what_was_shown(key: str, choice: str) -> None:
    async with room() as r:
        await r.press(key)
        assert (await r.decision()).choice == choice


async def test_all_that_matters_is_on_the_screen() -> None:
    async with room() as r:
        await r.sees("Approve?  1 of 2", "shell_run", "/src/shop", "git push origin main", "! medium risk")
        await r.sees("leaves this machine", "send commits to example.org:443", "/usr/bin/git  sha256 3f9a", "TOKEN")
        await r.sees("cannot hold all of it; policy workspace", "no answer in 5:00 means deny", "y once", "n deny")


async def test_a_sentence_being_typed_approves_nothing() -> None:
    async with room(rested=False) as r:
        for key in "yes, say no and deny everyone":
            await r.press("space" if key == " " else key)
            r.clock.now += 0.3
        await r.pilot.pause()
        assert not r.app.answers
        assert r.dialog.focused is None
        await r.sees("you were typing: keys count after a pause of 1 s")
        r.clock.now += PAUSE
        await r.press("y")
        assert (await r.decision()).choice == "once"


async def test_typing_just_before_it_came_counts_as_typing() -> None:
    async with room(rested=False, typed_at=99.9) as r:
        r.clock.now += READ + 0.1
        await r.press("y")
        await r.pilot.pause()
        assert not r.app.answers


async def test_a_key_too_soon_is_said() -> None:
    async with room(rested=False) as r:
        r.clock.now += 0.1
        await r.press("y")
        await r.sees("keys count")
        assert not r.app.answers


async def test_it_must_be_read_again_after_something_lay_over_it() -> None:
    async with room() as r:
        other = approval(r.clock, id="other")
        r.app.show(other)
        await r.until(lambda: r.app.screen is other and other.is_mounted, "the other one")
        r.app.screen.dismiss(None)
        await r.until(lambda: r.app.screen is r.dialog, "back again")
        await r.pilot.pause()
        await r.press("y")
        await r.pilot.pause()
        assert r.app.answers == [None]


@pytest.mark.parametrize("key", ["enter", "space", "x", "ctrl+j", "f5", "Y"])
async def test_no_other_key_decides(key: str) -> None:
    async with room() as r:
        await r.press(key)
        await r.pilot.pause()
        assert not r.app.answers
        assert r.app.screen is r.dialog


async def test_enter_says_that_it_does_not_approve() -> None:
    async with room() as r:
        await r.press("enter")
        await r.sees("Enter approves nothing; y does")


async def test_a_paste_decides_nothing() -> None:
    async with room() as r:
        await r.paste("y")
        await r.pilot.pause()
        assert not r.app.answers


async def test_escape_puts_it_aside_and_says_so() -> None:
    async with room() as r:
        await r.press("escape")
        await r.until(lambda: r.app.answers, "it is closed")
        assert r.app.answers == [None]
        await r.sees("still waits for you: Ctrl+G")


async def test_settled_elsewhere_it_goes_without_a_decision() -> None:
    async with room() as r:
        entry = await r.opens("d")
        entry.put("half a reason")
        r.dialog.dismiss(None)
        await r.until(lambda: r.app.answers == [None], "it is closed")


async def test_at_high_risk_the_session_needs_a_second_press() -> None:
    async with room(risk="high") as r:
        await r.press("s")
        await r.sees("press s again: allow shell git push * for this session")
        await r.press("s")
        await r.pilot.pause()
        assert not r.app.answers
        r.clock.rest()
        await r.press("s")
        assert (await r.decision()).choice == "session"


async def test_another_key_takes_the_first_press_back() -> None:
    async with room(risk="high") as r:
        await r.press("s")
        r.clock.rest()
        await r.press("x")
        await r.press("s")
        await r.pilot.pause()
        assert not r.app.answers


async def test_deny_with_a_reason() -> None:
    async with room() as r:
        await r.opens("d")
        for key in "not y":
            await r.press("space" if key == " " else key)
        await r.press("enter")
        answer = await r.decision()
        assert (answer.choice, answer.reason) == ("deny", "not y")


async def test_letters_typed_before_the_text_had_the_focus_go_into_it() -> None:
    async with room() as r:
        for key in ("d", "n", "o", "y"):
            r.app.post_message(events.Key(key, key))
        await r.until(lambda: isinstance(r.dialog.focused, Entry) and r.dialog.focused.text == "noy", "the letters")
        assert not r.app.answers


async def test_escape_in_a_text_leads_back_only() -> None:
    async with room() as r:
        await r.opens("d")
        await r.press("n", "escape")
        await r.until(lambda: r.dialog.focused is None, "back")
        assert not r.app.answers
        assert r.app.screen is r.dialog
        r.clock.rest()
        await r.press("n")
        assert (await r.decision()).reason == ""


async def test_edit_then_run() -> None:
    async with room() as r:
        entry = await r.opens("e")
        assert entry.text == "git push origin main"
        await r.press("f5")
        await r.sees("nothing was changed")
        await r.press("enter", "x", "f5")
        answer = await r.decision()
        assert (answer.choice, answer.command) == ("edit", "git push origin main\nx")


async def test_an_empty_edit_runs_nothing() -> None:
    async with room() as r:
        entry = await r.opens("e")
        entry.clear()
        await r.press("f5")
        await r.sees("an empty command runs nothing")
        assert not r.app.answers


async def test_what_is_edited_is_what_is_seen() -> None:
    async with room(subject="echo \x1b[2J") as r:
        entry = await r.opens("e")
        assert entry.text == "echo ␛[2J"
        await r.paste("\x1b[31m\r")
        await r.until(lambda: entry.text == "echo ␛[2J␛[31m\n", "the paste, made visible")


async def test_only_commands_can_be_edited() -> None:
    async with room(kind="write", subject="x.py", diff=DIFF) as r:
        await r.sees("shell_run", "+2 −1", "b = 3", "c = [/")
        await r.press("e")
        await r.sees("only a command can be edited")


async def test_a_rule_is_tried_before_it_is_stored() -> None:
    trials = {"allow shell git push * x": RuleTrial((f"git push {MARKUP}", "git push b"))}
    async with room(trials=trials) as r:
        entry = await r.opens("a")
        await r.sees("would also have allowed this:", "git push origin next")
        await r.press("space", "x")
        await r.sees("would also have allowed these 2:", f"git push {MARKUP}")
        assert entry.text == "allow shell git push * x"
        await r.press("enter")
        answer = await r.decision()
        assert (answer.choice, answer.rule) == ("rule", "allow shell git push * x")


async def test_a_rule_that_cannot_be_read_is_not_stored() -> None:
    trials = {"allow shell git push *!": RuleTrial((), "a rule [/ begins with allow")}
    async with room(trials=trials) as r:
        await r.opens("a")
        await r.press("!")
        await r.sees("a rule [/ begins with allow")
        await r.press("enter")
        await r.pilot.pause()
        assert not r.app.answers


async def test_enter_before_the_trial_stores_nothing() -> None:
    async with room() as r:
        await r.opens("a")
        for key in ("x", "enter"):
            r.app.post_message(events.Key(key, key if key == "x" else "\r"))
        await r.sees("would also have allowed")
        assert not r.app.answers


async def test_a_trial_that_fails_is_said_and_leaves_the_choice() -> None:
    async with room(trials={"allow shell git push *": OSError("disk [/")}) as r:
        await r.opens("a")
        await r.sees("could not be tried", "disk [/")
        await r.press("enter")
        assert (await r.decision()).choice == "rule"


async def test_a_high_risk_rule_says_what_it_means() -> None:
    async with room(risk="high") as r:
        await r.opens("a")
        await r.sees("! high risk: it will run unasked from now on")


async def test_without_a_rule_always_is_off() -> None:
    async with room(rule="") as r:
        await r.sees("a no rule fits")
        await r.press("a")
        await r.sees("no rule can cover this")
        assert r.dialog.focused is None


async def test_a_huge_command_scrolls_and_says_how_much_there_is() -> None:
    subject = "\n".join(f"echo {n} {MARKUP}" for n in range(5000))
    async with room(subject=subject) as r:
        await r.sees(f"echo 0 {MARKUP}", "more below", "leaves this machine")
        await r.press("v")
        await r.sees("above")
        await r.press("end")
        await r.sees(f"echo 4999 {MARKUP}")
        await r.press("tab")
        await r.sees(f"echo 0 {MARKUP}")
        assert not r.app.answers


async def test_the_countdown_runs_while_it_is_open() -> None:
    async with room(expires_in=65.0) as r:
        r.clock.now += 40
        await r.sees("no answer in 0:24 means deny")


@pytest.mark.parametrize("theme", ["lamplight", "daybook"])
@pytest.mark.parametrize("size", [(80, 24), (60, 20), (200, 60), (20, 5)])
async def test_it_fits_any_terminal(size: tuple[int, int], theme: str) -> None:
    async with room(size, theme=theme) as r:
        await r.sees("git push", "risk", "y")
        await r.opens("a")
        await r.press("escape")
        await r.until(lambda: r.dialog.focused is None, "back")
        r.clock.rest()
        await r.pilot.resize_terminal(20, 5)
        await r.pilot.resize_terminal(*size)
        await r.press("y")
        assert (await r.decision()).choice == "once"


async def test_markup_anywhere_is_text() -> None:
    fields = dict.fromkeys(("tool", "subject", "cwd", "policy", "rule", "executable"), MARKUP)
    async with room((140, 40), effects=(MARKUP,), reasons=(MARKUP,), env_names=(MARKUP,), **fields) as r:
        await r.sees(MARKUP)
        assert r.app.screen_text().count("[id=1,x=y]") >= 8
        await r.opens("a")
        assert r.app.screen is r.dialog


async def test_a_wide_diff_is_shown_side_by_side() -> None:
    async with room((200, 60), kind="write", subject="x.py", diff=DIFF) as r:
        await r.sees("b = 2")
        assert any("b = 2" in line and "b = 3" in line for line in r.app.screen_text().splitlines())
