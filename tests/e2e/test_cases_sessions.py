"""Stored sessions in trouble: a full disk, damaged rows, one huge row, odd times, two at once."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import events as ev
from tests.e2e.desk import Desk, shell, turn
from tests.e2e.terminal import Terminal
from tests.engine.log_kit import said, started, write

PAD = "pad"
UNSAVED = "Nothing is being saved"


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("only root of a machine that can mount may make a tiny disk")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(disk: Path) -> None:
    with (disk / PAD).open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            return


def test_a_full_disk_is_said_and_recovered_from(tiny_disk: Path, tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk", data=tiny_disk)
    said_so_far: list[str] = []
    model = desk.script(turn(text="word " * 20_000, label="more", to="more"), context_window=10_000_000)

    def talk(term: Terminal) -> None:
        said_so_far.append(f"Message {len(said_so_far)}.")
        term.say(said_so_far[-1])
        term.wait_for(f"turn {len(said_so_far)} · ✓ finished")

    def talk_until_the_disk_is_full(term: Terminal) -> None:
        # The database makes room for a while by tidying itself up; how long differs from run to run.
        while UNSAVED not in term.text:
            assert len(said_so_far) < 100
            fill(tiny_disk)
            talk(term)

    with desk.open("--model", model) as term:
        term.wait_for("say what should be done")
        talk(term)
        talk_until_the_disk_is_full(term)
        talk(term)
        (tiny_disk / PAD).unlink()
        talk(term)
        term.wait_gone(UNSAVED)
        assert [e.text for e in desk.of("user_message")] == said_so_far, "nothing said meanwhile is lost"

        talk_until_the_disk_is_full(term)
        term.keys("ctrl+q")
        assert term.exit_code() == 0
        term.wait_for("was not saved")
        assert "agent-tui --continue" not in term.text


def test_damaged_rows_are_counted_and_the_rest_is_shown(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    writer = write(desk.store, started(cwd=str(desk.folder)), said("before"), *(said(f"lost {n}") for n in range(3)))
    session = writer.session
    with sqlite3.connect(desk.home.database) as db:
        rows = db.execute("SELECT place FROM events WHERE body LIKE '%lost%' ORDER BY place").fetchall()
        for (place,), body in zip(
            rows, ('{"type":"user_message","text":"cut in the mid', "\0" * 40, "[]"), strict=True
        ):
            db.execute("UPDATE events SET body=? WHERE place=?", (body, place))
    later = desk.store.open(session)
    later.append(said("after"))
    later.close()
    model = desk.script(turn(text="I see both."))
    with desk.open("--continue", "--model", model) as term:
        term.wait_for("3 stored rows could not be read")
        term.wait_for(lambda: "before" in term.text and "after" in term.text)
        term.say("What do you see?")
        term.wait_for("I see both.")
        term.keys("ctrl+q")
        assert term.exit_code() == 0
    with desk.open("replay", session) as term:
        term.wait_for("before")
        term.keys("end")
        term.wait_for("I see both.")
        term.keys("ctrl+q")
    exported = desk.run("sessions", "export", session)
    assert "after" in exported.out
    assert "3" in (verified := desk.run("sessions", "verify")).out, verified


def test_huge_sessions_keep_nobody_from_the_list(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    write(desk.store, started(cwd=str(desk.folder)), said("an ordinary one"))
    huge = write(desk.store, started(cwd=str(desk.folder)), said("the huge one"), said("x" * 50_000_000))
    with sqlite3.connect(desk.home.database) as db:
        row = write(desk.store, started(cwd=str(desk.folder)), said("one long row"), said("row")).session
        body = '{"type":"user_message","text":"' + "y" * 50_000_000 + '"}'
        db.execute("UPDATE events SET body=? WHERE session=? AND seq=3", (body, row))
    with desk.open("replay") as term:
        term.wait_for(lambda: all(t in term.text for t in ("an ordinary one", "the huge one", "one long row")), 10)
        term.keys("ctrl+q")
        assert term.exit_code() == 0
    with desk.open("--resume", huge.session) as term:
        term.wait_for("the huge one")
        term.wait_for("palette")
        term.keys("ctrl+q")
        assert term.exit_code() == 0


def test_order_is_by_number_and_no_duration_is_negative_whatever_the_clock_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    result = ev.ToolResult(call_id="c1", turn=1, name="fs_list", status="ok", text="a.py", seconds=0.5)
    answer = ev.AssistantMessage(turn=1, model="script/x", blocks=(ev.ToolCall(id="c1", name="fs_list", input={}),))
    writer = write(
        desk.store, started(cwd=str(desk.folder)), said("one"), ev.RunStarted(), ev.TurnStarted(turn=1, model="m"),
        answer, ev.ToolStarted(call_id="c1", turn=1, name="fs_list"), result, said("two"), said("three"),
        ev.RunFinished(reason="finished"),
    )  # fmt: skip
    with sqlite3.connect(desk.home.database) as db:
        times = ["2026-05-01T12:00:00+00:00", "2026-05-01T10:00:00+00:00", "", "2026-05-01T10:00:00+00:00"]
        for seq in range(1, 11):
            db.execute("UPDATE events SET at=? WHERE session=? AND seq=?", (times[seq % 4], writer.session, seq))
    with desk.open("replay", writer.session) as term:
        term.wait_for("one")
        term.keys("home")
        for speed in "+++++":
            term.keys(speed)
        term.wait_for("32")
        term.keys("space")
        term.wait_for("three")
        term.keys("end")
        term.wait_for("event 10 / 10")
        term.wait_for("500 ms")
        text = term.text
        assert text.index("one") < text.index("two") < text.index("three")
        assert " -" not in text.split("fs_list")[1].splitlines()[0], "no duration below nothing"
        term.keys("ctrl+q")
        assert term.exit_code() == 0
    listed = desk.run("sessions", "list", "--json")
    assert listed.code == 0


def test_two_at_once_each_keep_their_own_and_a_session_has_one_writer(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    waits, echoes = turn(shell("until [ -e go ]; do sleep 0.02; done")), (turn(shell(f"echo {n}")) for n in range(9))
    model = desk.script(waits, *echoes, turn(text="All done."))
    flags = ("--model", model, "--approve", "sandboxed")
    with desk.open(*flags, "The first.") as one, desk.open(*flags, "The second.") as two:
        for term in (one, two):
            term.wait_for("until [ -e go ]")
        with desk.open("--continue", *flags) as three:
            three.wait_for("is open in another window")
            three.say("The third.")
            three.keys("ctrl+n")
            three.wait_for("until [ -e go ]")
            (desk.folder / "go").touch()
            for term in (one, two, three):
                term.wait_for("All done.")
                term.keys("ctrl+q")
                assert term.exit_code() == 0
    assert len(desk.sessions) == 3
    assert sorted(desk.events(session)[2].text for session in desk.sessions) == [
        "The first.",
        "The second.",
        "The third.",
    ]
    for session in desk.sessions:
        events = desk.events(session)
        assert [e.seq for e in events] == list(range(1, len(events) + 1))
        assert sum(e.type == "tool_result" for e in events) == 10
