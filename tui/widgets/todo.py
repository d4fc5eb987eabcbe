"""The todo pane: todo.md as it is now; ``e`` edits it in place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message

from tui.look import Look, clip, one_line, wrapped
from tui.widgets.pane import Pane

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.css.query import DOMQuery

    from engine.events import Event
    from engine.state import TaskState

INDENT = 3
ITEM_LINES = 3


class TodoNotes:
    """What the pane knows of a session: who changed the list last, and the text a person left without saving it."""

    def __init__(self) -> None:
        self.by = ""
        self.draft: str | None = None

    def feed(self, events: Iterable[Event]) -> None:
        """Remember who changed the list last."""
        for event in events:
            if event.type == "todo_changed":
                self.by = event.by


class TodoList(Pane):
    TITLE = "TODO"

    def __init__(self, look: Look, *, id: str) -> None:
        super().__init__(look, id=id)
        self.notes = TodoNotes()

    def head(self, width: int) -> Text:
        if self.notes.draft is not None:
            return Text("your draft waits: e", style=self.look.roles.warn)
        if not self.state or not self.state.todo:
            return Text()
        who = {"person": " · by you", "model": " · by the agent"}.get(self.notes.by, "")
        return Text(f"{self.state.todo_done} / {len(self.state.todo)}{who}", style=self.look.roles.muted)

    def body(self, width: int) -> list[Text]:
        return todo_lines(self.state, width, self.look)


def todo_lines(state: TaskState | None, width: int, look: Look) -> list[Text]:
    """A line an item, wrapped; the sign says done, being worked on, or to do."""
    if state is None or not (state.todo or state.todo_text.strip()):
        return [Text(" nothing planned yet", style=look.roles.muted)]
    if not state.todo:
        return [clip(Text(f" {one_line(line)}"), width) for line in state.todo_text.splitlines()]
    signs, roles = look.signs, look.roles
    marks = {
        "done": (signs.done, roles.ok, roles.muted),
        "active": (signs.running, roles.accent, roles.text),
        "pending": (signs.todo, roles.muted, roles.text),
    }
    lines: list[Text] = []
    for item in state.todo:
        sign, sign_style, style = marks[item.status]
        rows = wrapped(item.text, max(6, width - INDENT), ITEM_LINES, signs.ellipsis)
        lines.append(Text.assemble((f" {sign} ", sign_style), (rows[0], style)))
        lines += [Text(" " * INDENT + more, style=style) for more in rows[1:]]
    return [clip(line, width) for line in lines]


class TodoPane(Vertical):
    """The list, or its text being edited. A draft is never lost: leaving keeps it until it is saved."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("e", "edit", "Edit todo.md", show=False)]

    class Changed(Message):
        """A person saved ``text`` as the new todo.md."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, look: Look, *, id: str) -> None:
        super().__init__(id=id)
        self.list = TodoList(look, id=f"{id}-list")
        self._base = ""

    def compose(self) -> ComposeResult:
        yield self.list

    def show(self, state: TaskState) -> None:
        """Take the newest task state; an edit under way stays, and says that the file changed under it."""
        self.list.show(state)
        for editor in self._editors:
            if state.todo_text != self._base:
                editor.border_title = "todo.md changed meanwhile; Ctrl+S keeps yours"

    def dress(self, look: Look) -> None:
        self.list.dress(look)

    @property
    def notes(self) -> TodoNotes:
        """What it knows of the session that is shown; to set it is to go to another, with a draft kept in the old."""
        return self.list.notes

    @notes.setter
    def notes(self, notes: TodoNotes) -> None:
        if notes is not self.list.notes:
            self._keep_draft()
            self.list.notes = notes
            self._editors.remove()
            self.list.display = True

    @property
    def editing(self) -> bool:
        return bool(self._editors)

    @property
    def _editors(self) -> DOMQuery[Any]:
        return self.query("TodoEditor")

    async def action_edit(self) -> None:
        if self.editing:
            return
        from tui.widgets.shown_area import LONGEST
        from tui.widgets.todo_editor import TodoEditor

        base = self.list.state.todo_text if self.list.state else ""
        if len(base) > LONGEST:
            self.app.notify("It is too long to be edited here.", severity="warning", markup=False)
            return
        self._base = base
        editor = TodoEditor(self._base if self.notes.draft is None else self.notes.draft, id="todo-editor")
        editor.border_title = "todo.md: Ctrl+S saves, Esc leaves"
        self.list.display = False
        await self.mount(editor)
        editor.focus()

    async def on_todo_editor_save(self, message: Any) -> None:
        message.stop()
        self.notes.draft = None
        self.post_message(self.Changed(message.text))
        await self._close()

    async def on_todo_editor_leave(self, message: Any) -> None:
        message.stop()
        self._keep_draft()
        await self._close()

    def _keep_draft(self) -> None:
        from tui.widgets.shown_area import shown

        for editor in self._editors:
            self.notes.draft = editor.text if editor.text != shown(self._base) else None

    async def _close(self) -> None:
        await self._editors.remove()
        self.list.display = True
        self.list.redraw()
        self.list.focus()
