"""What a person types into a dialog: a reason, a rule, another command, an answer."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from tui.widgets.shown_area import ShownArea


class Entry(ShownArea):
    """Enter is done with it; where ``lines`` are wanted Enter makes a new one and F5 (or Ctrl+Enter) is done."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5,ctrl+enter", "done", "Done with the text"),
        Binding("escape", "leave", "Leave the text"),
        Binding("shift+enter,ctrl+j", "newline", "New line"),
    ]

    class Done(Message):
        """The person is done; ``text`` as it stands."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """The person wants to go back."""

    def __init__(self, text: str = "", *, lines: bool = False, id: str | None = None) -> None:
        super().__init__(text, id=id)
        self._lines = lines
        self.move_cursor(self.document.end)

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter" and not self._lines:
            event.stop()
            event.prevent_default()
            self.action_done()

    def action_done(self) -> None:
        self.post_message(self.Done(self.text))

    def action_leave(self) -> None:
        self.post_message(self.Left())

    def action_newline(self) -> None:
        self.put("\n")
