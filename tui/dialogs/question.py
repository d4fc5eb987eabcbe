"""A question of the agent: choices by number, or an answer in one's own words."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

import themes
from tui.dialogs.considered import Considered
from tui.dialogs.entry import Entry
from tui.dialogs.exact import Ink, flowing
from tui.dialogs.grace import NEVER
from tui.dialogs.lines import Lines
from tui.dialogs.pages import Pages
from tui.dialogs.parts import parts, shortened
from tui.dialogs.place import placed, titled
from tui.look import one_line, spread
from tui.transcript.look import Look

if TYPE_CHECKING:
    from engine.events import QuestionAsked

NUMBERED = 9
"""Choices that have a digit; further ones are reached with the arrows."""


class QuestionDialog(Considered[str | None]):
    """Dismisses with the answer; None when it is put aside, and can be asked for again.

    ``typed_at``: when a key was pressed last before this, by ``clock``, in seconds. ``whose`` names the session, where
    several could ask.
    """

    CSS_PATH = themes.stylesheet("question")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,shift+tab", "mark(-1)", "The choice before", show=False),
        Binding("down,tab", "mark(1)", "The next choice"),
        # Before the answer that is typed has them: a question is read again while it is answered.
        Binding("pageup", "read('page_up')", "Read back", show=False, priority=True),
        Binding("pagedown", "read('page_down')", "Read on", show=False, priority=True),
        Binding("home", "read('home')", "To the beginning", show=False),
        Binding("end", "read('end')", "To the end", show=False),
        Binding("enter", "take", "Answer with the marked choice"),
        Binding("escape", "later", "Not now: it keeps waiting"),
    ]

    def __init__(
        self,
        event: QuestionAsked,
        typed_at: float = NEVER,
        clock: Callable[[], float] = monotonic,
        *,
        whose: str = "",
    ) -> None:
        super().__init__(typed_at, clock)
        self._whose = whose
        self.event = event
        self._marked = -1
        self._said = ""
        self.pages = Pages(self.dress, id="question-text")
        self.pages.begin(parts(event.question))

    def compose(self) -> ComposeResult:
        with Vertical(id="question"):
            yield self.pages
            yield Lines(id="question-options")
            yield Entry(id="question-entry")
            yield Static(id="question-foot")

    def on_mount(self) -> None:
        self.query_one("#question").border_title = titled("The agent asks", self._whose)
        entry = self.query_one(Entry)
        entry.placeholder = "or say it in your own words" if self.event.options else "type your answer"
        # It takes the focus with the first letter that counts, not before.
        entry.can_focus = False
        self.dress()
        if not self.event.options:
            self.call_after_refresh(self._focus_when_it_counts)

    def _focus_when_it_counts(self) -> None:
        """Without choices there is nothing to do but write: show the cursor once keys count."""
        if left := self.grace.left:
            self.set_timer(left, self._focus_when_it_counts)
        else:
            self._write("")

    # --- drawing -----------------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        self.dress()

    def on_text_area_changed(self) -> None:
        self.dress()

    def dress(self) -> None:
        """Draw everything for the room there is; nothing before there is something, or when all is gone again."""
        if not self.query("#question-foot"):
            return
        look, size = self.look(), self.app.size
        entry = self.query_one(Entry)
        empty = placed(size, 0, 0, 0, 0)
        inner = empty.inner
        text = self.pages.laid(lambda part: flowing(part, inner - 1, ink(look)), inner, look)
        if self._whose and not empty.framed:
            text = [*flowing(f"in {one_line(self._whose)}:", inner - 1, Ink(look.roles.muted)), *text]
        options, first = option_lines(self.event.options, self._marked, inner - 1, look)
        rows = min(5, entry.wrapped_document.height) if size.height >= 8 else 1
        wanted = max(len(text), size.height) if self.pages.parts.place else len(text)
        place = placed(size, wanted, len(options), rows - 1, 0)
        box = self.query_one("#question")
        box.styles.width = place.width
        box.set_class(place.framed, "-framed")
        box.set_class(place.airy, "-airy")
        if not place.facts and options:
            first += len(text) + 1
            text, options = [*text, [], *options], []
        choices = self.query_one("#question-options", Lines)
        self.pages.show(text, place.what)
        choices.display = bool(options)
        choices.show(options, place.facts)
        if self._marked >= 0:
            self.call_after_refresh((choices if options else self.pages).reveal, first)
        self._draw_foot()

    def _draw_foot(self) -> None:
        look, width = self.look(), self.query_one("#question-foot").size.width or 60
        if self._said:
            left = Text(self._said, look.roles.accent)
        elif self.entering:
            left = Text("Enter answers", look.roles.muted)
        elif self.event.options:
            left = Text(f"1-{min(NUMBERED, len(self.event.options))} answers, or type", look.roles.muted)
        else:
            left = Text("type, Enter answers", look.roles.muted)
        right = "Esc back" if self.entering and self.event.options else "Esc not now"
        if place := self.pages.parts.place:
            right = f"{place}: PgDn on, PgUp back   {right}"
        shown = spread(left, Text(right, look.roles.muted), width, look.signs.ellipsis)
        self.query_one("#question-foot", Static).update(shown)

    def say(self, words: str) -> None:
        self._said = words
        self._draw_foot()

    # --- choosing ----------------------------------------------------------------------------------------------------

    def unknown_key(self, key: str) -> None:
        self.say("")

    async def press(self, event: events.Key) -> None:
        """A digit takes its choice, any other letter begins an answer."""
        number = int(event.key) if event.key.isdecimal() and event.key.isascii() else 0
        if 1 <= number <= min(NUMBERED, len(self.event.options)):
            self.settle(self.event.options[number - 1])
        elif event.is_printable and event.character:
            self._write(event.character)
        else:
            await super().press(event)

    def on_paste(self, event: events.Paste) -> None:
        """A paste that counts begins an answer."""
        if not self.entering and self.grace.counts():
            self._write("")
            self.query_one(Entry).paste(event.text)
        else:
            super().on_paste(event)

    def _write(self, text: str) -> None:
        entry = self.query_one(Entry)
        entry.can_focus = True
        self.set_focus(entry)
        self.say("")
        if text:
            entry.put(text)

    def action_mark(self, step: int) -> None:
        count = len(self.event.options)
        if count:
            self._marked = (self._marked + step) % count if self._marked >= 0 else (0 if step > 0 else count - 1)
            self.dress()

    def action_read(self, how: str) -> None:
        self.pages.move(how)
        self._draw_foot()

    def action_take(self) -> None:
        if self._marked >= 0:
            self.settle(self.event.options[self._marked])
        else:
            self.say("choose with a digit or the arrows, or type an answer")

    def action_later(self) -> None:
        self.put_aside("The question still waits for you.")

    def on_entry_done(self, event: Entry.Done) -> None:
        if event.text.strip():
            self.settle(event.text.strip())
        else:
            self.say("an empty answer says nothing")

    def on_entry_left(self) -> None:
        """Back to the choices, the draft kept; without choices the question is put aside."""
        if not self.event.options:
            self.action_later()
            return
        self.set_focus(None)
        self.query_one(Entry).can_focus = False
        self.say("")


def ink(look: Look) -> Ink:
    """How the agent's words look: plain, whatever is in them."""
    return Ink(look.roles.text, odd=Style(reverse=True), ascii=look.signs.bar.isascii())


def option_lines(options: tuple[str, ...], marked: int, width: int, look: Look) -> tuple[list[list[Segment]], int]:
    """The choices as numbered lines, and the line the marked one begins at."""
    roles, signs = look.roles, look.signs
    lines: list[list[Segment]] = []
    first = 0
    for number, option in enumerate(options):
        on = number == marked
        if on:
            first = len(lines)
        digit = str(number + 1) if number < NUMBERED else " "
        drawn = Ink(roles.text + Style(bold=True), odd=Style(reverse=True)) if on else ink(look)
        for level, line in enumerate(flowing(shortened(option), max(4, width - 5), drawn)):
            sign = signs.prompt if on and level == 0 else " "
            lines.append(
                [
                    Segment(f"{sign} ", roles.accent),
                    Segment(f"{digit if level == 0 else ' '}  ", roles.accent + Style(bold=True)),
                    *line,
                ]
            )
    return lines, first
