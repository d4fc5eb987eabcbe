"""A plan of the agent's: to read, to change, to approve or to reject with a reason."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

import themes
from engine.commands import DecidePlan
from engine.text import visible
from tui.dialogs.entry import Entry
from tui.dialogs.grace import NEVER
from tui.dialogs.long_text import LongText, out_of_sight
from tui.dialogs.pages import Laid, Pages
from tui.dialogs.parts import parts
from tui.dialogs.place import titled
from tui.dialogs.typed_in import TypedIn
from tui.look import spread
from tui.transcript.look import Look
from tui.transcript.markdown import MarkdownLines
from tui.widgets.shown_area import LONGEST

if TYPE_CHECKING:
    from engine.events import PlanProposed

Mode = Literal["ask", "sandboxed"]
WIDEST = 110
"""Cells of the text: longer lines are hard to read."""
KEYS = (("y", "approve, risky steps ask"), ("c", "approve, contained"), ("e", "edit"), ("n", "reject and say why"))
LABELS = {
    "edit": "edit the plan: F5 shows it as it is then, Esc returns",
    "reject": "say why: Enter rejects it, Esc returns",
}
TOO_LONG = "too long to be edited here; n says what should be different"
DROP = "Esc again drops your edit; y approves it"


class PlanDialog(LongText[DecidePlan | None], TypedIn[DecidePlan | None]):
    """Dismisses with the decision, for the text as it was read last; None when it is put aside or decided elsewhere.

    ``whose``: the session whose plan it is, where there are several. ``typed_at``: when a key was pressed last before
    this, by ``clock``, in seconds.
    """

    CSS_PATH = themes.stylesheet("plan")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "approve('ask')", "Approve; what is risky asks you"),
        Binding("c", "approve('sandboxed')", "Approve; what the sandbox contains runs unasked"),
        Binding("e", "edit", "Edit the plan"),
        Binding("n,d", "reject", "Reject it and say why"),
        Binding("space", "read_on", "Read on", show=False),
        Binding("escape", "later", "Later: it keeps waiting"),
    ]

    def __init__(
        self,
        plan: PlanProposed,
        whose: str = "",
        typed_at: float = NEVER,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(typed_at, clock)
        self.plan = plan
        self._whose = whose
        self.text = plan.text
        self.pages = Pages(self.dress, id="plan-text")
        self.pages.begin(parts(plan.text))
        self._what = ""
        self._draft = ""
        self._word = ""

    @property
    def edited(self) -> bool:
        """Whether a person changed the plan."""
        return self.text != self.plan.text

    def compose(self) -> ComposeResult:
        with Vertical(id="plan"):
            yield self.pages
            yield Static(id="plan-more")
            yield Static(id="plan-keys")
            yield Static(id="plan-foot")

    def on_mount(self) -> None:
        self.dress()

    def on_resize(self) -> None:
        self.dress()

    # --- drawing -----------------------------------------------------------------------------------------------------

    def dress(self) -> None:
        """Draw everything for the room there is; nothing before there is something, or when all is gone again."""
        if not self.query("#plan-foot"):
            return
        size, look = self.app.size, self.look()
        framed = size.width >= 40 and size.height >= 12
        width = min(size.width - 4, WIDEST) if framed else size.width
        inner = width - 4 if framed else width
        box = self.query_one("#plan")
        box.styles.width = width
        box.set_class(framed, "-framed")
        box.border_title = titled("The plan, as you edited it" if self.edited else "Approve this plan?", self._whose)
        keys = [Text(LABELS[self._what], look.roles.accent)] if self.panel else key_lines(inner, look)
        rows = size.height - (4 if framed else 0) - len(keys) - 2 - (1 if framed else 0)
        if self.panel is not None:
            taken = max(3, rows * 2 // 3) if self._what == "edit" else 1
            self.panel.styles.height = taken
            rows -= taken
        self.pages.display = rows > 0
        self.pages.show(self.pages.laid(lambda part: _lines(part, inner - 1, look), inner, look), max(1, rows))
        self.query_one("#plan-keys", Static).update(Text("\n").join(keys))
        self._draw_foot()
        self.call_after_refresh(self.draw_more)

    def draw_more(self) -> None:
        if self.query("#plan-more"):
            words = out_of_sight(self.pages, self.pages.size.width or 60, self.look())
            self.query_one("#plan-more", Static).update(words if self.pages.display else Text())

    def _draw_foot(self) -> None:
        look, foot = self.look(), self.query_one("#plan-foot", Static)
        if self._word:
            left = Text(self._word, look.roles.accent)
        else:
            left = Text("edited by you" if self.edited else "nothing is changed before you approve", look.roles.muted)
        right = Text("Esc returns" if self.panel else "Esc later", look.roles.muted)
        foot.update(spread(left, right, foot.size.width or 60, look.signs.ellipsis))

    def say(self, words: str) -> None:
        self._word = words
        self._draw_foot()

    # --- choices -----------------------------------------------------------------------------------------------------

    def unknown_key(self, key: str) -> None:
        self.say("Enter approves nothing; y does" if key == "enter" else "")

    def action_approve(self, mode: Mode) -> None:
        text = self.text if self.edited else ""
        self.settle(DecidePlan(self.plan.session, self.plan.id, "approve", text, mode=mode))

    async def action_edit(self) -> None:
        if len(self.text) > LONGEST:
            self.say(TOO_LONG)
        else:
            await self._write("edit", Entry(self._draft or self.text, lines=True))

    async def action_reject(self) -> None:
        await self._write("reject", Entry())

    def action_later(self) -> None:
        """Leave it waiting. An edit would be gone: that is asked first."""
        if self.edited and self._word != DROP:
            self.say(DROP)
        else:
            self.put_aside("The plan still waits for you: F10 shows it.")

    # --- a text typed into it ----------------------------------------------------------------------------------------

    async def _write(self, what: str, entry: Entry) -> None:
        self._what = what
        await self.open_panel(entry, entry, self.query_one("#plan-foot"))

    def on_entry_done(self, message: Entry.Done) -> None:
        message.stop()
        text = message.text.strip()
        if self._what == "reject":
            self.settle(DecidePlan(self.plan.session, self.plan.id, "reject", reason=text))
        elif not text:
            self.say("an empty plan does nothing; Esc returns, then n rejects it")
        else:
            self.text = self.plan.text if text == visible(self.plan.text).strip() else text
            self.pages.begin(parts(self.text))
            self._draft = ""
            self.close_panel()

    def on_entry_left(self, message: Entry.Left) -> None:
        """Back to the choices; a draft of the plan is there when it is edited again."""
        message.stop()
        if self._what == "edit" and isinstance(self.panel, Entry):
            self._draft = self.panel.text
        self.close_panel()


def _lines(text: str, width: int, look: Look) -> Laid:
    made = MarkdownLines(width, look)
    made.update(text)
    return [list(strip) for strip in made.strips]


def key_lines(width: int, look: Look) -> list[Text]:
    """The choices, on as many lines as they take."""
    lines: list[Text] = []
    for key, words in KEYS:
        part = Text.assemble((key, look.roles.accent), (f" {words}", look.roles.text))
        if lines and lines[-1].cell_len + 3 + part.cell_len <= width:
            lines[-1] = Text.assemble(lines[-1], "   ", part)
        else:
            lines.append(part)
    return lines
