"""The rule an "always" would store: editable, and tried against what ran lately before it is kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from tui.dialogs.entry import Entry
from tui.look import clip, one_line
from tui.transcript.look import Look

if TYPE_CHECKING:
    from textual.widgets import TextArea

    from engine.queries import RuleTrial

DEBOUNCE = 0.15
SHOWN = 4
HIGH = "high risk: it will run unasked from now on"
LABEL = "the rule; Enter stores it and runs this, Esc returns"


class RulePanel(Vertical):
    """``try_rule`` says what a rule would have allowed. Nothing is stored before that was shown."""

    class Store(Message):
        """The person confirmed this rule, having seen what it covers."""

        def __init__(self, rule: str) -> None:
            super().__init__()
            self.rule = rule

    class Changed(Message):
        """It takes another number of rows."""

    def __init__(self, rule: str, high: bool, try_rule: Callable[[str], Awaitable[RuleTrial]], look: Look) -> None:
        super().__init__(classes="approval-sub")
        self._entry = Entry(rule, id="approval-entry")
        self._high, self._try, self._look = high, try_rule, look
        self._rest: Timer | None = None
        self._tried = ""
        self._error = ""

    def compose(self) -> ComposeResult:
        yield Static(Text(LABEL), classes="label")
        if self._high:
            yield Static(Text(f"{self._look.signs.risk} {HIGH}"), classes="alarm")
        yield self._entry
        yield Static(id="approval-trial")

    def on_mount(self) -> None:
        self._look_at()

    @property
    def entry(self) -> Entry:
        """Where the rule is typed."""
        return self._entry

    @property
    def rows(self) -> int:
        """Rows it takes."""
        trial = self.query_one("#approval-trial", Static).content
        shown = trial.plain.count("\n") + 1 if isinstance(trial, Text) and trial.plain else 0
        return 1 + self._high + min(4, self._entry.wrapped_document.height) + shown

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(DEBOUNCE, self._look_at)
        self.post_message(self.Changed())

    def _look_at(self) -> None:
        self.run_worker(self._trial(self._entry.text.strip()), group="trial", exclusive=True)

    async def _trial(self, rule: str) -> None:
        look = self._look
        try:
            trial = await self._try(rule)
        except Exception as error:
            # Without history a rule can still be judged by reading it; the person is told, and decides.
            words = f"could not be tried against what ran lately: {one_line(str(error)) or type(error).__name__}"
            self._show(rule, "", Text(words, look.roles.warn))
            return
        if trial.error:
            self._show(rule, trial.error, Text(f"{look.signs.failed} {one_line(trial.error)}", look.roles.danger))
        else:
            self._show(rule, "", covered(trial.matched, self.size.width or 60, look))

    def _show(self, rule: str, error: str, words: Text) -> None:
        self._tried, self._error = rule, error
        self.query_one("#approval-trial", Static).update(words)
        self.post_message(self.Changed())

    def on_entry_done(self, event: Entry.Done) -> None:
        event.stop()
        rule = event.text.strip()
        if rule != self._tried or not rule:
            words = "an empty rule allows nothing" if not rule else "looking at what it would have allowed…"
            self.query_one("#approval-trial", Static).update(Text(words, self._look.roles.accent))
            self._look_at()
        elif not self._error:
            self.post_message(self.Store(rule))


def covered(commands: tuple[str, ...], width: int, look: Look) -> Text:
    """What a rule would have allowed lately."""
    roles = look.roles
    if not commands:
        return Text("of what ran lately it would have allowed nothing else", roles.muted)
    lines = [Text(f"would also have allowed {'this' if len(commands) == 1 else f'these {len(commands)}'}:", roles.text)]
    for command in commands[:SHOWN]:
        lines.append(clip(Text(f"  {one_line(command)}", roles.muted), width, look.signs.ellipsis))
    if len(commands) > SHOWN:
        lines.append(Text(f"  and {len(commands) - SHOWN} more", roles.muted))
    return Text("\n").join(lines)
