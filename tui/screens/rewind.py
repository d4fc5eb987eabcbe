"""Going back: where to, what of it, and which files that would change, before anything is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import BindingType

import themes
from engine.commands import Rewind
from tui.actions import Action
from tui.format import clock, plural
from tui.look import one_line, spread
from tui.replay.keys import bound, hint_line
from tui.screens.lines_screen import LinesScreen
from tui.widgets.line import Line
from tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from engine.commands import Command
    from engine.queries import RewindChoices, RewindFiles, RewindPoint
    from tui.host import Ask
    from tui.look import Look

GO, LEAVE = "Go back", "Leave"
ACTIONS: tuple[Action, ...] = (
    Action("both", "Conversation and files go back to before this", GO, ("enter", "b"), hint="both"),
    Action("talk", "Only the conversation", GO, ("c",), hint="conversation only"),
    Action("files", "Only the files", GO, ("f",), hint="files only"),
    Action("undo", "Take the last going back back", GO, ("u",), hint="undo"),
    Action("back", "Leave everything as it is", LEAVE, ("escape", "q"), hint="leave"),
    Action("keys", "All keys", LEAVE, ("question_mark",), hint="keys"),
)
SIGNS = {"created": "+", "changed": "~", "deleted": "−"}
DOES = {"created": "removed", "changed": "as it was", "deleted": "put back"}


class RewindScreen(LinesScreen[None]):
    """``send`` hands a command for the session to the engine. Only what is shown is done: the files listed are those
    that differ now."""

    CSS_PATH = themes.stylesheet("rewind")
    BINDINGS: ClassVar[list[BindingType]] = bound(ACTIONS)

    def __init__(self, ask: Ask, session: str, send: Callable[[Callable[[str], Command]], None]) -> None:
        super().__init__()
        self._ask, self._session, self._send = ask, session, send
        self.points: tuple[RewindPoint, ...] = ()
        self.undoable = 0
        self.files: RewindFiles | None = None

    @property
    def chosen(self) -> RewindPoint | None:
        return self.points[self.list.index] if self.points else None

    def compose(self) -> ComposeResult:
        yield Line(self._head, id="rewind-head")
        self.list = LineList(self.look, id="rewind-list")
        yield self.list
        self.preview = LineList(self.look, id="rewind-files")
        yield self.preview
        yield Line(lambda width: hint_line(self.offered(), width, self.look), id="rewind-keys")

    def on_mount(self) -> None:
        self.list.focus()
        self._say("reading the log")
        self.run_worker(self._read(), group="points", exclusive=True)

    # --- reading -----------------------------------------------------------------------------------------------------

    async def _read(self) -> None:
        from engine.queries import RewindPoints

        try:
            found: RewindChoices = await self._ask(RewindPoints(self._session))
        except Exception as error:
            self._say(str(error) or type(error).__name__)
            return
        self.points, self.undoable = found.points, found.undoable
        if self.points:
            self.list.show(len(self.points), self._point)
            self._look_at_files()
        else:
            self._say("Nothing was said yet: there is nowhere to go back to.")
        self.query_one("#rewind-keys").refresh()

    def _look_at_files(self) -> None:
        self.files = None
        self._list_files()
        if self.chosen is not None:
            self.run_worker(self._read_files(self.chosen), group="files", exclusive=True)

    async def _read_files(self, point: RewindPoint) -> None:
        from engine.queries import RewindFiles, RewindPreview

        try:
            self.files = await self._ask(RewindPreview(self._session, point.seq))
        except Exception as error:
            self.files = RewindFiles((), str(error) or type(error).__name__)
        self._list_files()

    # --- showing -----------------------------------------------------------------------------------------------------

    def _head(self, width: int) -> Text:
        left = Text(" go back to before …", style=self.look.roles.text)
        right = Text("can be taken back ", style=self.look.roles.muted)
        return spread(left, right, width, self.look.signs.ellipsis)

    def _point(self, index: int, width: int) -> Text:
        point, roles = self.points[index], self.look.roles
        style = roles.you if point.who == "you" else roles.agent
        left = Text.assemble("  ", (f"{point.who:<9}", style), (one_line(point.text), roles.text))
        changes = ("files " if point.files else "      ", roles.warn)
        right = Text.assemble(changes, (clock(point.at), roles.muted), " ")
        return spread(left, right, width, self.look.signs.ellipsis)

    def _list_files(self) -> None:
        roles = self.look.roles
        if self.files is None:
            lines = [Text("  looking at the files", style=roles.muted)]
        elif self.files.error:
            lines = [Text(f"  the files cannot be put back: {one_line(self.files.error)}", style=roles.danger)]
        elif not self.files.changes:
            lines = [Text("  no file differs from what it was then", style=roles.muted)]
        else:
            lines = [Text(f"  {plural(len(self.files.changes), 'file')} would change:", style=roles.text)]
            lines += [_file(path, what, self.look) for path, what in self.files.changes]
        self.preview.show(len(lines), lambda n, width: lines[n])

    def _say(self, words: str) -> None:
        self.list.show(1, lambda n, width: Text(f"  {one_line(words)}", style=self.look.roles.muted))
        self.preview.show(0, lambda n, width: Text())

    def dress(self) -> None:
        super().dress()
        if self.points:
            self._list_files()

    def offered(self) -> list[Action]:
        return [action for action in ACTIONS if action.name != "undo" or self.undoable]

    def on_row_list_moved(self) -> None:
        self._look_at_files()

    # --- keys --------------------------------------------------------------------------------------------------------

    def on_row_list_opened(self) -> None:
        self.action_both()

    def action_both(self) -> None:
        self._go(conversation=True, files=True)

    def action_talk(self) -> None:
        self._go(conversation=True, files=False)

    def action_files(self) -> None:
        self._go(conversation=False, files=True)

    def action_undo(self) -> None:
        if not self.undoable:
            self.notify("There is nothing to take back.", markup=False)
            return
        seq = self.undoable
        self._send(lambda session: Rewind(session, undoes=seq))
        self.dismiss(None)

    def _go(self, conversation: bool, files: bool) -> None:
        point = self.chosen
        if point is None:
            return
        if files and self.files is None:
            self.notify("The files are still being looked at; in a moment.", markup=False)
            return
        if files and not conversation and not (self.files and self.files.changes):
            self.notify("No file differs from what it was then.", markup=False)
            return
        self._send(lambda session: Rewind(session, point.seq, conversation, files))
        self.dismiss(None)

    def action_back(self) -> None:
        self.dismiss(None)


def _file(path: str, what: str, look: Look) -> Text:
    style = {"created": look.roles.danger, "deleted": look.roles.ok}.get(what, look.roles.warn)
    return Text.assemble("    ", (f"{SIGNS[what]} ", style), (one_line(path), look.roles.text),
                         (f"  {what} since, will be {DOES[what]}", look.roles.muted))  # fmt: skip
