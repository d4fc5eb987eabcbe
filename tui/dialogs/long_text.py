"""A considered dialog about a text that may be long: the keys that read it, and the line that says what is left."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType

from tui.dialogs.considered import Considered, Result
from tui.dialogs.pages import Pages
from tui.look import spread
from tui.transcript.look import Look


class LongText(Considered[Result]):
    """A dialog adds ``pages`` to what it is composed of, and draws what is out of sight in `draw_more`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v,tab", "read_on", "Read on"),
        Binding("b,shift+tab", "read_back", "Read back"),
        Binding("up,k", "scroll('up')", "Scroll", show=False),
        Binding("down,j", "scroll('down')", "Scroll", show=False),
        Binding("pageup", "scroll('page_up')", "Scroll", show=False),
        Binding("pagedown", "scroll('page_down')", "Scroll", show=False),
        Binding("home", "scroll('home')", "Scroll", show=False),
        Binding("end", "scroll('end')", "Scroll", show=False),
    ]
    pages: Pages

    def draw_more(self) -> None:
        """Say how much is out of sight."""
        raise NotImplementedError

    def on_lines_moved(self) -> None:
        self.draw_more()

    def action_read_on(self) -> None:
        self.pages.read_on()

    def action_read_back(self) -> None:
        self.pages.read_back()

    def action_scroll(self, how: str) -> None:
        self.pages.move(how)


def out_of_sight(pages: Pages, width: int, look: Look) -> Text:
    """How much there is to scroll to, and the part that is laid out where there are several; nothing when all is in
    sight."""
    above, below = pages.hidden
    place = pages.parts.place
    words = [f"{below:,} more below"] if below else []
    words += [f"{above:,} above"] if above else []
    words += [place] if place else []
    if not words:
        return Text()
    keys = "v reads on, b back" if above or place else "v reads on"
    text = Text(f"{look.signs.more} {', '.join(words)}", look.roles.warn)
    return spread(text, Text(keys, look.roles.muted), width, look.signs.ellipsis)
