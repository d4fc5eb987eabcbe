"""The list of stored sessions: search as you type, play one again or go on with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Static

import themes
from engine.queries import ListSessions
from tui import slots
from tui.format import plural
from tui.look import one_line, spread
from tui.replay.keys import bound, hint_line, sessions_actions
from tui.screens.lines_screen import LinesScreen
from tui.widgets.header import short_folder
from tui.widgets.line import Line
from tui.widgets.session_lines import heading_line
from tui.widgets.session_list import SessionList
from tui.widgets.text_line import TextLine

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Key
    from textual.timer import Timer

    from engine.queries import SessionRow
    from tui.actions import Action
    from tui.host import Ask

PAUSE = 0.15
"""Seconds without a key after which a search begins."""
MOST = 5_000
EMPTY = "No session is stored yet.\nStart one with: agent-tui\nOr see one made: agent-tui demo"
READING = "reading the sessions"


class SessionsScreen(LinesScreen["str | None"]):
    """``enter`` says what Enter does with the chosen session; the other has a letter. The result is the id of the one
    to go on with, or None. ``folder`` is the one that `f` narrows the list to."""

    CSS_PATH = themes.stylesheet("sessions")
    AUTO_FOCUS = "#sessions-list"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bound(sessions_actions("")),
        Binding("enter", "main", "Do the first of these", show=False),
    ]

    def __init__(self, ask: Ask, *, folder: str = "", enter: Literal["open", "play"] = "open") -> None:
        super().__init__(id="sessions")
        self._ask, self._folder, self._enter = ask, folder, enter
        self._actions = sessions_actions(enter)
        self._narrowed = False
        self._pause: Timer | None = None
        self._count: int | None = None
        self._asked = 0

    def compose(self) -> ComposeResult:
        self.head = Line(self._head_line, id="sessions-head")
        self.headings = Line(lambda width: heading_line(width, self.look), id="sessions-headings")
        self.list = SessionList(self.look, id="sessions-list")
        self.input = TextLine(placeholder="search titles and all that was said", id="sessions-input", compact=True)
        self.keys = Line(lambda width: hint_line(self.offered(), width, self.look), id="sessions-keys")
        yield self.head
        with Horizontal(id="sessions-search"):
            yield Static(Text("/"), id="sessions-slash")
            yield self.input
        yield self.headings
        yield self.list
        yield self.keys

    def on_mount(self) -> None:
        self.list.say(READING)
        self.read()

    def on_screen_resume(self) -> None:
        """Back from the player: what happened meanwhile belongs into the list."""
        if self._count is not None:
            self.read()

    # --- reading -----------------------------------------------------------------------------------------------------

    def read(self) -> None:
        """Ask for the list anew; an answer to an older question is never shown."""
        if self._pause is not None:
            self._pause.stop()
            self._pause = None
        query = ListSessions(self.input.value.strip(), self._folder if self._narrowed else "", MOST)
        self._asked += 1
        self.run_worker(self._read(query, self._asked), group="list")

    async def _read(self, query: ListSessions, number: int) -> None:
        rows: tuple[SessionRow, ...] = ()
        problem: Exception | None = None
        try:
            rows = await self._ask(query)
        except Exception as error:
            problem = error
        if number == self._asked:
            self._show(query, rows, problem)

    def _show(self, query: ListSessions, rows: tuple[SessionRow, ...], problem: Exception | None) -> None:
        self._count = len(rows)
        if problem is not None:
            suggestion = getattr(problem, "suggestion", "")
            self.list.say(f"The sessions cannot be read.\n{problem or type(problem).__name__}\n{suggestion}".rstrip())
        elif rows:
            self.list.show(rows, query.text)
        else:
            self.list.say(self._nothing(query))
        self.head.refresh()

    def _nothing(self, query: ListSessions) -> str:
        where = " of this folder" if query.folder else ""
        wider = "\nPress f for all folders." if query.folder else ""
        if query.text:
            return f"No session{where} has: {one_line(query.text)}{wider}"
        return f"No session{where} is stored yet.{wider}" if query.folder else EMPTY

    # --- what is shown -----------------------------------------------------------------------------------------------

    def _head_line(self, width: int) -> Text:
        look = self.look
        where = short_folder(Path(self._folder)) if self._narrowed else "all folders"
        left = Text.assemble((" Sessions", Style(bold=True)), (f"   {one_line(where)}", look.roles.muted))
        if self._count is None:
            return spread(left, Text(), width, look.signs.ellipsis)
        count = f"the newest {MOST:,}" if self._count >= MOST else plural(self._count, "session")
        return spread(left, Text(f"{count} ", style=look.roles.muted), width, look.signs.ellipsis)

    def offered(self) -> list[Action]:
        """What the keys do now: while someone types, letters are what they are."""
        if self.input.has_focus:
            return [action for action in self._actions if action.keys[0] in ("enter", "escape")]
        return [action for action in self._actions if self._folder or action.name != "folder"]

    # --- keys --------------------------------------------------------------------------------------------------------

    def on_descendant_focus(self) -> None:
        self.keys.refresh()

    def on_input_changed(self) -> None:
        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(PAUSE, self.read)

    def on_input_submitted(self) -> None:
        self.list.focus()
        if self._pause is not None:
            # What is chosen is not what was typed for: show that first.
            self.read()
        else:
            self.action_main()

    def on_row_list_opened(self) -> None:
        self.action_main()

    def action_main(self) -> None:
        """Enter."""
        if self._enter == "play":
            self.action_play()
        else:
            self.action_open()

    def action_search(self) -> None:
        # At once, not with the next frame: what is typed in the same breath belongs into the search.
        self.set_focus(self.input)

    def action_folder(self) -> None:
        if self._folder:
            self._narrowed = not self._narrowed
            self.read()

    def action_reload(self) -> None:
        self.read()

    def action_back(self) -> None:
        """Esc: the search ends first, then the screen."""
        if self.input.value:
            self.input.value = ""
            self.read()
            self.list.focus()
        elif self.input.has_focus:
            self.list.focus()
        else:
            self.dismiss(None)

    def action_open(self) -> None:
        row = self.list.chosen
        if row is None:
            return
        if row.open_elsewhere:
            self.notify("It is open in another terminal. Here it can be played: p", markup=False)
        else:
            self.dismiss(row.id)

    def action_play(self) -> None:
        row = self.list.chosen
        if row is not None:
            self.app.push_screen(slots.player(self._ask, row.id), self._played)

    def _played(self, session: str | None) -> None:
        if session:
            self.dismiss(session)

    def on_key(self, event: Key) -> None:
        """Up and down lead from the search to the list."""
        if event.key in ("down", "up", "pagedown", "pageup") and self.input.has_focus:
            self.list.focus()
