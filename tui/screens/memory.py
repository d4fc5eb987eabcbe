"""What is remembered, of the project and of the person: to read, add to, change and remove."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.text import Text
from textual.binding import BindingType

import themes
from engine.commands import ChangeMemory
from tui.actions import Action
from tui.format import plural
from tui.look import one_line, spread
from tui.replay.keys import bound, hint_line
from tui.screens.ask_text import AskText
from tui.screens.lines_screen import LinesScreen
from tui.widgets.line import Line
from tui.widgets.searched_list import SearchedList

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from engine.commands import Command
    from engine.queries import Memories, MemoryLine
    from tui.host import Ask

CHANGE, LEAVE = "Change", "Leave"
ACTIONS: tuple[Action, ...] = (
    Action("edit", "Change this line", CHANGE, ("enter", "e"), hint="change"),
    Action("add", "Remember something of this project", CHANGE, ("a",), hint="add"),
    Action("add_user", "Remember something for every project", CHANGE, ("u",), hint="add for everywhere"),
    Action("remove", "Forget this line; the second press does it", CHANGE, ("x", "delete"), hint="forget"),
    Action("search", "Show only lines with these words", LEAVE, ("slash",), hint="search"),
    Action("back", "Back", LEAVE, ("escape", "q"), hint="back"),
    Action("keys", "All keys", LEAVE, ("question_mark",), hint="keys"),
)
WHOSE = {"project": "project", "user": "you"}
HELP = "One line. Later sessions begin with it; the model reads it as data."


class MemoryScreen(LinesScreen[None]):
    """``folder`` is that of the session; ``send`` hands commands to it. ``seq`` is its newest event: when it moves, the
    files are read again, for a change is over once the log has it."""

    CSS_PATH = themes.stylesheet("memory")
    BINDINGS: ClassVar[list[BindingType]] = bound(ACTIONS)

    def __init__(
        self, ask: Ask, folder: str, send: Callable[[Callable[[str], Command]], None], seq: Callable[[], int]
    ) -> None:
        super().__init__()
        self._ask, self._folder, self._send, self._seq = ask, folder, send, seq
        self.found: Memories | None = None
        self.shown: tuple[MemoryLine, ...] = ()
        self._seen = -1
        self._asking: MemoryLine | None = None

    @property
    def chosen(self) -> MemoryLine | None:
        return self.shown[self.list.index] if self.shown else None

    def offered(self) -> Sequence[Action]:
        return ACTIONS

    def compose(self) -> ComposeResult:
        yield Line(self._head, id="memory-head")
        self.searched = SearchedList(self.look, id="memory-list")
        self.list = self.searched.list
        yield self.searched
        yield Line(self._where, id="memory-where")
        yield Line(lambda width: hint_line(list(ACTIONS), width, self.look), id="memory-keys")

    def on_mount(self) -> None:
        self.list.focus()
        self.heard()

    # --- reading and showing -----------------------------------------------------------------------------------------

    def heard(self) -> None:
        """The engine said something: when it is in the log, the files may have changed."""
        if self._seq() != self._seen:
            self._seen = self._seq()
            self.run_worker(self._read(), group="memories", exclusive=True)

    async def _read(self) -> None:
        from engine.queries import ListMemories

        try:
            self.found = await self._ask(ListMemories(self._folder))
        except Exception as error:
            self._instead(str(error) or type(error).__name__)
            return
        self._show()

    def _show(self) -> None:
        words = self.searched.words
        lines = self.found.lines if self.found else ()
        self.shown = tuple(line for line in lines if all(word in line.text.casefold() for word in words))
        if self.shown:
            self.list.show(len(self.shown), self._line, min(self.list.index, len(self.shown) - 1))
        else:
            self._instead("no line has these words" if lines else "Nothing is remembered yet. a adds a line.")
        self.refresh_lines()

    def _head(self, width: int) -> Text:
        roles = self.look.roles
        if self._asking is not None:
            asked = f" {self.look.signs.risk} x again forgets: {one_line(self._asking.text)}"
            return spread(Text(asked, style=roles.warn), Text(), width, self.look.signs.ellipsis)
        count = plural(len(self.shown), "line") if self.found else "reading"
        left = Text.assemble((" remembered ", roles.text), (count, roles.muted))
        return spread(left, Text("later sessions begin with these ", roles.muted), width, self.look.signs.ellipsis)

    def _line(self, index: int, width: int) -> Text:
        line, roles = self.shown[index], self.look.roles
        style = roles.tool if line.scope == "project" else roles.you
        return Text.assemble("  ", (f"{WHOSE[line.scope]:<9}", style), (one_line(line.text), roles.text))

    def _where(self, width: int) -> Text:
        line = self.chosen
        path = self.found.paths.get(line.scope if line else "project", "") if self.found else ""
        return Text(f" {path}", style=self.look.roles.muted, no_wrap=True, overflow="ellipsis")

    def _instead(self, words: str) -> None:
        self.shown = ()
        self.list.say(words)

    def on_row_list_moved(self) -> None:
        self._asking = None
        self.refresh_lines()

    def on_row_list_opened(self) -> None:
        self.action_edit()

    def on_searched_list_searched(self) -> None:
        self._show()

    # --- keys --------------------------------------------------------------------------------------------------------

    def action_search(self) -> None:
        self.searched.search()

    def action_edit(self) -> None:
        line = self.chosen
        if line is None:
            self.action_add()
            return

        def done(text: str | None) -> None:
            if text and text.strip() and text.strip() != line.text:
                self._change(line.scope, text.strip(), line.text)

        self.app.push_screen(AskText("Change what is remembered", line.text, HELP), done)

    def action_add(self) -> None:
        self._add("project", "Remember of this project")

    def action_add_user(self) -> None:
        self._add("user", "Remember everywhere")

    def _add(self, scope: Literal["project", "user"], title: str) -> None:
        def done(text: str | None) -> None:
            if text and text.strip():
                self._change(scope, text.strip(), "")

        self.app.push_screen(AskText(title, "", HELP), done)

    def action_remove(self) -> None:
        """Asks once: the second press does it."""
        line = self.chosen
        if line is None:
            return
        if self._asking == line:
            self._asking = None
            self._change(line.scope, "", line.text)
        else:
            self._asking = line
        self.query_one("#memory-head").refresh()

    def _change(self, scope: Literal["project", "user"], text: str, before: str) -> None:
        self._send(lambda session: ChangeMemory(session, scope, text, before))

    def action_back(self) -> None:
        """Out of the search first, then out of the screen."""
        if self.searched.end_search():
            return
        if self._asking is not None:
            self._asking = None
            self.query_one("#memory-head").refresh()
        else:
            self.dismiss(None)
