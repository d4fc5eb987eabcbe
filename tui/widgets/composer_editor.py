"""The composer's text: what a key, a paste or a paste that looks like keys does to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

from rich.style import Style
from rich.text import Text
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.timer import Timer

from tui.roles import Roles
from tui.widgets.composer_area import JOINERS, Area
from tui.widgets.composer_burst import QUIET, Burst
from tui.widgets.composer_pastes import Pastes, tidy
from tui.widgets.composer_terminal import teach_textual

Kind = Literal["steer", "follow_up"]


AT_ONCE = ("delete_", "cursor_left", "cursor_right", "cursor_word_", "cursor_line_")
"""What begins the names of actions that the text does itself; those that others use as well go the long way."""

teach_textual()


class Editor(Area):
    """``enter`` is called, before any later key counts, with the kind of message a person wants to send."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("shift+enter,ctrl+j", "newline", "New line", show=False)]

    def __init__(self, pastes: Pastes, enter: Callable[[Kind], None]) -> None:
        self._pastes, self._enter = pastes, enter
        super().__init__(id="composer-text")
        self._burst = Burst()
        self._seen = 0
        self._quiet: Timer | None = None

    def chips(self, line: str) -> list[tuple[int, int]]:
        return self._pastes.spans(line)

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        for start, end in self.chips(line.plain):
            line.stylize(Roles.from_variables(self.app.theme_variables).accent + Style(italic=True), start, end)
        return line

    def load(self, draft: str) -> None:
        """Show another draft, the cursor at its end."""
        self.load_text(draft)
        self.move_cursor(self.document.end)

    # --- keys --------------------------------------------------------------------------------------------------------

    async def _on_key(self, event: events.Key) -> None:
        text = _typed(event)
        if text is None:
            self._burst.other()
            self._flush()
            if event.key == "alt+enter":
                event.stop()
                self._enter("follow_up")
            else:
                await self._do_at_once(event)
            return
        if event.key == "tab" and not self._burst.holds:
            return
        event.stop()
        event.prevent_default()
        if self._burst.key(text, event.time):
            self._await_quiet()
        elif event.key == "enter":
            self._enter("steer")
        else:
            self.put(text)

    async def _do_at_once(self, event: events.Key) -> None:
        """Delete or move here and now. Left to the app's bindings, the key would come after the text typed behind it
        when both arrive together, as they do over a slow line."""
        bindings = self._bindings.key_to_bindings.get(event.key, [])
        action = next((binding.action for binding in bindings if binding.action.startswith(AT_ONCE)), None)
        if action is not None:
            event.stop()
            event.prevent_default()
            await self.run_action(action)

    def action_newline(self) -> None:
        self.put("\n")

    def _await_quiet(self) -> None:
        if self._quiet is None:
            self._seen = self._burst.holds
            self._quiet = self.set_timer(QUIET, self._maybe_quiet)

    def _maybe_quiet(self) -> None:
        """More has come meanwhile: wait on. Otherwise the burst is over."""
        self._quiet = None
        if self._burst.holds > self._seen:
            self._await_quiet()
        else:
            self._flush()

    def _flush(self) -> None:
        """Put in what was kept back, together with the quick keys before it when it is to become a chip."""
        if not self._burst.holds:
            return
        text, sends = self._burst.take()
        row, column = self.cursor_location
        start = max(0, column - self._burst.lead)
        whole = self.document[row][start:column] + text
        if self._pastes.wants(whole):
            self.replace(self._pastes.chip(whole), (row, start), (row, column), maintain_selection_offset=False)
        elif text:
            self.put(text)
        if sends:
            self._enter("steer")

    # --- paste, copy -------------------------------------------------------------------------------------------------

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._burst.paste(event.time)
        self._flush()
        self._paste(event.text)

    def action_paste(self) -> None:
        self._paste(self.app.clipboard)

    def _paste(self, text: str) -> None:
        text = tidy(text)
        if text:
            self.put(self._pastes.chip(text) if self._pastes.wants(text) else text)

    def action_copy(self) -> None:
        """Copy what is selected, chips in full. With nothing selected the key is free for others."""
        if not self.selected_text:
            raise SkipAction
        self.app.copy_to_clipboard(self._pastes.expand(self.selected_text))


def _typed(event: events.Key) -> str | None:
    """The text a key stands for; None for keys that are no text."""
    if event.key in ("enter", "ctrl+j"):
        return "\n"
    if event.key == "tab":
        return "\t"
    return event.character if event.is_printable or event.character in JOINERS else None
