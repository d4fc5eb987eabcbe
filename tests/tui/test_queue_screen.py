"""The screen of what waits to be said: every change is a command at once, and nothing that was written is lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from textual import events

from engine import events as ev
from engine.commands import ArrangeQueue, TakeBack
from tests.tui.bench import Bench, workbench
from tui.arranging import Arranging
from tui.screens.queue import QueueScreen

WAITING = (
    ev.MessageQueued(id="m1", kind="steer", text="keep the old name"),
    ev.MessageQueued(id="m2", kind="steer", text="你好，世界 " * 40 + "\n\x1b[31mline [two]"),
    ev.MessageQueued(id="m3", kind="follow_up", text="then the changelog"),
)


async def running(bench: Bench, *more: ev.Event) -> None:
    bench.engine.tell(
        ev.SessionStarted(cwd="/s", model="a/b", app_version="0"), ev.UserMessage(text="do it"), ev.RunStarted(),
        ev.TurnStarted(turn=1, model="m"), *WAITING, *more,
    )  # fmt: skip
    await bench.settled()


async def opened(bench: Bench) -> QueueScreen:
    await bench.pilot.press("f12")
    await bench.until(lambda: type(bench.app.screen) is QueueScreen and bench.screen_text().strip(), "the screen")
    screen = bench.app.screen
    assert isinstance(screen, QueueScreen)
    return screen


async def sees(bench: Bench, *words: str) -> None:
    await bench.until(lambda: all(word in bench.screen_text() for word in words), f"on screen: {words}")


async def says(bench: Bench, words: str) -> None:
    await bench.until(lambda: any(words in note.message for note in bench.app._notifications), f"said: {words}")


def obey(bench: Bench) -> None:
    """Do what the engine does with the newest arrangement."""
    command = bench.engine.commands(ArrangeQueue)[-1]
    for id, _, text in command.items:
        if not text:
            bench.engine.tell(ev.MessageWithdrawn(id=id))
    kept = [ev.Queued(id=id, kind=kind, text=text) for id, kind, text in command.items if text]
    bench.engine.tell(ev.QueueArranged(items=tuple(kept)))


def arranged(bench: Bench) -> list[tuple[str, str]]:
    return [(id, kind) for id, kind, _ in bench.engine.commands(ArrangeQueue)[-1].items]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (30, 8)])
async def test_three_lists_apart_and_the_whole_text_of_the_chosen_one(tmp_path: Path, size: tuple[int, int]) -> None:
    async with workbench(tmp_path, size=size) as bench:
        await running(bench, ev.MessageQueued(id="m4", kind="steer", text="gone"), ev.MessageWithdrawn(id="m4"))
        await opened(bench)
        if size[0] >= 80:
            await sees(bench, "STEERS", "all before turn 2", "FOLLOW-UPS", "2 steers · 1 follow-up", "taken back")
            await bench.pilot.press("up")
            await sees(bench, "␛[31mline [two]")
        assert "\x1b" not in bench.screen_text()
        assert all(len(line) <= size[0] for line in bench.screen_text().splitlines())


async def test_order_kind_and_removal_are_commands_that_count_from_each_other(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await running(bench)
        screen = await opened(bench)
        assert screen.chosen and screen.chosen.id == "m3"
        # Before the engine has answered the first: the second counts from it.
        await bench.pilot.press("t", "alt+up", "alt+up")
        await bench.until(lambda: len(bench.engine.commands(ArrangeQueue)) == 3, "three commands")
        assert arranged(bench) == [("m3", "steer"), ("m1", "steer"), ("m2", "steer")]
        await bench.pilot.press("alt+up")
        await says(bench, "It is the first of its list")
        await bench.pilot.press("down", "x")
        await bench.until(lambda: len(bench.engine.commands(ArrangeQueue)) == 4, "it is removed")
        assert bench.engine.commands(ArrangeQueue)[-1].items[1] == ("m1", "steer", "")
        obey(bench)
        await bench.settled()
        await sees(bench, "2 steers · 0 follow-ups", "taken back")
        assert [p.id for p in bench.engine.state.pending] == ["m3", "m2"]
        assert screen._arranging._wanted is None


async def test_an_edited_text_is_a_command_and_what_is_done_with_can_be_said_again(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await running(bench)
        await opened(bench)
        await bench.pilot.press("e", *" too", "enter", *"now", "escape")
        await sees(bench, "Esc again drops what you changed")
        await bench.pilot.press("f5")
        await bench.until(lambda: bench.engine.commands(ArrangeQueue), "it is sent")
        assert bench.engine.commands(ArrangeQueue)[-1].items[-1] == ("m3", "follow_up", "then the changelog too\nnow")
        obey(bench)
        bench.engine.tell(ev.UserMessage(id="m1", kind="steer", text="keep the old name"))
        await bench.settled()
        await sees(bench, "delivered with turn 2", "then the changelog too now")
        await bench.pilot.press("end", "x")
        await says(bench, "waits no more")
        await bench.pilot.press("c", "escape")
        await bench.until(lambda: bench.app.screen is bench.app.bench, "back")
        assert bench.app.bench.composer.text == "keep the old name"


async def test_what_is_delivered_while_it_is_edited_comes_to_the_composer(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await running(bench)
        await opened(bench)
        bench.app.bench.composer.text = "a draft"
        await bench.pilot.press("e", *" today")
        bench.engine.tell(ev.UserMessage(id="m3", kind="follow_up", text="then the changelog"))
        await sees(bench, "It was delivered while you edited it. What you wrote is in the composer.")
        assert bench.app.bench.composer.text == "then the changelog today\na draft"
        assert not bench.engine.commands(ArrangeQueue)
        await sees(bench, "delivered with turn 2")
        await bench.pilot.press("up", "e", "escape")
        await sees(bench, "what waits to be said", "Enter edit")


async def test_keys_in_one_burst_remove_nothing(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await running(bench)
        screen = await opened(bench)
        for key in ("e", "x", "t", "q"):
            bench.app.post_message(events.Key(key, key))
        await bench.until(lambda: screen._entry and screen._entry.has_focus, "the text")
        await bench.pilot.pause()
        assert bench.app.screen is screen
        assert not bench.engine.commands(ArrangeQueue)


async def test_an_edit_that_comes_too_late_comes_to_the_composer(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await running(bench)
        await opened(bench)
        await bench.pilot.press("e", *" today", "f5", "escape")
        await bench.until(lambda: bench.engine.commands(ArrangeQueue), "it is sent")
        bench.engine.tell(ev.UserMessage(id="m3", kind="follow_up", text="then the changelog"))
        await bench.settled()
        assert bench.app.bench.composer.text == "then the changelog today"
        await says(bench, "It had gone out before your change")


async def test_the_slash_command_and_the_strip_lead_there_and_alt_up_takes_back_the_words_as_edited(
    tmp_path: Path,
) -> None:
    async with workbench(tmp_path) as bench:
        await running(bench)
        await sees(bench, "F12 shows all")
        await bench.pilot.click("#queue")
        await sees(bench, "what waits to be said")
        await bench.pilot.press("e", "!", "f5", "escape")
        await bench.until(lambda: bench.app.screen is bench.app.bench, "back")
        await bench.pilot.press("alt+up")
        await bench.until(lambda: bench.engine.commands(TakeBack), "it is taken back")
        obey(bench)
        bench.engine.tell(ev.MessageWithdrawn(id="m3"))
        await bench.settled()
        assert bench.app.bench.composer.text == "then the changelog!"
        bench.app.run_slash("queue", "")
        await sees(bench, "what waits to be said")


async def test_what_waits_after_a_run_that_failed_says_why(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await running(bench, ev.RunFinished(reason="limit", detail="turns"))
        await opened(bench)
        await sees(bench, "not sent, the run stopped at a limit: the next run takes them along")


async def test_with_nothing_waiting_it_says_how_to_queue(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        await opened(bench)
        await sees(bench, "Nothing waits to be said", "none wait")
        await bench.pilot.press("e", "x", "t", "alt+up", "down", "c")
        assert not bench.engine.commands(ArrangeQueue)
        await bench.pilot.press("escape")
        await bench.until(lambda: bench.app.screen is bench.app.bench, "back")


# --- ahead of the engine ----------------------------------------------------------------------------------------------


def desk(*items: tuple[str, str, str]) -> tuple[Arranging, list[Any]]:
    sent: list[Any] = []
    made = Arranging(lambda make: sent.append(make("s")))
    follow(made, items)
    return made, sent


def follow(made: Arranging, items: Sequence[tuple[str, str, str]]) -> None:
    from engine.hands import Pending
    from engine.state import TaskState

    made.follow(TaskState(pending=tuple(Pending(*item) for item in items)))


def test_a_state_from_before_the_command_does_not_undo_what_is_shown() -> None:
    made, sent = desk(("a", "steer", "A"), ("b", "steer", "B"))
    made.move("b", -1)
    follow(made, (("a", "steer", "A"), ("b", "steer", "B"), ("new", "steer", "N")))
    assert [item.id for item in made.items] == ["b", "a", "new"]
    follow(made, (("b", "steer", "B"), ("a", "steer", "A"), ("new", "steer", "N")))
    made.remove("b")
    assert sent[-1].items == (("b", "steer", ""), ("a", "steer", "A"), ("new", "steer", "N"))
    assert made.find("b") is None


def test_moving_stays_within_the_kind_and_turning_puts_it_last() -> None:
    made, _ = desk(("a", "steer", "A"), ("f", "follow_up", "F"), ("b", "steer", "B"))
    assert made.move("a", 1) and not made.move("a", 1) and not made.move("gone", 1)
    assert [item.id for item in made.items] == ["b", "f", "a"]
    made.turn("b")
    assert [item.id for item in made.of("follow_up")] == ["f", "b"]


def test_a_message_that_moved_on_with_the_session_gives_the_late_words_back() -> None:
    made, _ = desk(("a", "steer", "A"), ("b", "steer", "B"))
    made.change("a", "A later\n")
    made.change("b", "B later")
    assert made.too_late([ev.MessageWithdrawn(id="a", reason="waits elsewhere"), ev.MessageWithdrawn(id="b")]) == [
        "A later"
    ]
