"""The bytes of one row of the inspector, and, where the request broke, of what stood there before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import BindingType

import themes
from tui.inspector.bytes import ByteLine, Section, byte_line, byte_lines
from tui.inspector.keys import BYTES
from tui.look import spread
from tui.replay.keys import bound, hint_line
from tui.screens.lines_screen import LinesScreen
from tui.widgets.line import Line
from tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Resize

    from tui.actions import Action


class BytesScreen(LinesScreen[None]):
    """Shows ``sections`` under ``title``, from the first difference on where there is one."""

    CSS_PATH = themes.stylesheet("inspector")
    BINDINGS: ClassVar[list[BindingType]] = bound(BYTES)

    def __init__(self, title: str, sections: tuple[Section, ...]) -> None:
        super().__init__()
        self._title, self._sections = title, sections
        self._lines: tuple[ByteLine, ...] = ()

    def offered(self) -> Sequence[Action]:
        return BYTES

    def compose(self) -> ComposeResult:
        yield Line(self._head, id="inspector-head")
        self.list = LineList(self.look, id="inspector-list")
        yield self.list
        yield Line(lambda width: hint_line(BYTES, width, self.look), id="inspector-keys")

    def _head(self, width: int) -> Text:
        octets = sum(len(section.text.encode("utf-8", "replace")) for section in self._sections)
        return spread(Text(f" {self._title}"), Text(f"{octets:,} bytes ", style=self.look.roles.muted), width)

    def on_mount(self) -> None:
        self.list.focus()
        self.call_after_refresh(self.action_difference)

    def on_resize(self, event: Resize) -> None:
        self._lines = byte_lines(self._sections, event.size.width - 1)
        self.list.show(len(self._lines), self._draw, self.list.index)

    def _draw(self, index: int, width: int) -> Text:
        return byte_line(self._lines[index], width, self.look)

    def action_difference(self) -> None:
        """To the next line with a difference, round and round."""
        marked = [n for n, line in enumerate(self._lines) if line.mark >= 0]
        if marked:
            here = self.list.index
            self.list.show(len(self._lines), self._draw, next((n for n in marked if n > here), marked[0]))

    def action_back(self) -> None:
        self.dismiss(None)
