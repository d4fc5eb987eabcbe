"""Jump mode: the screen as it is, with letters on everything one can go to; typing them goes there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from rich.segment import Segment
from rich.style import Style
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from tui.jump.labels import labels
from tui.jump.targets import Target, targets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.app import App, ComposeResult
    from textual.screen import Screen

    from tui.theming import Themed


def jump(app: App[Any], then: Callable[[], object] = lambda: None) -> None:
    """Put letters on what is on screen; once more leaves. ``then`` is called when it is over."""
    if isinstance(app.screen, JumpScreen):
        app.screen.leave()
        return
    found = targets(app.screen)
    if not found:
        app.notify("Everything here has its key already.", markup=False)
        return

    def go(target: Target | None) -> None:
        if target is not None:
            target.go()
        then()

    app.push_screen(JumpScreen(app.screen, found), go)


class JumpScreen(ModalScreen[Target | None]):
    """Its result is where to go; None when a person thought better of it, or when the terminal changed under it."""

    CSS = "JumpScreen { background: transparent; } JumpScreen Labelled { width: 1fr; height: 1fr; }"

    def __init__(self, below: Screen[Any], found: Sequence[Target]) -> None:
        super().__init__()
        self._picture = Labelled(below, dict(zip(labels(len(found)), found, strict=False)))
        self._size, self._left = below.size, False

    def leave(self, target: Target | None = None) -> None:
        """Go there, or nowhere; keys that come after it and before the screen has gone do nothing."""
        if not self._left:
            self._left = True
            self.dismiss(target)

    def compose(self) -> ComposeResult:
        yield self._picture

    def on_resize(self, event: events.Resize) -> None:
        if event.size != self._size:
            self.leave()

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if event.key == "backspace":
            self._picture.narrow("")
        elif event.character is None or not event.character.isalpha():
            self.leave()
        elif (typed := self._picture.typed + event.character.lower()) in self._picture.labelled:
            self.leave(self._picture.labelled[typed])
        elif any(label.startswith(typed) for label in self._picture.labelled):
            self._picture.narrow(typed)

    def on_click(self) -> None:
        self.leave()


class Labelled(Widget):
    """A picture of what was on screen, so that nothing moves away from under its letters."""

    def __init__(self, below: Screen[Any], labelled: dict[str, Target]) -> None:
        super().__init__()
        self.labelled, self.typed = labelled, ""
        self._lines = below._compositor.render_strips(below.size)

    def narrow(self, typed: str) -> None:
        """``typed`` are the first letters of a label: those of the others go."""
        self.typed = typed
        self.refresh()

    def render_line(self, y: int) -> Strip:
        if y >= len(self._lines):
            return Strip.blank(self.size.width, self.rich_style)
        look = cast("Themed", self.app).look
        quiet = Style(color=look.roles.muted.color, bold=False, underline=False, reverse=False)
        below = self._lines[y]
        line = Strip([Segment(text, (style or Style()) + quiet) for text, style, _ in below], below.cell_length)
        mark = look.roles.accent + Style(bold=True, reverse=True)
        taken = 0
        for label, target in sorted(self.labelled.items(), key=lambda item: item[1].x):
            if target.y == y and label.startswith(self.typed):
                line, taken = _stamped(line, label, max(taken, target.x), mark)
        return line


def _stamped(line: Strip, label: str, x: int, style: Style) -> tuple[Strip, int]:
    """The line with the label at ``x``, or as near to it as the line's end allows; and where the label ends."""
    width = line.cell_length
    x = max(0, min(x, width - len(label)))
    end = min(width, x + len(label))
    parts = [line.crop(0, x), Strip([Segment(label[: end - x], style)], end - x), line.crop(end, width)]
    return Strip.join(parts), end
