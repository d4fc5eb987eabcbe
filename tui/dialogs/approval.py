"""The approval: what the agent wants to do, and a person's considered word on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

import themes
from engine.commands import Decide
from engine.text import visible
from tui.actions import BY_NAME
from tui.dialogs import approval_view as view
from tui.dialogs.approval_parts import approval_parts
from tui.dialogs.entry import Entry
from tui.dialogs.grace import NEVER
from tui.dialogs.lines import Lines
from tui.dialogs.long_text import LongText, out_of_sight
from tui.dialogs.pages import Pages
from tui.dialogs.place import Place, placed, titled
from tui.dialogs.rule import RulePanel
from tui.dialogs.typed_in import TypedIn
from tui.look import one_line
from tui.widgets.shown_area import LONGEST

if TYPE_CHECKING:
    from engine.events import ApprovalRequested
    from engine.queries import RuleTrial

Choice = Literal["once", "session", "rule", "deny", "edit"]


class ApprovalDialog(LongText[Decide | None], TypedIn[Decide | None]):
    """Dismisses with the decision, bound to the digest shown; None when it is put aside or settled elsewhere.

    ``position`` of ``total`` requests that came together; ``whose`` names the session, where several could ask.
    ``try_rule`` says what a rule would have allowed lately.
    ``typed_at``: when a key was pressed last before this, by ``clock``, in seconds.
    """

    CSS_PATH = themes.stylesheet("approval")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "once", "Allow once"),
        Binding("s", "session", "Allow for this session"),
        Binding("a", "always", "Allow always: store a rule"),
        Binding("n", "deny", "Deny"),
        Binding("d", "reason", "Deny and say why"),
        Binding("e", "edit", "Edit the command, then run it"),
        Binding("escape", "later", "Later: it keeps waiting"),
    ]

    def __init__(
        self,
        request: ApprovalRequested,
        position: int,
        total: int,
        try_rule: Callable[[str], Awaitable[RuleTrial]],
        typed_at: float = NEVER,
        clock: Callable[[], float] = monotonic,
        *,
        whose: str = "",
    ) -> None:
        super().__init__(typed_at, clock)
        self.request = request
        self._title = f"Approve?  {position} of {total}" if total > 1 else "Approve?"
        self._whose = whose
        self._try = try_rule
        self._clock = clock
        self._deadline = clock() + view.time_left(request)
        self._said = ""
        self._confirming = False
        self._place = Place()
        self.pages = Pages(self.dress, id="approval-what")
        self.pages.begin(approval_parts(request))

    def compose(self) -> ComposeResult:
        with Vertical(id="approval"):
            yield Static(id="approval-head")
            yield self.pages
            yield Static(id="approval-more")
            yield Lines(id="approval-facts")
            yield Static(id="approval-keys")
            yield Static(id="approval-foot")

    def on_mount(self) -> None:
        box = self.query_one("#approval")
        box.border_title = titled(self._title, self._whose)
        box.set_class(self.request.risk == "high", "-high")
        self.dress()
        self.set_interval(1.0, self._tick)

    # --- drawing -----------------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        self.dress()

    def on_rule_panel_changed(self) -> None:
        self.dress()

    def on_text_area_changed(self) -> None:
        self.dress()

    def dress(self) -> None:
        """Draw everything for the room there is; nothing before there is something, or when all is gone again."""
        if not self.query("#approval-foot"):
            return
        request, look, size = self.request, self.look(), self.app.size
        empty = placed(size, 0, 0, 0, 0, wide=bool(request.diff))
        width = empty.inner
        what = self.pages.laid(lambda part: view.what(request, part, width - 1, look), width, look)
        facts = view.facts(request, width - 1, look, "" if empty.framed else self._whose)
        keys = [] if self.panel else view.keys(request, width, look)
        rows = max(len(what), size.height) if self.pages.parts.place else len(what)
        place = placed(size, rows, len(facts), len(keys), self._panel_rows(), wide=bool(request.diff))
        self._place = place
        box = self.query_one("#approval")
        box.styles.width = place.width
        box.set_class(place.framed, "-framed")
        box.set_class(place.airy, "-airy")
        if not place.facts:
            what, facts = [*what, [], *facts], []
        self.query_one("#approval-head", Static).update(view.head(request, width, look))
        self.pages.show(what, place.what)
        shown = self.query_one("#approval-facts", Lines)
        shown.display = bool(facts)
        shown.show(facts, place.facts)
        choices = self.query_one("#approval-keys", Static)
        choices.display = bool(keys)
        choices.update(Text("\n").join(keys))
        self._draw_foot()
        self.call_after_refresh(self.draw_more)

    def draw_more(self) -> None:
        if not self.query("#approval-more"):
            return
        more = self.query_one("#approval-more", Static)
        words = out_of_sight(self.pages, self._place.inner, self.look())
        more.display = bool(words) and self._place.more
        if more.display:
            more.update(words)

    def _draw_foot(self) -> None:
        left = self._deadline - self._clock()
        self.query_one("#approval-foot", Static).update(
            view.countdown(
                left, self._place.inner, self.look(), self._said, "Esc returns" if self.panel else "Esc later"
            )
        )

    def _tick(self) -> None:
        self._draw_foot()

    def say(self, words: str) -> None:
        self._said = words or (self._confirmation() if self._confirming else "")
        self._draw_foot()

    def _confirmation(self) -> str:
        return f"press s again: {one_line(self.request.rule) or 'this very line'} for this session"

    # --- choices -----------------------------------------------------------------------------------------------------

    def unknown_key(self, key: str) -> None:
        self._confirming = False
        self.say("Enter approves nothing; y does" if key == "enter" else "")

    def _decide(self, choice: Choice, *, reason: str = "", rule: str = "", command: str = "") -> None:
        request = self.request
        self.settle(Decide(request.session, request.id, request.digest, choice, reason, rule, command))

    def action_once(self) -> None:
        self._decide("once")

    def action_session(self) -> None:
        """At high risk a second press, on purpose, is needed."""
        if self.request.risk != "high" or self._confirming:
            self._decide("session")
            return
        self._confirming = True
        self.grace.shown()
        self.say("")

    def action_deny(self) -> None:
        self._decide("deny")

    async def action_always(self) -> None:
        if not self.request.rule:
            self.say("no rule can cover this; y allows it once")
            return
        if len(self.request.rule) > LONGEST:
            self.say("the rule is too long to be shown; y allows it once")
            return
        panel = RulePanel(self.request.rule, self.request.risk == "high", self._try, self.look())
        await self._open(panel, panel.entry)

    async def action_reason(self) -> None:
        entry = Entry(id="approval-entry")
        await self._open(_labelled("deny and say why; Enter sends, Esc returns", entry, "-reason"), entry)

    async def action_edit(self) -> None:
        if self.request.kind != "command":
            self.say("only a command can be edited")
            return
        if len(self.request.subject) > LONGEST:
            self.say("too long to be edited here; d denies it with what should change")
            return
        entry = Entry(self.request.subject, lines=True, id="approval-entry")
        await self._open(_labelled("edit, then run: F5 runs it, Esc returns", entry, "-edit"), entry)

    def action_later(self) -> None:
        """Leave it waiting: the pane of approvals has it, and the time to answer runs on."""
        self.put_aside(f"It still waits for you: {BY_NAME['answer'].label} shows it again.")

    # --- a text typed into it ----------------------------------------------------------------------------------------

    def _panel_rows(self) -> int:
        panel = self.panel
        if panel is None:
            return 0
        if isinstance(panel, RulePanel):
            return panel.rows if panel.is_mounted else 3
        entries = panel.query(Entry)
        return 1 + (min(8, entries.first().wrapped_document.height) if entries else 1)

    async def _open(self, panel: Vertical, entry: Entry) -> None:
        self._confirming = False
        await self.open_panel(panel, entry, self.query_one("#approval-keys"))

    def on_entry_left(self, event: Entry.Left) -> None:
        event.stop()
        self.close_panel()

    def on_entry_done(self, event: Entry.Done) -> None:
        event.stop()
        text = event.text.strip()
        if self.panel is None:
            return
        if self.panel.has_class("-reason"):
            self._decide("deny", reason=text)
        elif not text:
            self.say("an empty command runs nothing; Esc returns")
        elif event.text == visible(self.request.subject):
            self.say("nothing was changed; Esc returns, then y allows it")
        else:
            self._decide("edit", command=event.text.rstrip("\n"))

    def on_rule_panel_store(self, event: RulePanel.Store) -> None:
        self._decide("rule", rule=event.rule)


def _labelled(label: str, entry: Entry, kind: str) -> Vertical:
    return Vertical(Static(Text(label), classes="label"), entry, classes=f"approval-sub {kind}")
