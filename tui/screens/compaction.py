"""The compactions of a session: what each did to the request and to every exact fact, and the way to take one back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.binding import BindingType

import themes
from tui.inspector import compaction as lines
from tui.inspector.keys import COMPACTIONS, STEER
from tui.look import one_line, spread
from tui.replay.keys import bound, hint_line
from tui.screens.lines_screen import LinesScreen
from tui.widgets.line import Line
from tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Resize

    from engine.commands import Command
    from engine.queries import CompactionLine, InspectedCompaction
    from tui.host import Ask


@dataclass(frozen=True, slots=True)
class Control:
    """What can be done to a session that is open here. ``automatic``: whether it compacts by itself now. ``seq``: the
    newest event, to see that there is more."""

    send: Callable[[Callable[[str], Command]], None]
    automatic: Callable[[], bool]
    seq: Callable[[], int]


class CompactionScreen(LinesScreen[None]):
    """``session``: an id, or the path of an exported file. Without ``control`` there is only looking."""

    CSS_PATH = themes.stylesheet("compaction")
    BINDINGS: ClassVar[list[BindingType]] = bound((*COMPACTIONS, *STEER))

    def __init__(self, ask: Ask, session: str, control: Control | None = None, number: int = 0) -> None:
        super().__init__()
        self._ask, self._session, self._control, self._number = ask, session, control, number
        self.found: InspectedCompaction | None = None
        self.listed: tuple[CompactionLine, ...] = ()
        self._lines: list[Text] = []
        self._seq = 0
        self._asking = 0

    def offered(self) -> tuple[Any, ...]:
        return (*STEER, *COMPACTIONS) if self._control else COMPACTIONS

    def compose(self) -> ComposeResult:
        yield Line(self._head, id="compaction-head")
        self.list = LineList(self.look, id="compaction-list")
        yield self.list
        self.text = LineList(self.look, id="compaction-text")
        yield self.text
        yield Line(lambda width: hint_line(self.offered(), width, self.look), id="compaction-keys")

    def _head(self, width: int) -> Text:
        roles = self.look.roles
        left = Text(f" compactions {len(self.listed)}" if self.listed else " compactions", style=roles.text)
        if self._asking:
            left = Text(f" {self.look.signs.risk} u again takes compaction {self._asking} back", style=roles.warn)
        right = Text("only to look at ", style=roles.muted)
        if self._control:
            on = self._control.automatic()
            right = Text(f"automatic {'on' if on else 'off'} ", style=roles.ok if on else roles.warn)
        return spread(left, right, width, self.look.signs.ellipsis)

    def on_mount(self) -> None:
        self.list.focus()
        self._say("reading the log")
        self._reload()

    # --- reading -----------------------------------------------------------------------------------------------------

    def _reload(self) -> None:
        self._seq = self._control.seq() if self._control else 0
        self.run_worker(self._read(), group="list", exclusive=True)

    def heard(self) -> None:
        """The engine said something: a session that goes on may have another compaction."""
        if self._control and self._control.seq() != self._seq:
            self._reload()
        self.query_one("#compaction-head").refresh()

    async def _read(self) -> None:
        from engine.queries import InspectCompactions

        try:
            listed = await self._ask(InspectCompactions(self._session))
        except Exception as error:
            self._say(_words(error))
            return
        if listed != self.listed or not listed:
            self._show_list(listed)

    def _show_list(self, listed: tuple[CompactionLine, ...]) -> None:
        at_newest = self.list.index >= len(self.listed) - 1
        self.listed = listed
        if not listed:
            self._say("Nothing was compacted in this session yet.")
            return
        numbers = [line.number for line in listed]
        at = numbers.index(self._number) if self._number in numbers and not at_newest else len(listed) - 1
        if self._number in numbers and self.found is None:
            at = numbers.index(self._number)
        self.list.styles.height = min(len(listed), max(3, self.size.height // 4))
        self.list.show(len(listed), lambda n, width: lines.compaction_line(self.listed[n], width, self.look), at)
        self._choose()
        self.query_one("#compaction-head").refresh()

    def _choose(self) -> None:
        self._number = self.listed[self.list.index].number
        self.run_worker(self._read_one(self._number), group="one", exclusive=True)

    async def _read_one(self, number: int) -> None:
        from engine.queries import InspectCompaction

        try:
            self.found = await self._ask(InspectCompaction(self._session, number))
        except Exception as error:
            self.notify(_words(error), severity="warning", markup=False)
            return
        self._lay_out()

    # --- showing -----------------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        if self.found is not None:
            self._lines = lines.detail(self.found, max(20, self.size.width - 2), self.look)
            self.text.show(len(self._lines), lambda n, width: self._lines[n], 0)

    def _say(self, words: str) -> None:
        self.found, self._lines = None, []
        self.list.styles.height = 1
        self.list.show(1, lambda n, width: Text(f"  {one_line(words)}", style=self.look.roles.muted))
        self.text.show(0, lambda n, width: Text())

    def dress(self) -> None:
        super().dress()
        self._lay_out()

    def on_resize(self, event: Resize) -> None:
        self._lay_out()

    def on_row_list_moved(self) -> None:
        if self.listed and self.listed[self.list.index].number != self._number:
            self._asking = 0
            self._choose()

    def on_row_list_opened(self) -> None:
        self.action_pane()

    # --- keys --------------------------------------------------------------------------------------------------------

    def action_pane(self) -> None:
        (self.text if self.list.has_focus else self.list).focus()

    def action_undo(self) -> None:
        """Asks once: the second time it is done. Only the newest in force can be taken back."""
        from engine.commands import UndoCompaction

        standing = [line.number for line in self.listed if not line.undone and line.kind != "handoff"]
        if self._control is None:
            self.notify("This session is not open here: there is only looking.", markup=False)
        elif not standing:
            self.notify("There is no compaction to take back.", markup=False)
        elif self._asking == standing[-1]:
            self._asking = 0
            self._control.send(UndoCompaction)
        else:
            self._asking = standing[-1]
        self.query_one("#compaction-head").refresh()

    def action_automatic(self) -> None:
        from engine.commands import ChangeSetting

        if self._control is None:
            self.notify("This session is not open here: there is only looking.", markup=False)
            return
        value = "off" if self._control.automatic() else "auto"
        self._control.send(lambda session: ChangeSetting(session, "compaction", value))

    def action_now(self) -> None:
        from engine.commands import Compact
        from tui.screens.ask_text import AskText

        control = self._control
        if control is None:
            self.notify("This session is not open here: there is only looking.", markup=False)
            return

        def compact(focus: str | None) -> None:
            if focus is not None:
                control.send(lambda session: Compact(session, focus))

        self.app.push_screen(AskText("Compact now", "", "What to keep above all; may stay empty."), compact)

    def action_back(self) -> None:
        self.dismiss(None)


def _words(error: Exception) -> str:
    return f"{error or type(error).__name__} {getattr(error, 'suggestion', '')}".rstrip()
