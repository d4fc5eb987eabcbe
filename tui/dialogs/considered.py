"""A dialog that is answered on purpose: keys count only when it could be read and nobody is in the middle of typing."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import TypeVar, cast

from textual import events
from textual.screen import ModalScreen
from textual.timer import Timer

from tui.dialogs.grace import PAUSE, Grace
from tui.theming import Themed
from tui.transcript.look import Look
from tui.widgets.composer_area import Area

Result = TypeVar("Result")

READING = frozenset({"up", "down", "pageup", "pagedown", "home", "end"})
"""Keys that only move what is being read: harmless at any time."""


class Considered(ModalScreen[Result]):
    """``typed_at``: when a key was pressed last before it came, by ``clock``."""

    AUTO_FOCUS = ""

    def __init__(self, typed_at: float, clock: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self.grace = Grace(clock, typed_at)
        self._over: Timer | None = None
        self._settled = False

    def say(self, words: str) -> None:
        """Show a word to the person where they look; '' takes it away."""
        raise NotImplementedError

    def settle(self, result: Result) -> None:
        """Close with the person's answer; the first one counts."""
        if not self._settled:
            self._settled = True
            self.dismiss(result)

    def put_aside(self, words: str) -> None:
        """Close without an answer, and say on the screen below that it waits."""
        app = self.app
        self.dismiss(None)
        app.call_later(partial(app.notify, words, markup=False))

    def dress(self) -> None:
        """Draw everything anew: the theme changed."""
        raise NotImplementedError

    def unknown_key(self, key: str) -> None:
        """A key that means nothing here."""

    @property
    def entering(self) -> bool:
        """Whether a text is being typed into the dialog."""
        return self.focused is not None

    def look(self) -> Look:
        """Colours and signs as they are now."""
        app = cast(Themed, self.app)
        return Look.in_app(app, app.look.signs)

    def on_mount(self) -> None:
        self.watch(self.app, "app_focus", self._on_terminal_focus, init=False)
        self.app.theme_changed_signal.subscribe(self, lambda _: self.dress())

    def on_screen_resume(self) -> None:
        """On screen, for the first time or again: the time to read begins when it was painted."""
        self.grace.shown()
        self.call_after_refresh(self.grace.shown)

    def _on_terminal_focus(self, focused: bool) -> None:
        if focused:
            self.grace.shown()

    async def on_key(self, event: events.Key) -> None:
        """Every key is judged, and what it does is done, before the next one is looked at."""
        if self.entering:
            self._pass_on(event)
        elif event.key not in READING:
            event.stop()
            event.prevent_default()
            if not self.grace.counts():
                self._say_grace()
            else:
                await self.press(event)

    async def press(self, event: events.Key) -> None:
        """A key that counts."""
        bound = self._bindings.key_to_bindings.get(event.key)
        if bound:
            await self.run_action(bound[-1].action)
        else:
            self.unknown_key(event.key)

    def _pass_on(self, event: events.Key) -> None:
        """A letter typed before the text it was meant for had the focus."""
        if event.is_printable and event.character and isinstance(self.focused, Area):
            event.stop()
            self.focused.put(event.character)

    def on_paste(self, event: events.Paste) -> None:
        """A paste answers nothing; it is typing."""
        event.stop()
        if not self.entering and not self.grace.counts():
            self._say_grace()

    def _say_grace(self) -> None:
        left = self.grace.left
        if self.grace.typing:
            self.say(f"you were typing: keys count after a pause of {PAUSE:.0f} s")
        else:
            self.say(f"keys count in {math.ceil(left * 10) / 10:.1f} s")
        if self._over is not None:
            self._over.stop()
        self._over = self.set_timer(left, self._grace_over)

    def _grace_over(self) -> None:
        self._over = None
        if self.grace.left > 0:
            self._say_grace()
        else:
            self.say("")
