"""The transcript: a line-API view of a session that costs the same however long it is.

It asks nothing of the engine. Events come in by ``feed``, messages go out; what is read, folded, selected and found
is the `Reader`'s business, what a block looks like is `render`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from rich.style import Style
from textual.binding import BindingType
from textual.events import Click
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from engine.events import AnyEvent
from tui.signs import Signs, signs_for
from tui.transcript import keys, messages
from tui.transcript.kinds import Block, CallKey, Jump, Whole
from tui.transcript.look import Look
from tui.transcript.paint import Ground, Painter, marked, overlay, thumb
from tui.transcript.reader import Frame, Reader, Row


class Transcript(ScrollView, can_focus=True):
    """A session's events as a conversation. Feed it, at most once a frame; it follows the end while that is in view.

    unseen: how many blocks arrived below what a person reads; 0 at the end.
    """

    DEFAULT_CSS = """
    Transcript {
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        background: $background;
        color: $foreground;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = keys.BINDINGS

    unseen: reactive[int] = reactive(0, repaint=False)

    Selected = messages.Selected
    WantsArtifact = messages.WantsArtifact
    Found = messages.Found

    def __init__(self, *, signs: Signs | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._signs = signs or signs_for()
        self._reader = Reader(Look(signs=self._signs))
        self._rows: list[Row] = []
        self._painter = Painter()
        self._thumb = (0, 0)
        self._placing = False
        self._planned = False
        self._hidden = False
        self._all_open = False

    # --- what others call ------------------------------------------------------------------------------------------

    @property
    def at_end(self) -> bool:
        """Whether the view shows the end and follows it."""
        return self._reader.follow

    @property
    def reader(self) -> Reader:
        """What is read and from where."""
        return self._reader

    def feed(self, events: Sequence[AnyEvent]) -> None:
        """Take in events, in order; they are shown with the next frame."""
        if self._reader.feed(events):
            self._plan()

    def feed_past(self, events: Sequence[AnyEvent]) -> None:
        """Take in what was before, and then all that is shown, in order; `join_past` shows it."""
        self._reader.feed_past(events)

    def join_past(self) -> None:
        """Show what `feed_past` took in, with the view where it is."""
        self._reader.join_past()
        self._plan()

    def clear(self) -> None:
        """Forget everything."""
        self._reader.clear()
        self._plan()

    def rewind(self, events: Sequence[AnyEvent]) -> None:
        """Show exactly these events, from their end."""
        self._reader.clear()
        self._reader.feed(events)
        self._plan()

    def at_hand(self) -> tuple[Block | None, str]:
        """The selected block, else the last one with something in it; and all of its output, when that is known."""
        return self._reader.at_hand()

    def show_artifact(self, call: CallKey, whole: Whole) -> None:
        """The whole output asked for by `WantsArtifact`, or the picture by `WantsPicture`."""
        if self._reader.supply(call, whole):
            self._plan()

    def jump_to_event(self, seq: int) -> bool:
        """Show the block that event ``seq``, or the last shown one before it, went into."""
        index = self._reader.blocks.block_of(seq)
        if index < 0:
            return False
        self._reader.jump_to(index)
        self._arrange()
        return True

    def jump(self, kind: Jump, direction: int = 1) -> bool:
        """Go to the next (1) or previous (-1) block of a kind; False when there is none."""
        return self._moved(self._reader.jump(kind, direction))

    def fold_all(self, unfolded: bool) -> None:
        """Fold or unfold every block."""
        self._all_open = unfolded
        self._reader.fold_all(unfolded)
        self._arrange()

    def find(self, text: str) -> int:
        """Search, newest first, without regard to case; empty ends it. The matches so far: a long session is searched
        in steps, each reported by `Found`."""
        self._reader.find(text)
        self._arrange()
        self._report_search()
        return self._reader.search.matches

    def find_next(self) -> bool:
        """Go to the next match; False when there is none."""
        return self._moved(self._reader.find_step(1))

    def find_prev(self) -> bool:
        """Go to the previous match; False when there is none."""
        return self._moved(self._reader.find_step(-1))

    # --- keys and mouse --------------------------------------------------------------------------------------------

    def action_scroll_lines(self, lines: int) -> None:
        self._scroll_by(lines)

    def action_scroll_pages(self, pages: int) -> None:
        self._scroll_by(pages * max(1, self._reader.height - 1))

    def action_go_to_start(self) -> None:
        self._reader.scroll_to(0)
        self._arrange()

    def action_go_to_end(self) -> None:
        self._reader.go_to_end()
        self._arrange()

    def action_select(self, step: int) -> None:
        if self._moved(self._reader.select_step(step)):
            self._tell_selected()

    def action_open(self) -> None:
        """Enter: one step deeper into the selected block."""
        index = self._at_hand()
        if index >= 0 and self._reader.open_further(index):
            self._ask_for_rest(index)
        self._arrange()

    def action_fold(self) -> None:
        """Space: open or shut."""
        index = self._at_hand()
        if index >= 0:
            self._toggle(index)

    def action_fold_all(self) -> None:
        self.fold_all(not self._all_open)

    def action_find(self, direction: int) -> None:
        self._moved(self._reader.find_step(direction))

    def action_jump(self, kind: Jump, direction: int) -> None:
        if self.jump(kind, direction):
            self._tell_selected()

    def on_click(self, event: Click) -> None:
        """A click selects; on a selected block it opens or shuts."""
        place = event.get_content_offset(self)
        if place is None or not 0 <= place.y < len(self._rows) or self.screen.get_selected_text():
            return
        index = self._rows[place.y].block
        if index == self._reader.selected:
            self._toggle(index)
        else:
            self._choose(index)

    def jump_places(self) -> list[tuple[int, Callable[[], None]]]:
        """The blocks in view: the line each is first seen on, and what selects it."""
        first: dict[int, int] = {}
        for line, row in enumerate(self._rows):
            if row.strip.text.strip():
                first.setdefault(row.block, line)
        return [(line, partial(self._choose, index)) for index, line in first.items()]

    def _choose(self, index: int) -> None:
        self._reader.selected = index
        self._arrange()
        self._tell_selected()

    def _toggle(self, index: int) -> None:
        opened = not self._reader.pages(index)
        self._reader.set_pages(index, int(opened))
        if opened:
            self._ask_for_rest(index)
        self._arrange()

    def _at_hand(self) -> int:
        """The selected block, or the last one in view that can be unfolded, which is then selected."""
        reader = self._reader
        if reader.chosen() is None:
            foldable = [row.block for row in self._rows if reader.layout.hidden(row.block)]
            reader.selected = foldable[-1] if foldable else -1
        return reader.selected

    def _ask_for_rest(self, index: int) -> None:
        if (wanted := messages.wanted(self, index)) is not None:
            self.post_message(wanted)

    def _tell_selected(self) -> None:
        block = self._reader.chosen()
        if block is not None:
            self.post_message(self.Selected(self, block.seq))

    def _moved(self, moved: bool) -> bool:
        if moved:
            self._arrange()
        return moved

    def _scroll_by(self, lines: int) -> None:
        self._reader.scroll_to(max(0, self._reader.top + lines))
        self._arrange()

    def _report_search(self) -> None:
        search = self._reader.search
        if search.text:
            self.post_message(self.Found(self, search.text, search.matches, search.complete))
        if not search.complete:
            self.set_timer(0.01, self._search_on)

    def _search_on(self) -> None:
        if not self._reader.search.complete:
            self._reader.search.step()
            self._report_search()

    # --- the frame -------------------------------------------------------------------------------------------------

    def _plan(self) -> None:
        """Arrange once for all that is fed before the next frame; never while out of sight."""
        if not self._planned and self.is_mounted:
            self._planned = True
            self.call_next(self._arrange_planned)

    def _arrange_planned(self) -> None:
        if self._planned:
            self._arrange()

    def _arrange(self) -> None:
        """Lay out the view, and repaint the lines that differ from what is on the screen."""
        self._planned = False
        reader = self._reader
        if not self.is_mounted:
            return
        size = self.scrollable_content_region.size
        reader.resize(size.width, size.height)
        if self._hidden or not size:
            self.unseen = reader.unseen
            return
        frame = reader.frame()
        self._place(frame)
        self._paint(frame)
        self.unseen = reader.unseen

    def _place(self, frame: Frame) -> None:
        """Tell Textual where the view is; the widget's own size is the same, so the screen needs no new layout."""
        self.set_reactive(Widget.virtual_size, Size(self._reader.width, frame.total))
        self.set_reactive(Widget.scroll_y, float(frame.top))
        self.set_reactive(Widget.scroll_target_y, float(frame.top))
        bar = self.vertical_scrollbar
        seen = thumb(frame.total, self._reader.height, frame.top)
        if seen != self._thumb or bar.grabbed:
            self._thumb = seen
            bar.window_virtual_size, bar.window_size = frame.total, self._reader.height
            bar.position = frame.top

    def _paint(self, frame: Frame) -> None:
        self._rows = frame.rows
        regions = [
            Region(0, y, self._reader.width, 1)
            for y in self._painter.show([marked(row, self._reader) for row in frame.rows])
        ]
        if regions:
            self.refresh(*regions)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines as they go to the screen. Nothing but this widget's text is in them, so no box is drawn."""
        if self.parent is None:
            # It was taken away a moment before the screen forgets where it was: see `Removable`.
            return [Strip.blank(crop.width)] * crop.height
        if self.styles.gutter.totals != (0, 0) or self.opacity < 1:
            return super().render_lines(crop)
        ground = self._ground(self.outer_size.width)
        strips = [self._finished(y, ground) for y in crop.line_range]
        left, right = crop.column_span
        return strips if (left, right) == (0, ground.width) else [strip.crop(left, right) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """One line, with the offsets that a selection by mouse asks for."""
        return self._finished(y, self._ground(self.size.width)).apply_offsets(0, self._reader.top + y)

    def _ground(self, width: int) -> Ground:
        if self.scrollable_content_region.size != (self._reader.width, self._reader.height):
            # A paint that comes before the resize event: lay out now rather than show lines of another width.
            self._arrange()
        return Ground(width, self.rich_style, self.background_colors[1], tuple(self.get_line_filters()))

    def _finished(self, y: int, ground: Ground) -> Strip:
        selection = self.text_selection
        span = selection.get_span(self._reader.top + y) if selection else None
        if span is None or y >= len(self._rows):
            return self._painter.line(y, ground)
        strip = self._painter.lines[y]
        start, end = span
        style = self.screen.get_component_rich_style("screen--selection")
        return ground.finish(
            overlay(strip, [(start, len(strip.text) if end < 0 else end)], Style(bgcolor=style.bgcolor))
        )

    # --- what Textual tells ----------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.watch(self.app, "theme", self._restyle, init=False)
        self._restyle()
        self._plan()

    def on_unmount(self) -> None:
        self._reader.clear()
        self._rows, self._painter = [], Painter()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_mounted:
            self._restyle()

    def _restyle(self) -> None:
        app = self.app
        if self._reader.restyle(Look.in_app(app, self._signs)):
            self._plan()

    def on_resize(self) -> None:
        self._arrange()

    def on_show(self) -> None:
        self._hidden = False
        self._arrange()

    def on_hide(self) -> None:
        self._hidden = True

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self._placing and round(old_value) != round(new_value):
            self._reader.scroll_to(round(new_value))
            self._arrange()

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        # Clamping the scroll position to a new size is no movement of a person.
        self._placing = True
        try:
            return super()._size_updated(size, virtual_size, container_size, layout)
        finally:
            self._placing = False

    # --- selection by mouse ----------------------------------------------------------------------------------------

    @property
    def allow_select(self) -> bool:
        return True

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return self._reader.text_within(selection), "\n"
