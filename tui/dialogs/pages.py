"""A text of any length to read in a dialog: one part of it is laid out, and again only when something has changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.segment import Segment

from tui.dialogs.lines import Lines
from tui.dialogs.parts import Parts

Laid = list[list[Segment]]


class Pages(Lines):
    """``turned`` is called when another part is to be read: it calls `laid` and shows what comes of it."""

    def __init__(self, turned: Callable[[], object], *, id: str) -> None:
        super().__init__(id=id)
        self._turned = turned
        self._laid: tuple[Laid, object] = ([], None)
        self.parts: Parts[Any] = Parts([""])

    def begin(self, parts: Sequence[Any]) -> None:
        """Another text, from its first part on."""
        self.parts = Parts(parts)

    def laid(self, lay: Callable[[Any], Laid], *seen: object) -> Laid:
        """The lines of the part that is read. ``seen``: all that they depend on besides."""
        of = (self.parts, self.parts.place, *seen)
        if of != self._laid[1]:
            self._laid = lay(self.parts.now), of
        return self._laid[0]

    def show(self, lines: Sequence[Sequence[Segment]], rows: int) -> None:
        super().show(lines, rows)
        if self.parts.place:
            # A part that is short makes no other box than the one before it.
            self.styles.height = max(1, rows)

    # --- reading -----------------------------------------------------------------------------------------------------

    def read_on(self) -> None:
        """A page further; from the end of all of it back to the beginning."""
        if self.hidden[1]:
            self.scroll_page_down(animate=False)
        else:
            self._turn(self.parts.turn(1))
            self.scroll_home(animate=False)

    def read_back(self) -> None:
        """A page back; from the beginning to the end of all of it."""
        if self.hidden[0]:
            self.scroll_page_up(animate=False)
        else:
            self._turn(self.parts.turn(-1))
            self.scroll_end(animate=False)

    def move(self, how: str) -> None:
        """``up``, ``down``, ``page_up``, ``page_down``, ``home`` or ``end``. Pages lead on into other parts, but not
        round."""
        above, below = self.hidden
        if how == "page_down" and not below and not self.parts.last:
            self.read_on()
        elif how == "page_up" and not above and not self.parts.first:
            self.read_back()
        else:
            if how in ("home", "end"):
                self._turn(self.parts.go(0 if how == "home" else -1))
            getattr(self, f"scroll_{how}")(animate=False)

    def _turn(self, another: bool) -> None:
        if another:
            self._turned()
