"""One line of text a person types or pastes: a search, a title, a value. What is read in it is what it holds."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from engine.text import visible
from tui.widgets.removable import Removable

LONGEST = 4_000
"""Characters that can be pasted into a line; more was meant for something else."""


class TextLine(Removable, Input):
    """Textual's line without a blinking cursor. What a terminal would obey is put in as its picture, and a paste of
    several lines becomes one line; nothing of it is left out without a word."""

    def __init__(self, value: str = "", *, placeholder: str = "", id: str, compact: bool = False) -> None:
        super().__init__(_on_one_line(value), placeholder, id=id, compact=compact, select_on_focus=False)
        self.cursor_blink = False

    def validate_value(self, value: str) -> str:
        return _on_one_line(value)

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        text = _on_one_line(event.text.strip("\r\n"))
        if len(text) > LONGEST:
            self.app.notify(
                f"{len(text):,} characters are too many for this line: nothing was put in.", severity="warning",
                markup=False,
            )  # fmt: skip
        elif text:
            self.replace(text, *self.selection)


def _on_one_line(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return visible(text).replace("\n", " ").replace("\t", " ")
