"""The guided demo, as a person sees it who has nothing but the command: by itself, and by hand."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tests.e2e.desk import Desk
from tests.e2e.terminal import MOUSE_AND_SCREEN

STEER = "Also accept a space between the thousands"


def mended(desk: Desk) -> str:
    (found,) = (desk.home.data / "demo").glob("*/ledger/amounts.py")
    return found.read_text()


def test_it_plays_by_itself_to_the_end_and_leaves(tmp_path: Path) -> None:
    desk = Desk(tmp_path, settled=False)
    with desk.open("demo", "--auto", "--pause", "0") as term:
        assert term.exit_code(60) == 0
        assert term.modes & MOUSE_AND_SCREEN == set()
    assert "SEPARATORS" in mended(desk), "the steering message was heeded"
    assert {e.choice for e in desk.of("approval_decided")} == {"once", "deny"}
    assert [e.reason for e in desk.of("run_finished")] in (["finished"], ["denied"])
    assert [item.status for item in desk.of("todo_changed")[-1].items] == ["done"] * 4 + ["pending"]


def test_it_is_played_by_hand(tmp_path: Path) -> None:
    desk = Desk(tmp_path, settled=False)
    with desk.open("demo") as term:
        for number in range(1, 9):
            term.wait_for(partial(_asks_or_is_done, desk, number))
            if desk.of("run_finished"):
                break
            subject = desk.of("approval_requested")[-1].subject
            if subject.startswith("ledger/") and number == 2:
                term.wait_for(f"steer: {STEER}")
            desk.answer(term, "n" if "git push" in subject else "y", number)
        term.wait_for("What is left.")
        term.keys("ctrl+q")
        assert term.exit_code() == 0
    assert "SEPARATORS" in mended(desk)
    assert desk.of("approval_decided")[-1].choice == "deny"


def _asks_or_is_done(desk: Desk, number: int) -> bool:
    return desk.has("approval_requested", number) or desk.has("run_finished", 1)
