"""The narrowest stand-ins for parts of the workbench that have a home of their own, so that its tests are about it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual.app import ComposeResult
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.widgets import Static, TextArea

from engine.commands import Decide


class Transcript(Static, can_focus=True):
    def __init__(self, **how: Any) -> None:
        super().__init__("transcript", id=how.get("id"))
        self.events: list[Any] = []
        self.unseen = 0

    def feed(self, events: Iterable[Any]) -> None:
        fresh = list(events)
        self.events += fresh
        self.unseen += len(fresh)

    def clear(self) -> None:
        self.events, self.unseen = [], 0


class Composer(TextArea):
    DEFAULT_CSS = "Composer { height: 1; border: none; padding: 0 1; }"

    class Submitted(Message):
        def __init__(self, text: str, kind: str) -> None:
            super().__init__()
            self.text, self.kind = text, kind

    class Slash(Message):
        def __init__(self, command: str, argument: str = "") -> None:
            super().__init__()
            self.command, self.argument = command, argument

    class TakeBack(Message):
        pass

    running = False

    def __init__(self) -> None:
        super().__init__()
        self.cursor_blink = False

    def set_text(self, text: str) -> None:
        self.text = text

    def recall(self, entries: Any, elsewhere: Any = ()) -> None:
        pass


class Dialog(ModalScreen[Any]):
    def __init__(self, request: Any, place: tuple[int, int], whose: str = "") -> None:
        super().__init__()
        self.request, self.place, self.whose = request, place, whose

    def compose(self) -> ComposeResult:
        yield Static("answer me", markup=False)

    def key_y(self) -> None:
        if self.request.type == "question_asked":
            self.dismiss("yes")
        else:
            self.dismiss(Decide(self.request.session, self.request.id, self.request.digest, "once"))

    def key_escape(self) -> None:
        self.dismiss(None)


class Sessions(Screen[Any]):
    def compose(self) -> ComposeResult:
        yield Static("sessions")

    def key_enter(self) -> None:
        self.dismiss("old-session")
