"""Several sessions in one workbench: each keeps its own, what waits anywhere is seen, none is left by accident."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from textual.events import Key

from engine import events as ev
from engine.commands import AnswerQuestion, CloseSession, Decide, Interrupt, OpenSession, SendMessage, TakeBack
from engine.options import EngineOptions
from tests.tui.bench import Bench, workbench
from tests.tui.fake_engine import FakeHandle
from tests.tui.placeholders import Composer, Dialog
from tests.tui.test_app_approvals import dialog, question, request, shown
from tests.tui.test_app_session import begin, submit
from tui.asking import Asking, key_of
from tui.link import Link
from tui.session_tabs import Tabs
from tui.widgets.composer_burst import QUIET


async def two(bench: Bench) -> None:
    """``s1`` at work, then ``s2`` at work and shown."""
    begin(bench.engine)
    await bench.settled()
    await bench.pilot.press("ctrl+n")
    await bench.until(lambda: bench.app.link.session == "s2", "the second session")
    bench.engine.tell(
        ev.SessionStarted(cwd="/src/other", model="m/m", app_version="0"),
        ev.UserMessage(text="Port the importer"),
        ev.RunStarted(),
    )
    await bench.settled()


def strip(bench: Bench) -> str:
    return bench.screen_text().splitlines()[1]


def transcript(bench: Bench) -> list[Any]:
    return list(bench.app.bench.transcript.events)


async def go(bench: Bench, key: str, session: str) -> None:
    await bench.pilot.press(key)
    await bench.until(lambda: bench.app.link.session == session, f"{session} is shown")


async def test_one_session_has_no_strip(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        await bench.settled()
        assert not bench.app.bench.strip.display
        assert "TASK" in strip(bench), "the panes begin where they always did"


async def test_the_strip_says_what_each_does_and_which_is_shown(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await two(bench)
        assert "1 Fix the login test ● thinking" in strip(bench)
        assert "▌2 Port the importer ● thinking" in strip(bench)
        await go(bench, "ctrl+pageup", "s1")
        assert "▌1 Fix the login test" in strip(bench) and "Fix the login test" in bench.screen_text().splitlines()[0]
        await go(bench, "ctrl+pagedown", "s2")
        await go(bench, "ctrl+pagedown", "s1")


async def test_what_a_session_says_out_of_sight_is_there_when_one_comes_to_it(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await two(bench)
        for n in range(30):
            bench.engine.show(ev.StreamDelta(session="s1", turn=1, index=0, kind="text", text=f"{n} "))
            bench.engine.show(ev.StreamDelta(session="s2", turn=1, index=0, kind="text", text=f"{n} "))
        bench.engine.tell(ev.Notice(level="info", text="from one"), session="s1")
        bench.engine.tell(ev.Notice(level="info", text="from two"))
        await bench.settled()
        for key, session in (("ctrl+pageup", "s1"), ("ctrl+pagedown", "s2")):
            await go(bench, key, session)
            said = transcript(bench)
            assert {event.session for event in said} == {session}
            assert "".join(e.text for e in said if e.type == "stream_delta") == "".join(f"{n} " for n in range(30))
            assert said[-1].text == {"s1": "from one", "s2": "from two"}[session]


async def test_a_draft_and_the_todo_being_edited_stay_with_their_session(tmp_path: Path) -> None:
    async with workbench(tmp_path, real=True) as bench:
        await two(bench)
        await bench.pilot.press(*"for two")
        await go(bench, "ctrl+pageup", "s1")
        await bench.pilot.press(*"for one")
        assert bench.app.bench.composer.text == "for one"
        await bench.app.bench.action_edit_todo()
        await bench.until(lambda: bench.app.bench.todo_pane.editing, "the editor")
        await bench.pilot.press("X")
        await go(bench, "ctrl+pagedown", "s2")
        await bench.until(lambda: not bench.app.bench.todo_pane.editing, "the list of the other")
        assert bench.app.bench.composer.text == "for two" and "draft" not in bench.screen_text()
        await go(bench, "ctrl+pagedown", "s1")
        assert bench.app.bench.composer.text == "for one"
        await bench.until(lambda: "your draft waits" in bench.screen_text(), "the draft")


async def test_the_place_of_reading_stays(tmp_path: Path) -> None:
    async with workbench(tmp_path, real=True) as bench:
        begin(bench.engine)
        bench.engine.tell(*(ev.UserMessage(text=f"message {n}") for n in range(200)))
        await bench.settled()
        bench.app.bench.transcript.action_go_to_start()
        await bench.until(lambda: "Fix the login test" in bench.screen_text().split("\n", 1)[1], "the start")
        await bench.pilot.press("ctrl+n")
        await bench.until(lambda: bench.app.link.session == "s2", "the other")
        bench.engine.tell(*(ev.UserMessage(text=f"later {n}") for n in range(700)), session="s1")
        await bench.until(lambda: bench.app.link.tabs.all[0].state.seq >= 900, "all of it")  # type: ignore[union-attr]
        await go(bench, "ctrl+pageup", "s1")
        await bench.until(lambda: "message 0" in bench.screen_text(), "the same place")
        assert not bench.app.bench.transcript.at_end and bench.app.bench.transcript.unseen >= 700


async def test_keys_pressed_at_once_go_to_the_session_they_were_pressed_in(tmp_path: Path) -> None:
    async with workbench(tmp_path, real=True) as bench:
        await two(bench)
        await bench.pilot.press(*"for two")
        typed = monotonic()
        await bench.until(lambda: monotonic() - typed > QUIET, "Enter would be no part of a paste")
        for key in ("enter", "escape", "ctrl+pageup", *"one", "ctrl+n", *"more", "ctrl+pageup", "x"):
            # Without a pause between them, as a terminal that was held up hands them over.
            bench.app.post_message(Key(key, key if len(key) == 1 else None))
        await bench.until(lambda: bench.app.link.session == "s2" and bench.engine.commands(Interrupt), "all of it")
        assert bench.engine.commands(SendMessage) == [SendMessage("s2", "for two", "steer")]
        assert bench.engine.commands(Interrupt) == [Interrupt("s2")]
        await bench.until(lambda: bench.app.bench.composer.text == "x", "the last key")
        for session, draft in (("s3", "more"), ("s1", "one")):
            await go(bench, "ctrl+pagedown", session)
            assert bench.app.bench.composer.text == draft


async def test_commands_go_to_the_session_that_is_shown(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await two(bench)
        bench.engine.tell(ev.MessageQueued(id="q1", kind="steer", text="also this"), session="s1")
        await go(bench, "ctrl+pageup", "s1")
        submit(bench, "for one")
        await bench.pilot.press("alt+up", "escape")
        assert bench.engine.commands(SendMessage) == [SendMessage("s1", "for one", "steer")]
        assert bench.engine.commands(TakeBack) == [TakeBack("s1", "q1")]
        assert bench.engine.commands(Interrupt) == [Interrupt("s1")]
        await go(bench, "ctrl+pagedown", "s2")
        bench.engine.tell(ev.MessageWithdrawn(id="q1"), session="s1")
        await bench.settled()
        assert bench.app.bench.composer.text == "", "what was taken back belongs to the other"
        await go(bench, "ctrl+pageup", "s1")
        await bench.until(lambda: bench.app.bench.composer.text == "also this", "it is there")


async def test_requests_of_the_session_in_sight_come_first_and_all_say_whose_they_are(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await two(bench)
        bench.engine.tell(request("a"), request("b", "c2"), session="s1")
        bench.engine.tell(request("a"), question("q"))
        first = await shown(bench, "a")
        order = []
        for _ in range(4):
            await bench.until(lambda: dialog(bench), "the next")
            first = dialog(bench)
            assert first is not None
            order.append((first.request.session, first.request.id, first.whose))
            await bench.pilot.press("y")
            await bench.until(lambda first=first: dialog(bench) is not first, "it is answered")  # type: ignore[misc]
        begun = order[0][0]
        assert [(s, i) for s, i, _ in order if s == "s2"] == [("s2", "a"), ("s2", "q")]
        assert [(s, i) for s, i, _ in order if s == "s1"] == [("s1", "a"), ("s1", "b")]
        assert [s for s, _, _ in order[1:]] == (["s2", "s2", "s1"] if begun == "s1" else ["s2", "s1", "s1"])
        assert {whose for _, _, whose in order} == {"Fix the login test · tab 1", "Port the importer · tab 2"}
        assert sorted(d.session for d in bench.engine.commands(Decide)) == ["s1", "s1", "s2"]
        assert bench.engine.commands(AnswerQuestion) == [AnswerQuestion("s2", "q", "yes")]


async def test_the_end_of_one_run_leaves_the_requests_of_the_other(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await two(bench)
        bench.engine.tell(request("a"), session="s1")
        open_dialog = await shown(bench, "a")
        bench.engine.tell(ev.RunFinished(reason="finished"))
        await bench.until(lambda: "✓ finished" in str(bench.app.bench.strip.render()), "the end of the other")
        assert dialog(bench) is open_dialog
        await bench.pilot.press("y")
        await bench.until(lambda: bench.engine.commands(Decide), "the answer")
        assert bench.engine.commands(Decide)[0].session == "s1"


async def test_one_put_aside_in_another_session_is_gone_to_by_a_key(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await two(bench)
        bench.engine.tell(request("a"), session="s1")
        await shown(bench, "a")
        await bench.pilot.press("escape")
        await bench.until(lambda: dialog(bench) is None, "it is put aside")
        await bench.until(lambda: "Alt+G go to it" in bench.screen_text(), "the key")
        assert "◌ 1 waits for you" in strip(bench)
        await go(bench, "alt+g", "s1")
        await shown(bench, "a")


async def test_a_session_nobody_spoke_in_gives_way(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await bench.pilot.press("ctrl+n")
        await bench.until(lambda: bench.app.link.session == "s2", "the fresh one")
        assert bench.engine.commands(CloseSession) == [CloseSession("s1")]
        assert len(bench.app.link.tabs.all) == 1 and len(bench.app.bench.sheets) == 1


async def test_a_stored_session_opens_in_a_tab_of_its_own_once(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        begin(bench.engine)
        await bench.settled()
        for _ in range(2):
            await bench.pilot.press("ctrl+o")
            await bench.until(lambda: bench.app.screen is not bench.app.bench, "the list")
            await bench.pilot.press("enter")
            await bench.until(lambda: bench.app.link.session == "old-session", "its tab")
            await go(bench, "ctrl+pageup", "s1")
        assert [c.id for c in bench.engine.commands(OpenSession)] == ["", "old-session"]
        assert [tab.session for tab in bench.app.link.tabs.all] == ["s1", "old-session"]


async def test_a_session_at_work_is_closed_only_on_purpose(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await two(bench)
        bench.app.bench.composer.post_message(Composer.Slash("close"))
        await bench.until(lambda: bench.app.screen is not bench.app.bench, "the question")
        await bench.until(lambda: "Leave it open" in bench.screen_text(), "the choices")
        await bench.pilot.press("escape")
        await bench.until(lambda: bench.app.screen is bench.app.bench, "back")
        assert not bench.engine.commands(CloseSession)
        bench.engine.tell(request("a"))
        await shown(bench, "a")
        await bench.pilot.press("escape")
        bench.app.bench._close(bench.app.link.tabs.shown)
        await bench.until(lambda: bench.app.link.session == "s1", "its neighbour")
        assert bench.engine.commands(CloseSession) == [CloseSession("s2")]
        assert bench.app.asking.next() is None
        bench.engine.tell(ev.Notice(level="danger", text="too late"))
        begin(bench.engine)
        await bench.pilot.pause()
        assert not bench.app.bench.strip.display and len(bench.app.bench.sheets) == 1
        assert all(event.session == "s1" for event in transcript(bench))


async def test_after_the_last_one_comes_a_fresh_one(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.app.run_slash("close", "")
        await bench.until(lambda: bench.app._notifications, "a word")
        assert not bench.engine.commands(CloseSession)
        begin(bench.engine)
        bench.engine.tell(ev.RunFinished(reason="finished"))
        await bench.settled()
        bench.app.run_slash("close", "")
        await bench.until(lambda: bench.app.link.session == "s2", "the fresh one")
        assert bench.engine.commands(CloseSession) == [CloseSession("s1")]
        assert not transcript(bench)


async def test_a_handed_over_session_leaves_its_tab_and_its_draft_to_the_fresh_one(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await two(bench)
        bench.app.bench.composer.text = "half a thought"
        await go(bench, "ctrl+pageup", "s1")
        bench.engine.tell(ev.HandedOff(to="s9", reason="no room"))
        bench.engine.show(ev.SessionOpened(session="s9", events=(), state=bench.engine.state))
        bench.engine.tell(ev.RunFinished(reason="handed_off"))
        await bench.until(lambda: bench.app.link.tabs.of("s9"), "the heir")
        assert [tab.session for tab in bench.app.link.tabs.all] == ["s1", "s9"]
        assert bench.app.link.session == "s1", "it stays out of sight"
        assert not bench.engine.commands(CloseSession)
        await go(bench, "ctrl+pagedown", "s9")
        assert bench.app.bench.composer.text == "half a thought"


async def test_the_palette_goes_to_a_session_by_its_name(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await two(bench)
        await bench.pilot.press("ctrl+p", *"go to session 1")
        await bench.until(lambda: "Go to session 1: Fix the login test" in bench.screen_text(), "the entry")
        await bench.pilot.press("down", "enter")
        await bench.until(lambda: bench.app.link.session == "s1", "it is shown")


@pytest.mark.parametrize("size", [(20, 12), (40, 20), (80, 24), (200, 60)])
async def test_the_tab_that_is_shown_is_in_sight_at_any_width_and_is_clicked(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with workbench(tmp_path, size=size) as bench:
        for n in range(6):
            begin(bench.engine)
            await bench.settled()
            await bench.pilot.press("ctrl+n")
            await bench.until(lambda n=n: bench.app.link.session == f"s{n + 2}", "another")  # type: ignore[misc]
        for n in reversed(range(6)):
            await go(bench, "ctrl+pageup", f"s{n + 1}")
            await bench.until(lambda n=n: f"▌{n + 1}" in strip(bench), f"tab {n + 1}")  # type: ignore[misc]
            assert len(strip(bench)) <= size[0]
        assert ("⋯" in strip(bench)) == (size[0] == 20)
        at = strip(bench).index("2")
        assert await bench.pilot.click("#sessions-strip", offset=(at, 0))
        await bench.until(lambda: bench.app.link.session == "s2", "the tab clicked on")


def test_a_title_is_never_markup_nor_more_than_a_line() -> None:
    from tui.look import Look
    from tui.widgets.session_strip import Row, strip_line

    line = strip_line((Row("[red]a\nb\x1b[31m"), Row("x")), 1, 80, Look())
    assert "[red]a b" in line.plain and "\n" not in line.plain and "\x1b" not in line.plain


# --- the parts below --------------------------------------------------------------------------------------------------


def link_with(engine: FakeHandle) -> Link:
    link = Link(lambda _: engine, engine.options, lambda: None)
    link.start(OpenSession())
    link.take()
    return link


def test_what_cannot_be_opened_leaves_what_was_there_and_what_was_said() -> None:
    engine = FakeHandle(EngineOptions(cwd=Path("/src")))
    link = link_with(engine)
    opened, engine.send = engine.send, engine.sent.append  # type: ignore[method-assign]
    link.open(OpenSession(id="gone"), link.tabs.shown)
    link.send(lambda session: SendMessage(session, "meanwhile"))
    assert not engine.commands(SendMessage)
    engine.show(ev.OpenFailed(error="there is no gone"))
    told, _ = link.take()
    assert told[0][0] is link.tabs.shown and link.session == "s1"
    assert engine.commands(SendMessage) == [SendMessage("s1", "meanwhile")]
    assert opened is not None


def test_a_tab_for_what_cannot_be_opened_goes_again_unless_something_was_said_there() -> None:
    engine = FakeHandle(EngineOptions(cwd=Path("/src")))
    link = link_with(engine)
    link.open(OpenSession(), link.tabs.add())
    link.take()
    first, second = link.tabs.all
    link.tabs.shown = first
    engine.send = engine.sent.append  # type: ignore[method-assign]
    for words in ("", "hello"):
        tab = link.tabs.add()
        link.open(OpenSession(id="gone"), tab)
        if words:
            link.send(lambda session: SendMessage(session, "hello"))
        engine.show(ev.OpenFailed(error="there is no gone"))
        told, _ = link.take()
        assert link.tabs.all == ([first, second, tab] if words else [first, second])
        assert told[0][0] is link.tabs.shown is (tab if words else first)
    assert tab.untouched, "what was said is for the next session opened there"
    link.open(OpenSession(), tab)
    engine.show(ev.SessionOpened(session="s9"))
    link.take()
    assert engine.commands(SendMessage) == [SendMessage("s9", "hello")]


def test_a_stored_session_that_is_being_opened_does_not_give_way_to_another() -> None:
    engine = FakeHandle(EngineOptions(cwd=Path("/src")))
    link = link_with(engine)
    engine.send = engine.sent.append  # type: ignore[method-assign]
    assert link.tabs.shown.untouched
    link.open(OpenSession(), link.tabs.shown)
    assert link.tabs.shown.untouched, "pressed twice by mistake"
    link.open(OpenSession(id="long"), link.tabs.shown)
    assert not link.tabs.shown.untouched


def test_a_tab_closed_before_its_session_was_open_gives_it_back() -> None:
    engine = FakeHandle(EngineOptions(cwd=Path("/src")))
    link = link_with(engine)
    tab = link.tabs.add()
    link.open(OpenSession(), tab)
    link.close_tab(tab)
    told, _ = link.take()
    assert engine.commands(CloseSession) == [CloseSession("s2")]
    assert [tab.session for tab in link.tabs.all] == ["s1"] and not told


def test_a_session_that_turns_out_to_be_open_already_is_shown_in_its_tab() -> None:
    engine = FakeHandle(EngineOptions(cwd=Path("/src")))
    link = link_with(engine)
    tab = link.tabs.add()
    link.open(OpenSession(id="s1"), tab)
    link.send(lambda session: SendMessage(session, "hello"))
    link.take()
    assert [tab.session for tab in link.tabs.all] == ["s1"] and link.session == "s1"
    assert engine.commands(SendMessage) == [SendMessage("s1", "hello")]
    assert not engine.commands(CloseSession)


def test_the_farewell_names_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = FakeHandle(EngineOptions(cwd=Path("/src")))
    link = link_with(engine)
    begin(engine)
    link.take()
    assert link.farewell() == "To go on with 'Fix the login test': agent-tui --resume s1\n", "of another folder"
    monkeypatch.setattr(Path, "cwd", lambda: Path("/src/shop"))
    assert link.farewell() == "To go on with 'Fix the login test': agent-tui --continue\n"
    link.open(OpenSession(), link.tabs.add())
    link.take()
    assert "--continue" in link.farewell(), "one nobody spoke in does not count"
    begin(engine)
    link.take()
    lines = link.farewell().splitlines()
    assert lines[0].startswith("2 sessions are saved")
    assert [line.split()[:3] for line in lines[1:]] == [["agent-tui", "--resume", id] for id in ("s1", "s2")]


def test_tabs_are_gone_round_and_a_neighbour_takes_over() -> None:
    tabs = Tabs()
    first, second, third = tabs.shown, tabs.add(), tabs.add()
    assert tabs.beside(1) is first and tabs.beside(-1) is second
    tabs.shown = second
    tabs.remove(second)
    assert tabs.shown is third
    tabs.remove(first)
    tabs.remove(third)
    assert len(tabs.all) == 1 and tabs.shown is tabs.all[0] and tabs.shown not in (first, second, third)


def test_requests_of_two_sessions_may_have_the_same_id() -> None:
    asking = Asking()
    mine, other = (question("q").model_copy(update={"session": session}) for session in ("mine", "other"))
    asking.feed([other, mine])
    assert asking.next("mine") is mine and asking.place(key_of(mine), "mine") == (1, 2)
    asking.settle(key_of(mine))
    assert asking.next("mine") is other and asking.place(key_of(other), "mine") == (2, 2)
    asking.clear("mine")
    assert asking.waits(key_of(other))
    assert isinstance(Dialog(other, (1, 1)), Dialog)
