"""Real stored sessions and the replay browser over a real engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

from textual.pilot import Pilot

from engine import events as ev
from engine.events import Event
from engine.handle import EngineHandle
from engine.log import LogStore
from engine.options import EngineOptions
from engine.paths import Home
from tui.replay_app import ReplayApp
from tui.screens.player import PlayerScreen
from tui.screens.sessions import SessionsScreen

AT = datetime(2026, 11, 30, 10, 2, tzinfo=UTC)
CONTROLS = "\x1b[?1049h\x1b[?1003h\x1b]0;owned\x07\x1b[2Jred \x1b[31mtext"


def home_of(root: Path) -> Home:
    with patch.dict("os.environ", {"AGENT_TUI_HOME": str(root / "home")}):
        return Home.here()


def store(root: Path, events: Sequence[Event], *, close: bool = True) -> str:
    """Store a session; its id."""
    writer = LogStore(home_of(root)).create()
    for event in events:
        writer.append(event)
    if close:
        writer.close()
    return writer.session


def timed(events: Sequence[Event], seconds: Sequence[float] = ()) -> tuple[Event, ...]:
    """The events as the log gives them back, ``seconds`` after the first (one second apart when not given)."""
    times = seconds or range(len(events))
    return tuple(
        event.model_copy(update={"session": "s", "seq": n, "at": AT + timedelta(seconds=after)})
        for n, (event, after) in enumerate(zip(events, times, strict=True), 1)
    )


def call(id: str, name: str, **given: Any) -> ev.ToolCall:
    return ev.ToolCall(id=id, name=name, input=given)


def asked(id: str, call_id: str, subject: str, risk: str = "medium") -> ev.ApprovalRequested:
    return ev.ApprovalRequested.model_validate(
        {"id": id, "digest": id, "call_id": call_id, "tool": "shell_run", "kind": "command", "subject": subject,
         "cwd": "/src", "policy": "workspace", "risk": risk}
    )  # fmt: skip


def result(call_id: str, turn: int, status: str = "ok", **more: Any) -> ev.ToolResult:
    data = {"call_id": call_id, "turn": turn, "name": "shell_run", "status": status, "text": "out", **more}
    return ev.ToolResult.model_validate(data)


def said(turn: int, text: str, *calls: ev.ToolCall, **more: Any) -> ev.AssistantMessage:
    usage = ev.Usage(input_uncached=100, cache_read=900, output=20)
    blocks = (ev.TextBlock(text=text), *calls)
    return ev.AssistantMessage(turn=turn, model="anthropic/claude-x", blocks=blocks, usage=usage, cost=0.01, **more)


TRACK = ((0, 8), (300, 16), (600, 24), (1000, 48))


def demo_events(cwd: str = "/src/shop") -> list[Event]:
    """An error, an approval given, one denied, a compaction, a steering message, an interruption."""
    streamed = ev.Timing(first_token=0.4, total=1.5, track=TRACK)
    return [
        ev.SessionStarted(cwd=cwd, model="anthropic/claude-x", app_version="1"),
        ev.UserMessage(text="Fix the login test"),
        ev.RunStarted(limits=ev.Limits(turns=20)),
        ev.TurnStarted(turn=1, model="anthropic/claude-x"),
        said(1, "I run the tests first...", call("c1", "shell_run", command="pytest -q"), timing=streamed),
        ev.ToolStarted(call_id="c1", turn=1, name="shell_run", title="pytest -q"),
        result("c1", 1, "error", text=CONTROLS, summary="1 failed", error="exit code 1", exit_code=1),
        ev.TodoChanged(text="- [ ] mend it", items=(ev.TodoItem(text="mend it"),)),
        ev.TurnStarted(turn=2, model="anthropic/claude-x"),
        said(2, "Now the edit.", call("c2", "shell_run", command="sed -i s/a/b/ x.py")),
        ev.ToolStarted(call_id="c2", turn=2, name="shell_run", title="sed -i s/a/b/ x.py"),
        asked("a1", "c2", "sed -i s/a/b/ x.py"),
        ev.ApprovalDecided(id="a1", digest="a1", choice="once"),
        result("c2", 2, files_written=("x.py",)),
        ev.UserMessage(text="Also keep the old name", kind="steer"),
        ev.Compacted(number=1, kind="summary", reason="asked", summary="so far", tokens_before=900, tokens_after=90),
        ev.TurnStarted(turn=3, model="anthropic/claude-x"),
        said(3, "Publishing.", call("c3", "shell_run", command="git push")),
        ev.ToolStarted(call_id="c3", turn=3, name="shell_run", title="git push"),
        asked("a2", "c3", "git push", "high"),
        ev.ApprovalDecided(id="a2", digest="a2", choice="deny", reason="not today"),
        result("c3", 3, "denied"),
        ev.TurnStarted(turn=4, model="anthropic/claude-x"),
        said(4, "I was about to", stop="aborted", aborted=True),
        ev.RunFinished(reason="interrupted"),
    ]  # fmt: skip


def store_demo(root: Path, cwd: str = "/src/shop") -> str:
    return store(root, demo_events(cwd))


def long_session(turns: int) -> list[Event]:
    """Four events a turn, an approval in every hundredth."""
    events: list[Event] = [ev.SessionStarted(cwd="/src", model="m/m", app_version="1"), ev.UserMessage(text="go")]
    for turn in range(1, turns + 1):
        id = f"c{turn}"
        events += [
            ev.TurnStarted(turn=turn, model="m/m"),
            said(turn, f"step {turn}", call(id, "shell_run", command="ls")),
            ev.ToolStarted(call_id=id, turn=turn, name="shell_run", title="ls"),
            *([asked(f"a{turn}", id, "ls")] if turn % 100 == 0 else []),
            result(id, turn),
        ]
    return events


@dataclass
class Browser:
    app: ReplayApp
    pilot: Pilot[Any]

    async def until(self, holds: Callable[[], Any], what: str = "") -> None:
        """Wait until a condition holds; fail when it does not within a generous time."""
        for _ in range(1500):
            await self.pilot.pause()
            if holds():
                return
            await asyncio.sleep(0.004)
        raise AssertionError(f"never happened: {what}\n{self.text()}")

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    @property
    def player(self) -> PlayerScreen | None:
        return self.app.screen if isinstance(self.app.screen, PlayerScreen) else None

    @property
    def sessions(self) -> SessionsScreen:
        assert isinstance(self.app.screen, SessionsScreen)
        return self.app.screen

    async def playing(self) -> PlayerScreen:
        """The player, once it shows a session as of its position."""
        await self.until(lambda: self.player and self.player.projector and self.player.projector.settled, "the player")
        assert self.player is not None
        return self.player

    async def settled(self) -> None:
        """Wait until the transcript shows where the player is."""
        await self.playing()
        await self.pilot.pause()

    def text(self) -> str:
        """What can be read on the screen now."""
        lines = self.app.screen._compositor.render_strips(self.app.size)
        return "\n".join("".join(segment.text for segment in line).rstrip() for line in lines)


@asynccontextmanager
async def browser(
    root: Path, session: str = "", *, size: tuple[int, int] = (120, 40), app: type[ReplayApp] = ReplayApp
) -> AsyncIterator[Browser]:
    """The browser in the folder ``root``, whose home lies below it."""
    with patch.dict("os.environ", {"AGENT_TUI_HOME": str(root / "home")}):
        replay = app(EngineHandle, EngineOptions(cwd=root), session)
        try:
            async with replay.run_test(size=size, notifications=True) as pilot:
                yield Browser(replay, pilot)
        finally:
            replay.link.close()
