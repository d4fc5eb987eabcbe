"""What becomes of the running call when a person stops the agent: it may be in the middle of changing something."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

import themes
from tui.dialogs.considered import Considered
from tui.dialogs.grace import NEVER
from tui.dialogs.place import WIDTH
from tui.format import plural
from tui.look import clip, one_line, spread, wrapped

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from engine.state import OpenCall

Answer = Literal["now", "after", "on", "ended"]
CHOICES: tuple[tuple[Answer, str, str], ...] = (
    ("after", "Let it finish, then stop", "nothing else is started"),
    ("now", "Stop it now", "it may have done part of its work"),
    ("on", "Go on", "as if you had not pressed Esc"),
)
Running = Callable[[], Sequence["OpenCall"]]


class StopDialog(Considered[Answer]):
    """Dismisses with what the person wants, or ``ended`` when the calls it asks about ended while it was open.

    ``running``: the calls with possible side effects that run now. ``waiting``: how many messages go out next.
    A second Esc stops at once, however soon it comes; the other keys count as in every dialog, so that a sentence being
    typed chooses nothing.
    """

    CSS_PATH = themes.stylesheet("stop")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,shift+tab", "mark(-1)", "The choice before", show=False),
        Binding("down,tab", "mark(1)", "The next choice"),
        *(Binding(str(n), f"take({n - 1})", words) for n, (_, words, _) in enumerate(CHOICES, 1)),
        Binding("enter", "take(-1)", "Take the marked choice"),
        Binding("escape", "now", "Stop it now"),
    ]

    def __init__(self, running: Running, waiting: int = 0, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(NEVER, clock)
        self._waiting = waiting
        self._under_way = running
        self.calls = tuple(running())
        self._marked = 0
        self._said = ""

    def compose(self) -> ComposeResult:
        with Vertical(id="stop"):
            yield Static(id="stop-what")
            yield Static(id="stop-choices")
            yield Static(id="stop-foot")

    def on_mount(self) -> None:
        self.query_one("#stop").border_title = "Stop the agent?"
        self.dress()

    def on_resize(self) -> None:
        self.dress()

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        self.heard()

    def heard(self) -> None:
        """The engine said something: what is asked about may have ended by itself."""
        left = {call.call_id for call in self._under_way()}
        if self.is_active and not any(call.call_id in left for call in self.calls):
            self.settle("ended")

    # --- drawing -----------------------------------------------------------------------------------------------------

    def dress(self) -> None:
        """Draw everything; nothing before there is something, or when all is gone again."""
        if not self.query("#stop-foot"):
            return
        size = self.app.size
        framed = size.width >= 40 and size.height >= 12
        box = self.query_one("#stop")
        box.styles.width = min(size.width - 4, WIDTH) if framed else size.width
        box.set_class(framed, "-framed")
        width = min(size.width - 4, WIDTH) - 4 if framed else size.width
        self.query_one("#stop-what", Static).update(self._what(width, 3 if framed else 1))
        self.query_one("#stop-choices", Static).update(self._choices(width))
        self._draw_foot(width)

    def _what(self, width: int, most: int) -> Text:
        look = self.look()
        first, more = self.calls[0], len(self.calls) - 1
        ellipsis = look.signs.ellipsis
        title = wrapped(first.title or first.name, max(6, width - 2), most, ellipsis)
        with_more = f" and {plural(more, 'more call')}" if more else ""
        doing = (f"{with_more} runs and may be changing something:", look.roles.text)
        head = clip(Text.assemble((one_line(first.name), look.roles.tool), doing), width, ellipsis)
        return Text("\n").join([head, *(Text(f"  {line}", style=look.roles.text) for line in title)])

    def _choices(self, width: int) -> Text:
        look = self.look()
        lines = []
        for number, (_, words, more) in enumerate(CHOICES):
            on = number == self._marked
            sign = look.signs.prompt if on else " "
            line = Text.assemble(
                (f"{sign} ", look.roles.accent),
                (f"{number + 1}  ", look.roles.accent + Style(bold=True)),
                (words, look.roles.text + Style(bold=on)),
                (f"  {more}", look.roles.muted),
            )
            lines.append(clip(line, width, look.signs.ellipsis))
        return Text("\n").join(lines)

    def _draw_foot(self, width: int = 0) -> None:
        look = self.look()
        foot = self.query_one("#stop-foot", Static)
        if self._said:
            left = Text(self._said, look.roles.accent)
        elif self._waiting:
            goes = "goes" if self._waiting == 1 else "go"
            left = Text(f"{plural(self._waiting, 'waiting message')} {goes} out after it", look.roles.muted)
        else:
            left = Text("Enter takes the marked", look.roles.muted)
        right = Text("Esc stops it now", look.roles.muted)
        foot.update(spread(left, right, width or foot.size.width or 60, look.signs.ellipsis))

    def say(self, words: str) -> None:
        self._said = words
        self._draw_foot()

    # --- choosing ----------------------------------------------------------------------------------------------------

    async def on_key(self, event: events.Key) -> None:
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            self.action_now()
            return
        await super().on_key(event)

    def unknown_key(self, key: str) -> None:
        """Somebody types on: then the end of their line is no choice either."""
        self.grace.shown()
        self.say("choose with the arrows and Enter, or 1 to 3")

    def action_mark(self, step: int) -> None:
        self._marked = (self._marked + step) % len(CHOICES)
        self.dress()

    def action_take(self, number: int) -> None:
        self.settle(CHOICES[self._marked if number < 0 else number][0])

    def action_now(self) -> None:
        self.settle("now")
