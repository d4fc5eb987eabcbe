"""A considered dialog into which a text is typed for a while: a reason, a rule, something edited."""

from __future__ import annotations

from textual.widget import Widget

from tui.dialogs.considered import Considered, Result
from tui.dialogs.entry import Entry


class TypedIn(Considered[Result]):
    """``panel``: what is typed into, or what holds it; None while the choices are there."""

    panel: Widget | None = None

    async def open_panel(self, panel: Widget, entry: Entry, before: Widget) -> None:
        """Put ``panel`` in front of a part of the dialog, and the cursor into ``entry``, which is in it or is it."""
        self.panel = panel
        self.say("")
        assert isinstance(before.parent, Widget)
        await before.parent.mount(panel, before=before)
        self.set_focus(entry)
        self.dress()

    def close_panel(self) -> None:
        """Back to the choices. The text goes once it is out of sight: one that is gone cannot be painted any more."""
        panel, self.panel = self.panel, None
        if panel is not None:
            self.set_focus(None)
            panel.display = False
            self.call_after_refresh(panel.remove)
            self.grace.shown()
        self.dress()
