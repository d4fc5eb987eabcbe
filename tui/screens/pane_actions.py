"""Actions of the workbench on its panes: put away, bring back, resize. How they were left is how they are found."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from engine.keepsake import keep, recall
from tui import panes
from tui.actions import BESIDE
from tui.panes import Arrangement

if TYPE_CHECKING:
    from pathlib import Path

    from textual import events
    from textual.screen import Screen
    from textual.widget import Widget

    from engine.paths import Home
    from tui.host import Host
    from tui.keeping import Keeping
    from tui.widgets.approvals import ApprovalsPane
    from tui.widgets.cache import CachePane
    from tui.widgets.task import TaskPane
    from tui.widgets.todo import TodoPane
    from tui.widgets.tools import ToolsPane

    Base = Screen[None]
else:
    Base = object

USUAL_SIDE, USUAL_SIDE_OF_THREE, USUAL_TOOLS = 40, 44, 46
"""Widths where a person has not said otherwise."""
ONE_AT_A_TIME = "Below 100 columns there is one pane at a time: 1 to 6 change it."


class PaneActions(Base):
    """Mixed into the workbench screen, which provides the panes, ``bench`` and ``keeping``."""

    bench: Host
    keeping: Keeping
    composer: Any
    task_pane: TaskPane
    todo_pane: TodoPane
    cache_pane: CachePane
    approvals_pane: ApprovalsPane
    tools_pane: ToolsPane

    if TYPE_CHECKING:

        @property
        def narrow(self) -> bool: ...
        def action_tab(self, name: str) -> None: ...
        def _focus_name(self) -> str: ...

    def recall_panes(self, home: Home) -> None:
        """Take the arrangement the last app left, before anything is laid out."""
        self._panes_file: Path = home.state / "panes.json"
        self.arrangement = panes.read(recall(self._panes_file))

    def on_mount(self) -> None:
        self._arrange(self.app.size.width)

    def on_resize(self, event: events.Resize) -> None:
        self._arrange(event.size.width)

    # --- what a person does ------------------------------------------------------------------------------------------

    def action_hide_pane(self) -> None:
        """Put the pane with the focus away."""
        pane = self._here()
        if not pane:
            return
        if pane == "tools" and not self.has_class("-full"):
            # It only lends itself the column of the others: those come back.
            self.action_tab("transcript")
        else:
            self.show_panes(self.arrangement.without(pane))
        self.composer.focus()

    def action_toggle_beside(self) -> None:
        """Everything beside the transcript away, or back."""
        if self.narrow:
            self.bench.say(ONE_AT_A_TIME)
            return
        if self._focus_name() in BESIDE:
            self.composer.focus()
        self.show_panes(self.arrangement.toggled(self.has_class("-full")))

    def bring_back(self, pane: str) -> None:
        """Make sure that ``pane`` can be gone to; where panes come one at a time it can be anyway."""
        if pane in BESIDE and not self.narrow and not self.arrangement.shows(pane):
            self.show_panes(self.arrangement.showing(pane))

    def action_resize_column(self, by: int) -> None:
        """A step wider (1) or narrower (-1): the column with the focus, else the one next to the transcript."""
        if self.narrow:
            self.bench.say(ONE_AT_A_TIME)
            return
        three = self.has_class("-full")
        if self.arrangement.bare(three):
            self.bench.say("Nothing is beside the transcript: Alt+0 brings it back.")
            return
        is_tools = three and (self._focus_name() == "tools" or not self.arrangement.stack)
        before = self._widths(self.arrangement, self.size.width)[is_tools]
        wish = max(panes.NARROWEST, before + by * panes.STEP)
        wished = replace(self.arrangement, tools=wish) if is_tools else replace(self.arrangement, side=wish)
        after = self._widths(wished, self.size.width)[is_tools]
        if after == before:
            least, most = f"It keeps {panes.NARROWEST} columns.", f"The transcript keeps {panes.TRANSCRIPT} columns."
            self.bench.say(most if by > 0 else least)
            return
        self.show_panes(replace(wished, tools=after) if is_tools else replace(wished, side=after))

    def action_resize_pane(self, by: int) -> None:
        """A line more (1) or fewer (-1) for the pane with the focus; the todo list takes what the others leave."""
        pane = self._here()
        if not pane:
            return
        if pane not in panes.LOWERED:
            takes = "The todo list takes what the others leave" if pane == "todo" else "The tools take their column"
            self.bench.say(f"{takes}: + and - change the other panes.")
            return
        there = self._pane_named(pane)
        height = there.size.height
        if by > 0 and there.virtual_size.height <= height:
            self.bench.say("All of it shows.")
            return
        room = self.todo_pane.size.height - panes.LEFT_TO_TODO if self.todo_pane.display else 1
        if by > 0 and room < 1:
            self.bench.say("The todo list keeps its last lines.")
            return
        self.show_panes(self.arrangement.high(pane, height + by))

    def action_reset_panes(self) -> None:
        """As it was at first."""
        self.show_panes(Arrangement())

    # --- doing it ----------------------------------------------------------------------------------------------------

    def _here(self) -> str:
        """The pane beside the transcript that has the focus; '' with a word about why nothing can be done."""
        pane = self._focus_name()
        if self.narrow:
            self.bench.say(ONE_AT_A_TIME)
        elif pane not in BESIDE:
            self.bench.say("Go to a pane first: Tab, or Alt and its number.")
        else:
            return pane
        return ""

    def show_panes(self, wished: Arrangement) -> None:
        """Arrange the panes as wished for, now and at the next start."""
        if wished != self.arrangement:
            self.arrangement = wished
            self._arrange(self.size.width)
            self.keeping.do(partial(keep, self._panes_file, wished.as_data()))

    def _widths(self, wished: Arrangement, columns: int) -> tuple[int, int]:
        three = columns >= 160
        usual = (USUAL_SIDE_OF_THREE if three else USUAL_SIDE, USUAL_TOOLS)
        return panes.widths(wished, columns, three, usual)

    def _arrange(self, columns: int) -> None:
        """Lay the panes out as wished for; one at a time they have the whole width."""
        kept, narrow = self.arrangement, columns < 100
        stack = self.query_one("#side")
        stack.set_class(not kept.stack, "-put-away")
        for name in BESIDE:
            hidden = not kept.shows(name) and (name != "tools" or columns >= 160 or not kept.beside)
            self._pane_named(name).set_class(hidden, "-put-away")
        side, tools = self._widths(kept, columns)
        stack.styles.width = None if narrow else side
        self.tools_pane.styles.width = None if narrow else tools
        for name in panes.LOWERED:
            height = kept.heights.get(name)
            self._pane_named(name).styles.max_height = None if narrow or not height else height

    def _pane_named(self, name: str) -> Widget:
        named = {"task": self.task_pane, "todo": self.todo_pane, "cache": self.cache_pane,
                 "approvals": self.approvals_pane, "tools": self.tools_pane}  # fmt: skip
        return named[name]
