"""The editor of the todo pane. Apart from the pane, since most sessions never need one."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from tui.widgets.shown_area import ShownArea


class TodoEditor(ShownArea):
    """todo.md being edited by a person."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "Save todo.md"),
        Binding("escape", "leave", "Leave; the draft is kept"),
    ]

    class Save(Message):
        """Write this text."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Leave(Message):
        """Go back to the list."""

    def action_save(self) -> None:
        self.post_message(self.Save(self.text))

    def action_leave(self) -> None:
        self.post_message(self.Leave())
