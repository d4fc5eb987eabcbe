"""The last line: the keys that do something now, from the table of actions. A click on one does the same."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual.widget import Widget

from tui.actions import Action, Situation, hints
from tui.look import Look


class KeysLine(Widget):
    # A word that can be clicked keeps the colour of its role.
    auto_links = False

    def __init__(self, look: Look, *, id: str = "keys") -> None:
        super().__init__(id=id)
        self.look = look
        self.situation = Situation()

    def know(self, situation: Situation) -> None:
        """Take the situation; drawn only when it differs."""
        if situation != self.situation:
            self.situation = situation
            self.refresh()

    def dress(self, look: Look) -> None:
        self.look = look
        self.refresh()

    def render(self) -> Text:
        return keys_line(hints(self.situation), self.size.width, self.look)


def keys_line(actions: list[Action], width: int, look: Look) -> Text:
    """As many hints as fit, in order; the last one (help, which lists all) always."""
    return fitted([hint(a.label, a.hint, a.click, look) for a in actions], width)


def fitted(parts: list[Text], width: int) -> Text:
    """As many of the parts as fit on a line, in order; the last one always."""
    room = width - 1
    kept: list[Text] = []
    for part in parts[:-1]:
        taken = sum(p.cell_len + 3 for p in kept) + part.cell_len + 3
        if taken + (parts[-1].cell_len if parts else 0) > room:
            continue
        kept.append(part)
    return Text.assemble(" ", Text("   ", no_wrap=True).join([*kept, *parts[-1:]]), no_wrap=True)


def hint(key: str, word: str, click: str, look: Look) -> Text:
    """A key and what it does; a click on it does the same."""
    meta = Style(meta={"@click": click}) if click else Style()
    return Text.assemble((key, look.roles.accent + meta), (f" {word}", look.roles.muted + meta))
