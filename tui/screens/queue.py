"""What waits to be said: steers and follow-ups to edit, order and remove, and what became of those before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.binding import BindingType

import themes
from engine.text import clean
from tui.actions import Action
from tui.dialogs.entry import Entry
from tui.dialogs.exact import flowing
from tui.dialogs.pages import Laid, Pages
from tui.dialogs.parts import parts
from tui.dialogs.question import ink
from tui.format import plural
from tui.look import spread
from tui.replay.keys import bound, hint_line
from tui.screens.lines_screen import LinesScreen
from tui.screens.queue_lines import Row, row_line, rows
from tui.transcript.look import Look as FullLook
from tui.widgets.line import Line
from tui.widgets.line_list import LineList
from tui.widgets.shown_area import LONGEST

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from engine.state import TaskState
    from tui.arranging import Arranging

CHANGE, LEAVE = "Change", "Leave"
ACTIONS: tuple[Action, ...] = (
    Action("edit", "Edit its text", CHANGE, ("enter", "e"), hint="edit"),
    Action("earlier", "Earlier", CHANGE, ("alt+up", "K"), call="shift(-1)"),
    Action("later", "Later", CHANGE, ("alt+down", "J"), hint="order", call="shift(1)"),
    Action("turn", "Make a steer a follow-up, or a follow-up a steer", CHANGE, ("t",), hint="steer or follow-up"),
    Action("remove", "Take it back", CHANGE, ("x", "delete"), hint="remove"),
    Action("again", "Put its text into the composer", CHANGE, ("c",), hint="to the composer"),
    Action("read_on", "Read on in its text", LEAVE, ("space",)),
    Action("read_back", "Read back in its text", LEAVE, ("b",)),
    Action("back", "Back", LEAVE, ("escape", "q"), hint="back"),
    Action("keys", "All keys", LEAVE, ("question_mark",), hint="keys"),
)
NOTHING = "Nothing waits to be said. Type while the agent works: Enter steers, Alt+Enter queues a follow-up."
TOO_LONG = "It is too long to be edited here; c puts it into the composer"
DROP = "Esc again drops what you changed; F5 keeps it"


class SectionList(LineList):
    """Lines under headings, which are passed over."""

    headings: frozenset[int] = frozenset()

    def action_move(self, lines: int) -> None:
        at = min(max(0, self.index + lines), self.length - 1)
        step = 1 if lines > 0 else -1
        while at in self.headings and 0 <= at + step < self.length:
            at += step
        if 0 <= at < self.length and at not in self.headings:
            super().action_move(at - self.index)

    def _go(self, index: int) -> None:
        if index not in self.headings:
            super()._go(index)


class QueueScreen(LinesScreen[None]):
    """``state``: the newest of the session. ``give`` puts a text into the composer of the screen below."""

    CSS_PATH = themes.stylesheet("queue")
    BINDINGS: ClassVar[list[BindingType]] = bound(ACTIONS)

    def __init__(
        self, arranging: Arranging, state: Callable[[], TaskState | None], give: Callable[[str], None]
    ) -> None:
        super().__init__()
        self._arranging, self._state, self._give = arranging, state, give
        self.rows: list[Row] = []
        self._chosen = ""
        self._read = ""
        self._editing = ""
        self._entry: Entry | None = None
        self._base = ""
        self._said = ""

    @property
    def chosen(self) -> Row | None:
        row = self.rows[self.list.index] if self.rows else None
        return row if row and row.id else None

    def compose(self) -> ComposeResult:
        yield Line(self._head, id="queue-head")
        self.list = SectionList(self.look, id="queue-list")
        yield self.list
        self.text = Pages(self._show_text, id="queue-text")
        yield self.text
        yield Line(self._foot, id="queue-keys")

    def on_mount(self) -> None:
        self.list.focus()
        newest = self._arranging.items
        self._chosen = newest[-1].id if newest else ""
        self._show()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_text)

    # --- showing -----------------------------------------------------------------------------------------------------

    def heard(self) -> None:
        """The engine said something: what waits may have been delivered, also what is being edited."""
        if self._editing and self._arranging.find(self._editing) is None:
            self._went_out()
        self._show()

    def _show(self) -> None:
        self.rows = rows(self._arranging.items, self._state())
        self.list.headings = frozenset(n for n, row in enumerate(self.rows) if not row.id)
        places = [n for n, row in enumerate(self.rows) if row.id]
        at = next((n for n in places if self.rows[n].id == self._chosen), places[0] if places else 0)
        self.list.show(len(self.rows), lambda n, width: row_line(self.rows[n], width, self.look), at)
        if not places:
            # A heading is never the chosen line.
            self.list.index = -1
        self._chosen = self.rows[at].id
        self._show_text()

    def _show_text(self) -> None:
        row = self.chosen
        text = row.text if row else NOTHING
        if self._read != text:
            self._read = text
            self.text.begin(parts(text))
        self.text.show(self.text.laid(self._lay, self.size, self.look), max(2, self.size.height // 3))
        self.refresh_lines()

    def _lay(self, part: str) -> Laid:
        full = FullLook.of(self.app.theme_variables, self.look.signs)
        lines = flowing(part, max(10, self.size.width - 4), ink(full))
        if place := self.text.parts.place:
            words = f"{self.look.signs.more} {place}, Space reads on, b back"
            lines.append([Segment(words, full.roles.warn)])
        return lines

    def _head(self, width: int) -> Text:
        roles, arranging = self.look.roles, self._arranging
        steers, later = len(arranging.of("steer")), len(arranging.of("follow_up"))
        counts = f"{plural(steers, 'steer')} · {plural(later, 'follow-up')}"
        left = Text(" what waits to be said", style=roles.text)
        return spread(left, Text(f"{counts} ", style=roles.muted), width, self.look.signs.ellipsis)

    def _foot(self, width: int) -> Text:
        if self._said:
            return Text(f" {self._said}", style=self.look.roles.warn)
        if self._editing:
            return Text(" F5 keeps the text   Esc leaves it as it was", style=self.look.roles.muted)
        return hint_line(self.offered(), width, self.look)

    def offered(self) -> list[Action]:
        row = self.chosen
        if row is None:
            return [action for action in ACTIONS if action.group == LEAVE]
        kept = {"again", "read_on", "read_back", "back", "keys"}
        return [action for action in ACTIONS if row.waits or action.name in kept]

    def dress(self) -> None:
        super().dress()
        self._show_text()

    def on_row_list_moved(self) -> None:
        row = self.chosen
        self._chosen = row.id if row else ""
        self._show_text()

    def on_row_list_opened(self) -> None:
        self.run_worker(self.action_edit(), group="edit")

    # --- keys --------------------------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """A letter typed before the text it was meant for had the focus. What was said has been read by then."""
        entry = self._entry
        if entry is None and self._said:
            self._say("")
        if entry is not None and entry.is_mounted and not entry.has_focus and event.is_printable and event.character:
            event.stop()
            event.prevent_default()
            entry.put(event.character)

    def action_shift(self, by: int) -> None:
        if (row := self._waiting()) and not self._arranging.move(row.id, by):
            self.notify("It is the first of its list." if by < 0 else "It is the last of its list.", markup=False)
        self._show()

    def action_turn(self) -> None:
        if row := self._waiting():
            self._arranging.turn(row.id)
            self._show()

    def action_remove(self) -> None:
        if row := self._waiting():
            at = self.list.index
            self._arranging.remove(row.id)
            rest = rows(self._arranging.items, self._state())
            near = [row.id for row in (*rest[at:], *reversed(rest[:at])) if row.waits]
            self._chosen = near[0] if near else ""
            self._show()

    def action_again(self) -> None:
        row = self.chosen
        if row is not None and not self._editing:
            self._give(row.text)
            self.notify("Its text is in the composer.", markup=False)

    def action_read_on(self) -> None:
        self.text.read_on()

    def action_read_back(self) -> None:
        self.text.read_back()

    def action_back(self) -> None:
        if not self._editing:
            self.dismiss(None)

    def _waiting(self) -> Row | None:
        """The chosen message while it waits; else a word that it does not. None while one is being edited: that key
        was typed before the text had the focus."""
        if self._editing:
            return None
        row = self.chosen
        if row is not None and not row.waits:
            self.notify("This one waits no more; c puts its text into the composer.", markup=False)
            return None
        return row

    # --- editing -----------------------------------------------------------------------------------------------------

    async def action_edit(self) -> None:
        """The text of the chosen message, to be changed below the list."""
        row = self._waiting()
        if row is None:
            return
        if len(row.text) > LONGEST:
            self._say(TOO_LONG)
            return
        entry = self._entry = Entry(row.text, lines=True)
        self._editing, self._base, self._said = row.id, entry.text, ""
        self.text.display = False
        await self.mount(entry, before="#queue-keys")
        self.set_focus(entry)
        self._show_text()

    def on_entry_done(self, message: Entry.Done) -> None:
        message.stop()
        if not message.text.strip():
            self._say("An empty text says nothing: Esc returns, then x removes it")
            return
        id = self._editing
        self._close()
        if message.text != self._base:
            self._arranging.change(id, message.text)
        self._show()

    def on_entry_left(self, message: Entry.Left) -> None:
        message.stop()
        if self._draft != self._base and self._said != DROP:
            self._say(DROP)
        else:
            self._close()

    def on_text_area_changed(self) -> None:
        if self._editing:
            self._say("")

    def _went_out(self) -> None:
        """It was delivered, or taken back, while it was being edited: what was written goes to the composer."""
        written, row = self._draft, self._editing
        past = self._state()
        sent = any(item.id == row and item.turn for item in past.settled) if past else False
        how = "was delivered" if sent else "left the queue"
        changed = clean(written).strip() and written != self._base
        self._close()
        if changed:
            self._give(written)
        more = "What you wrote is in the composer." if changed else "You had changed nothing yet."
        self._say(f"It {how} while you edited it. {more}")

    @property
    def _draft(self) -> str:
        return self._entry.text if self._entry else self._base

    def _say(self, words: str) -> None:
        self._said = words
        self.query_one("#queue-keys").refresh()

    def _close(self) -> None:
        """Back to the list. The text goes once it is out of sight: one that is gone cannot be painted any more."""
        self._editing = self._said = ""
        entry, self._entry = self._entry, None
        self.list.focus()
        if entry is not None:
            entry.display = False
            self.call_after_refresh(entry.remove)
        self.text.display = True
        self._show_text()
