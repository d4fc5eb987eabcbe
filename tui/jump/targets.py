"""What on a screen one can go to or press, and where it is. Nothing is looked for until someone asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from textual.errors import NoWidget
from textual.geometry import Region
from textual.widget import Widget

if TYPE_CHECKING:
    from textual.screen import Screen

Place = tuple[int, Callable[[], object]]
"""A line of a widget, counted from the top of its content, and what going there does."""


@dataclass(frozen=True, slots=True)
class Target:
    """A place on the screen, in cells, and what going there does."""

    x: int
    y: int
    go: Callable[[], object]


def targets(screen: Screen[Any]) -> list[Target]:
    """Everything in sight, in the order one reads, no two on one cell."""
    found: dict[tuple[int, int], Target] = {}
    for widget, region in _in_sight(screen):
        for target in _of(widget, region):
            found.setdefault((target.y, target.x), target)
    return [found[place] for place in sorted(found)]


def _in_sight(screen: Screen[Any]) -> Iterator[tuple[Widget, Region]]:
    """Each widget with the part of the screen on which its content can be seen."""
    for widget in screen.walk_children(Widget):
        if not widget.visible or not all(node.display for node in widget.ancestors_with_self):
            continue
        try:
            place = screen.find_widget(widget)
        except NoWidget:
            continue
        content = place.region.shrink(widget.styles.gutter).intersection(place.clip)
        if content.area:
            yield widget, content


def _of(widget: Widget, region: Region) -> Iterator[Target]:
    places: Callable[[], Sequence[Place]] | None = getattr(widget, "jump_places", None)
    rows = places() if places is not None else ()
    for line, go in rows:
        if 0 <= line < region.height:
            yield Target(region.x, region.y + line, _after_focus(widget, go))
    if not rows and widget.focusable and not widget.has_focus:
        yield Target(region.x, region.y, widget.focus)
    if not widget.children and not widget.focusable:
        yield from _pressed(widget, region)


def _after_focus(widget: Widget, go: Callable[[], object]) -> Callable[[], object]:
    def both() -> None:
        if widget.focusable:
            widget.focus()
        go()

    return both


def _pressed(widget: Widget, region: Region) -> Iterator[Target]:
    """Words that a click would do something on: the beginning of each, or the free cell before it."""
    before: tuple[int, str] = (-1, "")
    lines = widget.render_lines(Region(0, 0, widget.outer_size.width, widget.outer_size.height))
    for y, line in enumerate(lines):
        x, gap = 0, 0
        for text, style, _ in line:
            action = style.meta.get("@click") if style is not None else None
            here = (y, str(action or ""))
            if isinstance(action, str) and here != before and x < region.width and y < region.height:
                yield Target(region.x + x - gap, region.y + y, partial(_press, widget, action))
            if text.strip() or action:
                before = here
            x += cell_len(text)
            gap = int(text.endswith(" "))


def _press(widget: Widget, action: str) -> None:
    widget.call_later(widget.run_action, action)
