"""Widgets that may be taken away while their screen is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.strip import Strip

if TYPE_CHECKING:
    from textual.geometry import Region
    from textual.widget import Widget

    Base = Widget
else:
    # Textual takes the styles of a widget's parts from its first base that is one itself.
    Base = object


class Removable(Base):
    """Mixed into a widget: it paints nothing once it was taken away.

    Textual forgets the styles of a widget's parts a moment before the screen forgets where the widget was: to paint it
    in between is an error that ends the app.
    """

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of ``crop``."""
        if self.parent is None:
            return [Strip.blank(crop.width)] * crop.height
        return super().render_lines(crop)
