"""A long session is looked at from its end on while the rest of it is read; what is typed meanwhile is not lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine import events as ev
from engine.commands import OpenSession, SendMessage
from engine.state import TaskState, fold
from tests.tui.bench import Bench, workbench
from tests.tui.fake_engine import FakeHandle
from tests.tui.test_transcript_layout import conversation

PAST = [event.model_copy(update={"session": "long"}) for event in conversation(200)]


class SlowHandle(FakeHandle):
    """Opens its first session at once, and reads the one called ``long`` when told to."""

    def send(self, command: Any) -> None:
        if not (isinstance(command, OpenSession) and command.id == "long"):
            super().send(command)

    def come(self) -> None:
        self.show(ev.SessionComing(session="long", events=PAST[-30:], rows=len(PAST), title="Measure the shapes"))

    def read(self, start: int, end: int) -> None:
        self.show(ev.PastRead(session="long", events=PAST[start:end]))

    def opened(self) -> None:
        self.state = self._states["long"] = fold(PAST, TaskState(session="long"))
        self.show(ev.SessionOpened(session="long", state=self.state))


def come(bench: Bench, engine: SlowHandle) -> None:
    """Ask for the long session, and be told of its end."""
    bench.app.link.open(OpenSession("long"), bench.app.link.tabs.shown)
    engine.come()


async def shows(bench: Bench, word: str) -> None:
    await bench.until(lambda: word in bench.screen_text(), word)


async def test_its_end_is_there_before_the_rest(tmp_path: Path) -> None:
    engine = SlowHandle()
    async with workbench(tmp_path, engine=engine, real=True) as bench:
        come(bench, engine)
        await shows(bench, "answer 199")
        assert "Measure the shapes" in bench.screen_text().splitlines()[0]
        engine.read(0, 300)
        await shows(bench, "Reading 300 more events")
        await bench.pilot.press(*"hello", "enter")
        assert engine.commands(SendMessage) == []
        engine.read(300, 600)
        engine.opened()
        await bench.until(lambda: engine.commands(SendMessage), "what was typed is sent")
        assert engine.commands(SendMessage) == [SendMessage("long", "hello", "steer")]
        await bench.until(lambda: "Reading" not in bench.screen_text(), "no word of reading")
        assert "answer 199" in bench.screen_text()
        assert len(bench.app.bench.transcript.reader.blocks) == 3 * 200
        assert bench.app.bench.sheet.tools.counts["shell_run"][0] == 200
        await bench.pilot.press("alt+1", "home")
        await shows(bench, "question 0")


async def test_it_is_left_for_another_session_while_it_is_read(tmp_path: Path) -> None:
    engine = SlowHandle()
    async with workbench(tmp_path, engine=engine, real=True) as bench:
        come(bench, engine)
        engine.read(0, 300)
        await shows(bench, "Reading 300 more events")
        app = bench.app
        app.bench.show_tab(app.link.tabs.add())
        await bench.until(lambda: "Reading" not in bench.screen_text(), "the other session")
        engine.read(300, 600)
        engine.opened()
        await bench.until(lambda: app.link.tabs.all[0].session == "long", "it is open")
        assert len(app.bench.sheets[app.link.tabs.all[0]].transcript.reader.blocks) == 3 * 200
        assert "answer 199" not in bench.screen_text()


async def test_it_could_not_be_opened_after_all(tmp_path: Path) -> None:
    engine = SlowHandle()
    async with workbench(tmp_path, engine=engine, real=True) as bench:
        come(bench, engine)
        await shows(bench, "answer 199")
        engine.show(ev.OpenFailed(error="the disk is gone"))
        await shows(bench, "the disk is gone")
        await bench.until(lambda: "Reading" not in bench.screen_text(), "nothing is being read")
        await shows(bench, "✗ not open")
        assert "starting" not in bench.screen_text()
