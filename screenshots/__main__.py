"""``python -m screenshots [SIZE…]``: make every picture again from the real app, with the demo's model and real tools.

Needs the extra ``test`` (cairosvg) and the font DejaVu Sans Mono. Pictures are PNG files beside this one.
"""

from __future__ import annotations

import asyncio
import io
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import cairosvg
import pexpect
from rich.console import Console
from rich.text import Text
from textual.pilot import Pilot

from engine.commands import Decide, OpenSession, SendMessage
from engine.demo.driver import DENIAL, AutoDriver
from engine.demo.workspace import DemoWorkspace, make_demo
from engine.engine import Engine
from engine.handle import EngineHandle
from engine.memory import Memory, Scope
from engine.options import EngineOptions
from engine.paths import Home
from tui.app import WorkbenchApp
from tui.autopilot import Autopilot

HERE = Path(__file__).parent
SIZES = {"80x24": (80, 24), "120x40": (120, 40), "200x60": (200, 60)}
PATIENCE = 120.0
REMEMBERED: tuple[tuple[Scope, str], ...] = (
    ("project", "The suite runs with python3 -m unittest; there is no pytest here"),
    ("project", "Amounts are Decimal everywhere: a float once cost a cent a day"),
    ("user", "Keep explanations short; say what was checked and how"),
)
FONT = "DejaVu Sans Mono"
FONT_SIZE = "font-size: 20.26px"  # makes a character of this font as wide as a cell of the picture


def main(wanted: list[str]) -> int:
    """Make the pictures of the sizes named, or of all."""
    for name in wanted or SIZES:
        with tempfile.TemporaryDirectory() as folder:
            settle(Path(folder))
            doctor(name)
            asyncio.run(pictures(name, Path(folder)))
    return 0


def settle(home: Path) -> None:
    """A machine with nothing on it but us."""
    for key in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "NO_COLOR"):
        os.environ.pop(key, None)
    os.environ.update(
        HOME=str(home), AGENT_TUI_HOME=str(home / ".agent-tui"), COLORTERM="truecolor", TERM="xterm-256color"
    )


def doctor(size: str) -> None:
    """What ``agent-tui doctor`` really prints, in a terminal of this size; the picture is as long as that is."""
    columns, rows = SIZES[size]
    words = ["-m", "tui", "doctor"]
    terminal = pexpect.spawn(sys.executable, words, encoding="utf-8", dimensions=(rows, columns), timeout=PATIENCE)
    terminal.expect(pexpect.EOF)
    console = Console(record=True, width=columns + 2, file=io.StringIO())
    said = terminal.before.replace("\r", "").rstrip()
    console.print(Text.from_ansi(f"$ agent-tui doctor\n{said}"))
    picture(console.export_svg(title="agent-tui"), f"doctor-{size}")


async def pictures(size: str, home: Path) -> None:
    await first_run(size, home)
    await history(home)
    demo = make_demo(home / "src")
    os.environ["AGENT_TUI_SCRIPT_WAITING"] = "1"
    remember(demo.folder)
    options = EngineOptions(cwd=demo.folder, model=demo.model, approve="ask")
    app = WorkbenchApp(EngineHandle, options, task=demo.task, autopilot=Autopilot(AutoDriver(answers=False)))
    async with running(app, size) as pilot:
        await run_pictures(app, pilot, size)
        await pilot.press("f2")
        await until(pilot, lambda: "against request" in text_of(app) and "cache hits" in text_of(app), "the inspector")
        save(app, f"inspector-{size}")
        await pilot.press("s")
        await until(pilot, lambda: "with the cache" in text_of(app), "the costs elsewhere")
        save(app, f"costs-{size}")
        await pilot.press("escape", "c")
        await until(pilot, lambda: "AFTER" in text_of(app), "the compactions")
        save(app, f"compaction-{size}")
        await pilot.press("escape", "escape")
        await pilot.press("alt+4")
        await until(pilot, lambda: "first token" in text_of(app), "the cache pane")
        save(app, f"cache-{size}")
        await pilot.press("f5")
        await until(pilot, lambda: "there is no pytest here" in text_of(app), "what is remembered")
        save(app, f"memory-{size}")
        await pilot.press("escape", "f4")
        await until(pilot, lambda: "no file differs" in text_of(app), "where to go back to")
        await pilot.press(*["down"] * 5)
        await until(pilot, lambda: "would change" in text_of(app), "the files")
        save(app, f"rewind-{size}")
        await pilot.press("escape")
        await pilot.press("ctrl+o")
        await until(pilot, lambda: "at a limit" in text_of(app), "the list")
        save(app, f"sessions-{size}")
        await pilot.press("p")
        await until(pilot, lambda: type(app.screen).__name__ == "PlayerScreen", "the player")
        for _ in range(3):
            await pilot.press("n")
        await until(pilot, lambda: "waits" in text_of(app) or "allowed" in text_of(app), "an approval")
        save(app, f"player-{size}")
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.screen is app.bench, "the workbench")
        await own_ways(app, pilot, size)
        await side_by_side(app, pilot, size)


async def own_ways(app: WorkbenchApp, pilot: Pilot[Any], size: str) -> None:
    """The settings, and letters on everything in sight."""
    await pilot.press("f6")
    await until(pilot, lambda: "limits.turns" in text_of(app), "the settings")
    await pilot.press("down", "tab", "tab")
    await pilot.pause(0.2)
    save(app, f"settings-{size}")
    await pilot.press("escape")
    await until(pilot, lambda: app.screen is app.bench, "the workbench")
    await pilot.press("f7")
    await until(pilot, lambda: type(app.screen).__name__ == "JumpScreen", "the letters")
    save(app, f"jump-{size}")
    await pilot.press("escape")


async def side_by_side(app: WorkbenchApp, pilot: Pilot[Any], size: str) -> None:
    """A second session beside the first, which waits for a person; and what waits to be said in it."""
    await pilot.press("ctrl+n")
    await until(pilot, lambda: app.link.tabs.several and app.link.session, "another session")
    app.link.send(lambda session: SendMessage(session, "Say what data/2026-01.txt adds up to"))
    await until(pilot, lambda: type(app.screen).__name__ == "ApprovalDialog", "the dialog")
    await until(pilot, lambda: app.screen is app.bench or app.screen.dismiss(None), "the workbench")
    await pilot.press("alt+1")
    await pilot.pause(0.2)
    save(app, f"sessions-open-{size}")
    for text, kind in (
        ("Leave the rounding as it is, please.", "steer"),
        ("Then tell me which of the tests are slow.", "follow_up"),
        ("And write down in NOTES.md what you found.", "follow_up"),
    ):
        app.link.send(lambda session, text=text, kind=kind: SendMessage(session, text, kind))  # type: ignore[misc]
    await until(pilot, lambda: app.link.state and len(app.link.state.pending) == 3, "the messages")
    await pilot.press("f12")
    await until(pilot, lambda: "NOTES.md" in text_of(app), "what waits")
    save(app, f"queue-{size}")


def remember(folder: Path) -> None:
    """What a person and an agent may have learned in this folder before."""
    memory = Memory(Home.here().data, folder)
    for scope, line in REMEMBERED:
        memory.add(scope, line)


async def run_pictures(app: WorkbenchApp, pilot: Pilot[Any], size: str) -> None:
    """The run itself: answered as a person would, with a picture at the two moments that matter."""
    shot: set[str] = set()
    answered: set[str] = set()
    while not finished(app):
        state = app.link.state
        if state and state.stage == "thinking" and state.turn == 4 and "Found it" in text_of(app) and "run" not in shot:
            shot.add("run")
            save(app, f"workbench-{size}")
        request: Any = app.asking.next()
        if request is not None and request.id not in answered:
            await until(pilot, lambda: type(app.screen).__name__ == "ApprovalDialog", "the dialog")
            await pilot.pause(0.2)
            if request.diff and "approval" not in shot:
                shot.add("approval")
                save(app, f"approval-{size}")
            if request.risk == "high":
                save(app, f"approval-high-{size}")
            answered.add(request.id)
            app.link.send(lambda session, request=request: decision(session, request))  # type: ignore[misc]
        await pilot.pause(0.05)
    save(app, f"finished-{size}")


def decision(session: str, request: Any) -> Decide:
    if request.risk == "high":
        return Decide(session, request.id, request.digest, "deny", reason=DENIAL)
    return Decide(session, request.id, request.digest, "once")


def finished(app: WorkbenchApp) -> bool:
    return bool(app.link.state and app.link.state.stage in ("finished", "failed"))


async def first_run(size: str, home: Path) -> None:
    app = WorkbenchApp(EngineHandle, EngineOptions(cwd=home))
    async with running(app, size) as pilot:
        await until(pilot, lambda: type(app.screen).__name__ == "FirstRunScreen", "the first-run screen")
        await until(pilot, lambda: "bwrap" in text_of(app), "the survey")
        save(app, f"first-run-{size}")


async def history(home: Path) -> None:
    """A few earlier sessions, really run, so that the list has something to show."""
    os.environ["AGENT_TUI_SCRIPT_WAITING"] = "0"
    for task, limits in (
        ("Which tests cover parse_amount, and do they pass?", {"max_turns": 3}),
        ("Make the suite green again", {}),
        ("Say what data/2026-01.txt adds up to", {"max_tool_calls": 6}),
    ):
        demo: DemoWorkspace = make_demo(home / "src")
        options = EngineOptions(cwd=demo.folder, model=demo.model, approve="sandboxed", **limits)  # type: ignore[arg-type]
        engine = Engine(options, lambda event: None, headless=True)
        runner = await engine.open(OpenSession())
        await engine.handle(SendMessage(runner.session.id, task))
        await runner.idle()
        await engine.close()


@asynccontextmanager
async def running(app: WorkbenchApp, size: str) -> AsyncIterator[Pilot[Any]]:
    async with app.run_test(size=SIZES[size], notifications=True) as pilot:
        yield pilot
        await asyncio.to_thread(app.link.close)


async def until(pilot: Pilot[Any], condition: Callable[[], object], what: str) -> None:
    """Wait on a condition; raises TimeoutError that names it."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                await pilot.pause(0.05)
    except TimeoutError:
        raise TimeoutError(f"never came: {what}\n{text_of(pilot.app)}") from None


def text_of(app: Any) -> str:
    """What the screen says, line by line."""
    return "\n".join("".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips())


def save(app: Any, name: str) -> None:
    """The screen as it is, as PNG."""
    picture(app.export_screenshot(title="agent-tui"), name)


def picture(svg: str, name: str) -> None:
    """An SVG as PNG, with a font whose characters fit their cells."""
    svg = svg.replace("Fira Code", FONT).replace("font-size: 20px", FONT_SIZE)
    cairosvg.svg2png(bytestring=svg.encode(), write_to=str(HERE / f"{name}.png"), output_width=1600)
    print(f"screenshots/{name}.png")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
