"""Text that is edited outside the composer: what is read in it is what it holds, and never too long to be typed in."""

from __future__ import annotations

from textual import events

from engine.text import visible
from tui.widgets.composer_area import Area

LONGEST = 50_000
"""Characters that can be edited without a key making anyone wait."""


class ShownArea(Area):
    """What a terminal would obey is put in as its picture. A paste that would make it too long is left out whole, and
    that is said."""

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(shown(text), id=id)

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.paste(event.text)

    def paste(self, text: str) -> None:
        """Put in what was pasted."""
        text = shown(text)
        if len(text) + len(self.text) > LONGEST:
            words = f"{len(text):,} characters are too many to be edited here: nothing was put in."
            self.app.notify(words, severity="warning", markup=False)
        else:
            self.put(text)


def shown(text: str) -> str:
    """``text`` as it stands in the area: every line end a newline."""
    return visible(text.replace("\r\n", "\n").replace("\r", "\n"))
