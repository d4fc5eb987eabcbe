"""Showing what waits for a person: one dialog at a time, never while someone is typing, closed when it was settled."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from engine.commands import AnswerQuestion
from tui import slots
from tui.asking import TYPING_PAUSE, Asking, Key, key_of
from tui.bridge import FRAME

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.timer import Timer

    from tui.host import Host


class Presenter:
    """Shows the requests of ``asking``, those of the session in sight before those of others."""

    def __init__(self, app: Host, asking: Asking) -> None:
        self._app = app
        self._asking = asking
        self._typed_at = -TYPING_PAUSE
        self._dialog: tuple[Key, Screen[Any]] | None = None
        self._pause: Timer | None = None

    def typed(self) -> None:
        """A key was pressed."""
        self._typed_at = monotonic()

    def present(self) -> None:
        """Show the next request; close the one shown if it was settled elsewhere."""
        if self._dialog:
            key, screen = self._dialog
            if not self._asking.waits(key) and screen.is_active:
                screen.dismiss(None)
            return
        shown = self._app.link.session
        request = self._asking.next(shown)
        if request is None or self._app.leaving or self._pause is not None:
            return
        rest = self._typed_at + TYPING_PAUSE - monotonic()
        if rest > 0:
            self._pause = self._app.set_timer(max(rest, FRAME), self._pause_over)
            return
        key = key_of(request)
        screen = slots.dialog(request, self._asking.place(key, shown), self._app.ask, self._whose(request))
        self._dialog = (key, screen)
        self._app.push_screen(screen, lambda answer: self._answered(request, answer))

    def recall(self) -> None:
        """A person asks for what waits."""
        self._asking.recall()
        self._typed_at = -TYPING_PAUSE
        if self._pause is not None:
            self._pause.stop()
            self._pause = None
        self.present()

    def _whose(self, request: Any) -> str:
        """Which session asks, where more than one could."""
        tabs = self._app.link.tabs
        tab = tabs.of(request.session)
        return f"{tab.title} · tab {tabs.number(tab)}" if tab and tabs.several else ""

    def _pause_over(self) -> None:
        self._pause = None
        self.present()

    def _answered(self, request: Any, answer: Any) -> None:
        self._dialog = None
        key = key_of(request)
        if answer is None:
            if self._asking.waits(key):
                self._asking.put_aside(key)
        else:
            self._asking.settle(key)
            if isinstance(answer, str):
                answer = AnswerQuestion(request.session, request.id, answer)
            self._app.tell(answer)
        self._app.call_later(self.present)
