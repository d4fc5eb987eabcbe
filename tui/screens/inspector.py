"""The context inspector: each request as it was sent, what of it was cached, and why the cache ever broke."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import BindingType

import themes
from tui.inspector import lines, rows
from tui.inspector.bytes import Section
from tui.inspector.keys import INSPECTOR
from tui.look import one_line
from tui.replay.keys import bound, hint_line
from tui.screens.lines_screen import LinesScreen
from tui.widgets.line import Line
from tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from engine.queries import InspectedRequest, RequestLine
    from tui.actions import Action
    from tui.host import Ask
    from tui.screens.compaction import Control


class InspectorScreen(LinesScreen[None]):
    """``session``: an id, or the path of an exported file. ``turn``: which request to begin with, 0 for the newest.
    ``control``: of a session that is open here."""

    CSS_PATH = themes.stylesheet("inspector")
    BINDINGS: ClassVar[list[BindingType]] = bound(INSPECTOR)
    VERTICAL_BREAKPOINTS = [(0, "-short"), (14, "-low"), (20, "-tall")]  # noqa: RUF012

    def __init__(self, ask: Ask, session: str, turn: int = 0, control: Control | None = None) -> None:
        super().__init__()
        self._control = control
        self._ask, self._session, self._turn = ask, session, turn
        self.request: InspectedRequest | None = None
        self.requests: tuple[RequestLine, ...] = ()
        self.rows: tuple[rows.Row, ...] = ()
        self.folded = True

    def offered(self) -> Sequence[Action]:
        return INSPECTOR

    def compose(self) -> ComposeResult:
        self.list = LineList(self.look, id="inspector-list")
        yield Line(lambda width: lines.head_line(self.request, width, self.look), id="inspector-head")
        yield Line(lambda width: lines.prediction_line(self.request, width, self.look), id="inspector-prediction")
        yield Line(self._chart, id="inspector-chart")
        yield Line(lambda width: rows.heading_line(width - 1, self.look), id="inspector-headings")
        yield self.list
        yield Line(lambda width: lines.against_lines(self.request, width, self.look), id="inspector-against")
        yield Line(lambda width: hint_line(INSPECTOR, width, self.look), id="inspector-keys")

    def _chart(self, width: int) -> Text:
        return lines.chart(self.requests, self.request.turn, width, self.look) if self.request else Text()

    def on_mount(self) -> None:
        self.list.focus()
        self._say("reading the log")
        self._go(self._turn)
        self.run_worker(self._read_all(), group="all", exclusive=True)

    # --- reading -----------------------------------------------------------------------------------------------------

    def _go(self, turn: int) -> None:
        """Show the newest request up to ``turn``; of several asked for in a hurry only the last is waited for."""
        self._turn = turn
        self.run_worker(self._read(turn), group="one", exclusive=True)

    async def _read(self, turn: int) -> None:
        from engine.queries import InspectRequest

        try:
            found = await self._ask(InspectRequest(self._session, turn))
        except Exception as error:
            self._say(_words(error))
            return
        if found is None:
            self._say("No request was sent in this session yet.")
        else:
            self._show(found)

    async def _read_all(self) -> None:
        from engine.queries import InspectRequests

        try:
            self.requests = await self._ask(InspectRequests(self._session))
        except Exception as error:
            self.notify(_words(error), severity="warning", markup=False)
        self.refresh_lines()

    # --- showing -----------------------------------------------------------------------------------------------------

    def _show(self, request: InspectedRequest) -> None:
        self.request, self._turn = request, request.turn
        if len(self.requests) < request.count and self.requests:
            self.run_worker(self._read_all(), group="all", exclusive=True)
        self._show_rows(None)
        self.refresh_lines()

    def _show_rows(self, block: int | None) -> None:
        """Make the rows anew. ``block`` stays chosen; without one it is the first difference, or the first paid."""
        assert self.request is not None
        self.rows = rows.rows(self.request, self.folded)
        most = max((row.tokens for row in self.rows), default=0)
        if block is None:
            paid = next((n for n, row in enumerate(self.rows) if row.state != "read"), 0)
            at = next((n for n, row in enumerate(self.rows) if row.first), paid)
        else:
            at = next(n for n, row in enumerate(self.rows) if block in row.blocks)
        self.list.show(len(self.rows), lambda index, width: rows.row_line(self.rows[index], most, width, self.look), at)

    def _say(self, words: str) -> None:
        self.request, self.rows = None, ()
        self.list.say(words)

    # --- keys --------------------------------------------------------------------------------------------------------

    def action_request(self, step: int) -> None:
        """The request before or after; after the newest known one, whatever was sent since."""
        turns = [line.turn for line in self.requests] or [self._turn]
        at = next((n for n, turn in enumerate(turns) if turn >= self._turn), len(turns) - 1) + step
        if 0 <= at < len(turns):
            self._go(turns[at])
        elif step > 0:
            self._go(0)
        elif self.requests:
            self.notify("This is the first request.", markup=False)

    def action_break(self, step: int) -> None:
        """The nearest request in that direction that broke the cache."""
        broken = [line.turn for line in self.requests if line.broken]
        there = [t for t in broken if t > self._turn] if step > 0 else [t for t in broken if t < self._turn][::-1]
        if there:
            self._go(there[0])
        else:
            words = "after" if step > 0 else "before"
            self.notify(f"The cache did not break {words} this request.", markup=False)

    def action_fold(self) -> None:
        if self.request is not None:
            self.folded = not self.folded
            self._show_rows(self.rows[self.list.index].blocks[0] if self.rows else None)

    def action_bytes(self) -> None:
        from tui.screens.inspector_bytes import BytesScreen

        if self.request is None or not self.rows:
            return
        row = self.rows[self.list.index]
        title = f"request {self.request.number}   {row.layer} {row.title}"
        self.app.push_screen(BytesScreen(title, sections(self.request, row)))

    def action_compactions(self) -> None:
        from tui.screens.compaction import CompactionScreen

        self.app.push_screen(CompactionScreen(self._ask, self._session, self._control))

    def action_costs(self) -> None:
        from tui.screens.inspector_costs import CostsScreen

        self.app.push_screen(CostsScreen(self._ask, self._session))

    def on_row_list_opened(self) -> None:
        self.action_bytes()

    def action_back(self) -> None:
        self.dismiss(None)


def sections(request: InspectedRequest, row: rows.Row) -> tuple[Section, ...]:
    """The texts of a row's blocks; where the request broke, after it what stood there in the request before."""
    made: list[Section] = []
    for number in row.blocks:
        block = request.blocks[number]
        first = row.first and number == request.same
        heading = f"block {number + 1}   {one_line(block.title)}   {block.tokens:,} tokens"
        mark = request.byte if first and request.before else -1
        made.append(Section(f"{heading}   differs from byte {mark:,} on" if mark >= 0 else heading, block.text, mark))
        if mark >= 0:
            made.append(Section(f"in request {request.number - 1} it was", request.before, mark))
    return tuple(made)


def _words(error: Exception) -> str:
    return f"{error or type(error).__name__} {getattr(error, 'suggestion', '')}".rstrip()
