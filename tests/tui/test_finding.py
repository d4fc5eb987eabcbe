"""Searching the transcript leads to the newest match and says how many there are."""

from __future__ import annotations

from pathlib import Path

from engine import events as ev
from tests.tui.bench import Bench, workbench
from tests.tui.transcript_kit import said


async def talk(bench: Bench) -> None:
    for number in range(60):
        bench.engine.tell(ev.UserMessage(text=f"question {number}"), said(f"answer {number}", number))
    await bench.settled()
    await bench.until(lambda: "answer 59" in bench.screen_text(), "the end")


def said_last(bench: Bench) -> str:
    return " ".join(note.message for note in bench.app._notifications)


async def find(bench: Bench, text: str) -> None:
    await bench.pilot.press("alt+1")
    await bench.until(lambda: bench.app.bench.transcript.has_focus, "in the transcript")
    await bench.pilot.press("slash")
    await bench.until(lambda: "Search the transcript" in bench.screen_text(), "the question")
    await bench.pilot.press(*text, "enter")


async def test_enter_leads_to_the_newest_match(tmp_path: Path) -> None:
    async with workbench(tmp_path, real=True) as bench:
        await talk(bench)
        await find(bench, "question 7")
        await bench.until(lambda: "▍question 7 " in bench.screen_text(), "the match")
        await bench.until(lambda: "1 match of 'question 7'" in said_last(bench), "how many")


async def test_several_matches_are_counted_and_gone_through(tmp_path: Path) -> None:
    async with workbench(tmp_path, real=True) as bench:
        await talk(bench)
        await find(bench, "answer 1")
        await bench.until(lambda: "11 matches of 'answer 1'" in said_last(bench), "how many")
        await bench.until(lambda: "▍answer 19" in bench.screen_text(), "the newest")
        for _ in range(10):
            await bench.pilot.press("N")
        await bench.until(lambda: "▍answer 1 " in bench.screen_text(), "the oldest")


async def test_nothing_is_said_to_be_nothing(tmp_path: Path) -> None:
    async with workbench(tmp_path, real=True) as bench:
        await talk(bench)
        await find(bench, "[/] no such words")
        await bench.until(lambda: "Nothing here holds '[/] no such words'." in said_last(bench), "the word")
        assert "answer 59" in bench.screen_text()
