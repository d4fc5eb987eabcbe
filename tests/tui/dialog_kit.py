"""Requests to show, a clock that tests turn, and an app that shows a dialog over a composer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import ModalScreen

import themes
from engine import events as ev
from engine.queries import RuleTrial
from tui.dialogs.approval import ApprovalDialog
from tui.dialogs.grace import PAUSE
from tui.theming import Themed
from tui.widgets.composer import Composer
from tui.widgets.composer_terminal import PasteParser

TYPED = {"space": " ", "enter": "\r", "tab": "\t"}
MARKUP = "[/ [bold [id=1,x=y] [/b] [red]x"


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def rest(self) -> None:
        """Long enough for keys to count."""
        self.now += PAUSE + 0.1


class Desk(Themed):
    """A composer, what it said, and what dialogs came back with."""

    CSS_PATH = themes.stylesheet("workbench")
    CSS = "#slot { height: auto; }"

    def __init__(self, files: Sequence[str] = (), history: Sequence[str] = (), theme: str = "") -> None:
        super().__init__(theme, environ={})
        self.said: list[Any] = []
        self.answers: list[Any] = []
        self.asked: list[str] = []
        self.trouble = ""
        self._files = files
        slash = [("help", "Keys and commands"), ("model", "NAME  Change the model"), ("find", "TEXT  Search")]
        self.composer = Composer(self._complete, slash, history)

    async def _complete(self, text: str) -> tuple[str, ...]:
        self.asked.append(text)
        if self.trouble:
            raise RuntimeError(self.trouble)
        return tuple(path for path in self._files if text in path)

    def compose(self) -> ComposeResult:
        with Vertical(id="slot"):
            yield self.composer

    def on_composer_submitted(self, message: Composer.Submitted) -> None:
        self.said.append((message.kind, message.text))

    def on_composer_slash(self, message: Composer.Slash) -> None:
        self.said.append(("/" + message.command, message.argument))

    def on_composer_take_back(self) -> None:
        self.said.append("take back")

    def show(self, dialog: ModalScreen[Any]) -> None:
        self.push_screen(dialog, self.answers.append)

    def screen_text(self) -> str:
        """What can be read on the screen now."""
        lines = self.screen._compositor.render_strips(self.size)
        return "\n".join("".join(segment.text for segment in line).rstrip() for line in lines)


@dataclass
class Hands:
    """A person at the terminal: every key a second after the one before, whatever the computer is doing."""

    app: Desk
    pilot: Pilot[Any]
    at: float = 1000.0

    async def until(self, holds: Callable[[], Any], what: str) -> None:
        """Wait until a condition holds; fail when it does not within a generous time."""
        for _ in range(4000):
            if holds():
                return
            await asyncio.sleep(0.002)
        raise AssertionError(f"never happened: {what}")

    async def sees(self, *words: str) -> None:
        """Wait until all of it can be read."""
        await self.until(lambda: all(word in self.app.screen_text() for word in words), f"on screen: {words}")

    async def press(self, *keys: str) -> None:
        """Press keys by their names, one by one."""
        for key in keys:
            known = len(key) > 1
            for event in [events.Key(key, TYPED.get(key))] if known else PasteParser().feed(key):
                await self._send(event)

    async def type(self, text: str) -> None:
        """Type a text, key by key."""
        await self.press(*text)

    async def paste(self, text: str) -> None:
        """Paste in brackets."""
        await self._send(events.Paste(text))

    async def write(self, data: str) -> None:
        """What a terminal sends in one write."""
        self.at += 1
        for event in PasteParser().feed(data):
            event.time = self.at
            self.app.post_message(event)
        await self.pilot.pause()

    async def _send(self, event: Message) -> None:
        self.at += 1
        event.time = self.at
        self.app.post_message(event)
        await self._handled()

    async def _handled(self) -> None:
        """Wait until the message has gone its way through the app, the screen and what has the focus."""
        quiet = 0
        while quiet < 12:
            await asyncio.sleep(0)
            nodes = (self.app, self.app.screen, *self.app.screen.walk_children())
            quiet = 0 if any(node.message_queue_size for node in nodes) else quiet + 1


def request(**fields: Any) -> ev.ApprovalRequested:
    facts: dict[str, Any] = {
        "session": "s1", "id": "a1", "digest": "d-a1", "call_id": "c1", "tool": "shell_run", "kind": "command",
        "subject": "git push origin main", "cwd": "/src/shop", "policy": "workspace", "risk": "medium",
        "reasons": ("leaves this machine",), "effects": ("send commits to example.org:443",), "spots": ((4, 8),),
        "contained": False, "rule": "allow shell git push *", "executable": "/usr/bin/git", "sha256": "3f9a" * 16,
        "env_names": ("TOKEN",),
    }  # fmt: skip
    return ev.ApprovalRequested.model_validate(facts | fields)


def approval(
    clock: Clock, trials: dict[str, Any] | None = None, typed_at: float | None = None, **fields: Any
) -> ApprovalDialog:
    """A dialog by ``clock``; ``trials``: what rules would have allowed, or the error a trial ends with."""

    async def try_rule(rule: str) -> RuleTrial:
        found = (trials or {}).get(rule, RuleTrial(("git push origin next",)))
        if isinstance(found, Exception):
            raise found
        assert isinstance(found, RuleTrial)
        return found

    before = float("-inf") if typed_at is None else typed_at
    return ApprovalDialog(request(**fields), 1, 2, try_rule, before, clock)
