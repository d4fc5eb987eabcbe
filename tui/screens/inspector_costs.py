"""What the session would have cost on other models, with the cache and without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import BindingType

import themes
from tui.inspector import costs
from tui.inspector.keys import COSTS
from tui.look import one_line, wrapped
from tui.replay.keys import bound, hint_line
from tui.screens.lines_screen import LinesScreen
from tui.widgets.line import Line
from tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from engine.queries import SimulatedCost
    from tui.actions import Action
    from tui.host import Ask

TITLE = " the same requests on other models, from the log"
NOTE = "Tokens and answers as they were; another model counts and says things a little otherwise."


class CostsScreen(LinesScreen[None]):
    """``session``: an id, or the path of an exported file."""

    CSS_PATH = themes.stylesheet("inspector")
    BINDINGS: ClassVar[list[BindingType]] = bound(COSTS)

    def __init__(self, ask: Ask, session: str) -> None:
        super().__init__()
        self._ask, self._session = ask, session
        self.found: tuple[SimulatedCost, ...] = ()

    def offered(self) -> Sequence[Action]:
        return COSTS

    def compose(self) -> ComposeResult:
        yield Line(lambda width: Text(TITLE), id="inspector-head")
        yield Line(lambda width: costs.heading_line(width - 2, self.look), id="inspector-headings")
        self.list = LineList(self.look, id="inspector-list")
        yield self.list
        yield Line(self._sentences, id="inspector-sentences")
        yield Line(lambda width: hint_line(COSTS, width, self.look), id="inspector-keys")

    def _sentences(self, width: int) -> Text:
        if not self.found:
            return Text()
        said, rules = costs.sentences(self.found, self.list.index)
        style, muted = self.look.roles.text, self.look.roles.muted
        lines = [Text(f" {line}", style=style) for line in wrapped(said, width - 2, 2, self.look.signs.ellipsis)]
        lines += [Text(f" {line}", style=muted) for line in wrapped(rules, width - 2, 2, self.look.signs.ellipsis)]
        return Text("\n").join([*lines, *(Text(f" {x}", style=muted) for x in wrapped(NOTE, width - 2, 2))])

    def on_mount(self) -> None:
        self.list.focus()
        self._say("building every request again")
        self.run_worker(self._read(), exclusive=True)

    async def _read(self) -> None:
        from engine.queries import Simulate

        try:
            self.found = await self._ask(Simulate(self._session))
        except Exception as error:
            self._say(f"{error or type(error).__name__} {getattr(error, 'suggestion', '')}")
            return
        if not self.found:
            self._say("No request was answered in this session yet.")
            return
        most = max((line.uncached or 0.0 for line in self.found), default=0.0)
        self.list.show(
            len(self.found), lambda n, width: costs.cost_line(self.found[n], most, not n, width, self.look), 0
        )
        self.query_one("#inspector-sentences").refresh(layout=True)

    def _say(self, words: str) -> None:
        self.list.show(1, lambda n, width: Text(f"  {one_line(words)}", style=self.look.roles.muted))

    def on_row_list_moved(self) -> None:
        self.query_one("#inspector-sentences").refresh(layout=True)

    def action_back(self) -> None:
        self.dismiss(None)
